import { accountNav } from '../consent/pages.ts';
import { hidden, moment, type Problems, passwordField, problemSummary } from '../pages/components.ts';
import { html } from '../pages/html.ts';
import type { Page, Site } from '../pages/layout.ts';
import type { Account } from './store.ts';

interface AccountPage {
  readonly account: Account;
  readonly token: string;
  readonly logoutToken: string;
  readonly problems: Problems;
  readonly done: string | undefined;
  readonly picture: string;
}

/** A person's own page: who they are here, their password, and the ways to sign out. */
export function accountPage(site: Site, { account, token, logoutToken, problems, done, picture }: AccountPage): Page {
  const { messages, path } = site;
  const text = messages.account;
  const { profile } = account;
  return {
    title: text.title,
    theme: profile.theme,
    aside: html`<form method="post" action="${path('/logout')}">${hidden(logoutToken)}<button class="link" type="submit">${text.signOut}</button></form>`,
    body: html`<div class="wide">${accountNav(site, 'account')}<div class="stack">
${done !== undefined && html`<div class="notice" role="status" tabindex="-1" data-takes-focus>${done}</div>`}
${problemSummary(messages, problems)}
<section class="card"><header class="app-head"><img class="tile" src="${path(picture)}" alt="" width="44" height="44"><div><h1>${profile.displayName}</h1><p class="muted small">${profile.username}</p></div></header>
<dl><dt>${messages.signUp.email}</dt><dd>${profile.email}</dd><dt>${text.memberSince}</dt><dd>${moment(account.createdAt)}</dd></dl></section>
<section class="card"><header><h2>${text.changePassword}</h2><p class="muted small">${account.passwordHash === null ? text.passwordNotSet : text.changePasswordLead}</p></header>
${
  account.passwordHash !== null &&
  html`<form method="post" action="${path('/account/password')}" novalidate>${hidden(token)}
<input type="text" name="username" value="${profile.username}" autocomplete="username" hidden>
${passwordField({ name: 'current', label: text.currentPassword, autocomplete: 'current-password', problems, messages })}
${passwordField({ name: 'password', label: text.newPassword, autocomplete: 'new-password', hint: messages.signUp.passwordHint, problems, messages })}
<div><button class="button" type="submit">${text.changePassword}</button></div></form>`
}</section>
<section class="card"><header><h2>${text.signOutEverywhere}</h2><p class="muted small">${text.signOutEverywhereLead}</p></header>
<form method="post" action="${path('/account/sign-out-everywhere')}">${hidden(token)}<div><button class="button danger" type="submit">${text.signOutEverywhere}</button></div></form></section>
</div></div>`,
  };
}
