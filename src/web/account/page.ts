import { LARGEST_PICTURE, PICTURE_TYPES } from '../../pictures/pictures.ts';
import type { RevocationSummary } from '../../verdict/rules.ts';
import {
  doneNotice,
  fact,
  facts,
  fileField,
  hidden,
  moment,
  type Problems,
  passwordField,
  problemSummary,
  revocationText,
} from '../kit/components.ts';
import { type HtmlPart, html } from '../kit/html.ts';
import type { Page, Site } from '../kit/layout.ts';
import { profileFacts, scopeValues, valueText } from '../kit/person.ts';
import { type AccountFrame, accountLayout } from './layout.ts';

interface AccountPage extends AccountFrame {
  readonly problems: Problems;
  readonly done: HtmlPart | undefined;
}

/** The main page of an account: profile, picture, password, and signing out everywhere. */
export function accountPage(site: Site, page: AccountPage): Page {
  const { messages, path } = site;
  const { account, token, problems, done } = page;
  const text = messages.account;
  const { picture } = messages;
  const { profile } = account;
  const factsOf = (scope: 'details' | 'phone' | 'social', name: string) =>
    scopeValues(scope, profile, undefined, messages).map((shared) =>
      fact(shared.name ?? name, valueText(shared, messages)),
    );
  const layout = accountLayout(
    site,
    page,
    'account',
    text.title,
    html`<header><h1>${text.title}</h1></header>
${done !== undefined && doneNotice(html`<p>${done}</p>`)}
${problemSummary(messages, problems)}
<section class="card"><header class="with-link"><h2>${text.profile}</h2><a href="${path('/account/profile')}">${text.editProfile}</a></header>${profileFacts(site, account)}
<hr>
${facts([
  factsOf('phone', messages.person.phone),
  factsOf('details', ''),
  factsOf('social', messages.person.social),
])}</section>
<section class="card"><header><h2>${picture.title}</h2><p class="muted small">${picture.lead}</p></header>
<form method="post" action="${path('/account/picture')}" enctype="multipart/form-data" novalidate>${hidden(token)}
${fileField({ name: 'picture', label: picture.file, hint: html`${picture.hint} <span class="scripted">${picture.hintSmaller}</span> ${picture.hintKept}`, accept: PICTURE_TYPES, largest: LARGEST_PICTURE, problems })}
<div class="actions"><button class="primary" type="submit">${picture.submit}</button>${profile.picture !== null && html`<button class="danger" type="submit" name="action" value="remove">${picture.remove}</button>`}</div></form></section>
<section class="card"><header><h2>${text.password}</h2><p class="muted small">${account.passwordHash === null ? text.passwordNotSet : text.changePasswordLead}</p></header>
${
  account.passwordHash !== null &&
  html`<form method="post" action="${path('/account/password')}" novalidate>${hidden(token)}
<input type="text" name="username" value="${profile.username}" autocomplete="username" hidden>
${passwordField({ name: 'current', label: text.currentPassword, autocomplete: 'current-password', problems, messages })}
${passwordField({ name: 'password', label: text.newPassword, autocomplete: 'new-password', hint: messages.signUp.passwordHint, problems, messages, strengthFor: { displayName: profile.displayName, email: profile.email } })}
<div><button class="primary" type="submit">${text.changePassword}</button></div></form>`
}</section>
<section class="card" id="sign-out-everywhere"><header><h2>${text.signOutEverywhere}</h2><p class="muted small">${text.signOutEverywhereLead}</p></header>
<form method="post" action="${path('/account/sign-out-everywhere')}">${hidden(token)}<div><button class="danger" type="submit">${text.signOutEverywhere}</button></div></form></section>`,
  );
  return { ...layout, scripts: ['strength'] };
}

/** What signing out everywhere ended, shown to a browser that is no longer signed in. */
export function everywherePage(
  { messages, path }: Site,
  { at, ...summary }: RevocationSummary & { readonly at: number },
): Page {
  const text = messages.account;
  return {
    title: text.everywhereDone,
    layout: 'narrow',
    body: html`<section class="card"><header><h1>${text.everywhereDone}</h1><p>${text.everywhereDoneText(moment(at))}</p></header>
<p>${revocationText(summary, messages)}</p>
<p><a href="${path('/login')}">${messages.signOut.signInAgain}</a></p></section>`,
  };
}
