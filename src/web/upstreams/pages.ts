import {
  fact,
  facts,
  field,
  helpLine,
  hidden,
  isolate,
  operator,
  type Problems,
  problemSummary,
  withoutField,
} from '../../pages/components.ts';
import { html } from '../../pages/html.ts';
import type { Page, Site } from '../../pages/layout.ts';
import { readableEmail } from '../../platform/domain-name.ts';
import { requestFields } from '../authorize/request-fields.ts';
import { type RequestingApp, requestQuery } from '../sign-in/pages.ts';
import { OTHER_WAY } from '../sign-in/sign-in.ts';
import { upstreamTexts as text } from './messages.ts';

interface NoAccountPage {
  /** The name of the upstream, in its address and for people. */
  readonly name: string;
  readonly displayName: string;
  /** What the upstream calls the person. */
  readonly label: string | null;
  readonly app: RequestingApp | undefined;
  readonly token: string;
  /** Whether the person may create an account. */
  readonly offersSignUp: boolean;
  /** Whether the account would need a proof of its address that the person cannot give. */
  readonly lacksProof: boolean;
  /** The address of the account here that is to be connected; undefined where there is none, or nothing is said of it. */
  readonly connectAs: string | undefined;
  /** The address of a new account, where it cannot be chosen. */
  readonly fixedEmail: string | undefined;
  readonly problems: Problems;
  readonly values: { readonly displayName: string; readonly username: string; readonly email: string };
}

/**
 * The page for a person whom an upstream vouches for, and who is not known here. It says that an address has an account only to the person to
 * whom it belongs, by the word of an upstream that is authoritative for it.
 */
export function noAccountPage(site: Site, page: NoAccountPage): Page {
  const { messages, path } = site;
  const { signUp } = messages;
  const { name, displayName, label, app, token, connectAs, fixedEmail, lacksProof, values } = page;
  const problems = fixedEmail === undefined ? page.problems : withoutField(page.problems, 'email');
  const offersSignUp = page.offersSignUp && !lacksProof;
  const closed = page.offersSignUp ? text.unproved : text.closed;
  const upstream = isolate(displayName);
  const form = html`<section class="card"><header><h2>${text.create}</h2><p class="muted small">${text.createLead(upstream)}</p></header>
<form method="post" action="${path(`/login/with/${name}/new`)}" novalidate>
${hidden(token, requestFields(app))}
${field({ name: 'displayName', label: signUp.displayName, type: 'text', autocomplete: 'name', capitals: 'words', value: values.displayName, hint: signUp.displayNameHint, problems })}
${field({ name: 'username', label: signUp.username, type: 'text', autocomplete: 'username', value: values.username, hint: signUp.usernameHint, problems })}
${fixedEmail === undefined ? field({ name: 'email', label: signUp.email, type: 'email', autocomplete: 'email', value: values.email, problems }) : facts([fact(signUp.email, isolate(readableEmail(fixedEmail)), true)])}
<button class="primary" type="submit">${text.submit}</button>
</form></section>`;
  const ownAccount = html`<p>${text.notConnected(upstream)}</p>
<h2>${text.haveAccount}</h2>
<p>${text.connectFirst(upstream)}</p>
<a class="button" href="${path(`/login${app === undefined ? '' : `${requestQuery(app)}&${OTHER_WAY}=1`}`)}">${text.signIn}</a>`;
  const connect = (
    address: string,
  ) => html`<p>${text.hasAccount(html`<strong>${isolate(readableEmail(address))}</strong>`, upstream)}</p>
<a class="button primary" href="${path(`/account/security/connect/${name}/confirm`)}">${text.signInAndConnect}</a>
<p>${text.cannotSignIn} <a href="${path('/recover')}">${messages.recovery.forgot}</a></p>`;
  return {
    title: text.title(displayName),
    layout: 'narrow',
    problems,
    body: html`<section class="card">
<header><h1>${text.heading(upstream)}</h1></header>
${problemSummary(messages, problems)}
${label !== null && html`<p>${text.known(upstream, html`<strong>${isolate(label)}</strong>`)}</p>`}
${connectAs === undefined ? ownAccount : connect(connectAs)}
</section>
${offersSignUp && form}${!offersSignUp && connectAs === undefined && html`<p class="foot">${closed(upstream, operator(site))}</p>`}
${helpLine(site)}`,
  };
}
