import { commandBlock, hidden, type Problems, problemSummary } from '../../pages/components.ts';
import { type Html, html } from '../../pages/html.ts';
import type { Page, Site } from '../../pages/layout.ts';
import { accountFields, type SignUpValues } from '../sign-in/pages.ts';
import { setupMessages as text } from './messages.ts';

interface SetupForm {
  readonly token: string;
  readonly link: string;
  readonly values: SignUpValues;
  readonly problems: Problems;
}

const page = (title: string, body: Html, more: Partial<Page> = {}): Page => ({
  title,
  layout: 'narrow',
  body: html`<section class="card"><header><h1>${title}</h1></header>${body}</section>`,
  ...more,
});

export function setupPage(site: Site, { token, link, values, problems }: SetupForm): Page {
  const form = html`<p>${text.lead}</p>
${problemSummary(site.messages, problems)}
<form method="post" action="${site.path('/setup')}" novalidate>
${hidden(token, { link })}
${accountFields(site, values, problems)}
<button class="primary" type="submit">${text.submit}</button>
</form>`;
  return page(text.title, form, { problems, scripts: ['strength'] });
}

export const deadLinkPage = ({ messages }: Site): Page =>
  page(
    text.deadTitle,
    html`<p>${text.dead}</p>${commandBlock('tessera setup-link', messages.error, text.copyCommand)}`,
  );

export const ownedPage = ({ path }: Site): Page =>
  page(
    text.ownedTitle,
    html`<p>${text.owned}</p><p><a class="button primary" href="${path('/login')}">${text.ownedNext}</a></p>`,
  );

export const farPage = (): Page => page(text.farTitle, html`<p>${text.far}</p>`);

interface DoneContent {
  readonly username: string;
  readonly playground: boolean;
}

/** After the setup: what holds now, and what to do next. */
export function setupDonePage({ path }: Site, { username, playground }: DoneContent): Page {
  const step = (name: string, note: string, address: string): Html =>
    html`<li><a href="${path(address)}">${name}</a><p class="muted small">${note}</p></li>`;
  return page(
    text.doneTitle,
    html`<p>${text.done(username)}</p><h2>${text.next}</h2><ul class="ways">${[
      step(text.factor, text.factorNote, '/account/security'),
      step(text.operate, text.operateNote, '/console'),
      playground && step(text.app, text.appNote, '/playground'),
      step(text.register, text.registerNote, '/console/apps/new'),
      step(text.invite, text.inviteNote, '/console/invitations/new'),
    ]}</ul>`,
  );
}
