import type { Account } from '../accounts/store.ts';
import { generalProblem, isolate } from './components.ts';
import { type Html, html } from './html.ts';
import type { Page, Site } from './layout.ts';

/** Why a form was not used: to whom it was shown, compared with who is signed in. */
export type FormMismatch = 'other account' | 'earlier session' | 'expired';

type ShownAccount = Pick<Account, 'profile'>;

/** What is said of a form that was not used: who is signed in, and that nothing was changed. */
export const mismatchText = ({ messages }: Site, { profile }: ShownAccount, mismatch: FormMismatch): Html =>
  html`${messages.unusedForm.texts[mismatch](isolate(profile.displayName), isolate(profile.username))}`;

/**
 * The answer to a form that was not used. It has nothing of the form: that may be another person's.
 * @param next where there is a fresh page
 * @param isKept whether that page has what the person typed
 */
export function unusedFormPage(
  site: Site,
  account: ShownAccount,
  mismatch: FormMismatch,
  next: string,
  isKept = false,
): Page {
  const { messages, path } = site;
  const { title, again } = messages.unusedForm;
  const text = mismatchText(site, account, mismatch);
  return {
    title,
    layout: 'narrow',
    problems: generalProblem(text),
    theme: account.profile.theme,
    body: html`<section class="card"><header><h1>${title}</h1></header>
<p role="alert">${text}</p>
${isKept && html`<p>${messages.unusedForm.kept}</p>`}
<p><a class="button primary" href="${path(next)}">${again}</a></p></section>`,
  };
}
