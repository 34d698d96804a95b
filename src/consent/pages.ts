import type { Profile } from '../accounts/rules/profile.ts';
import type { Account } from '../accounts/store.ts';
import type { Client } from '../clients/store.ts';
import type { Role } from '../organizations/store.ts';
import { formatMoment, hidden, moment, type Problems, problemSummary } from '../pages/components.ts';
import { type Html, html } from '../pages/html.ts';
import type { Page, Site } from '../pages/layout.ts';
import type { Messages } from '../pages/messages.ts';
import { isOptional, type OptionalScope } from '../scopes/scopes.ts';
import { initials } from '../userinfo/rules/avatar.ts';
import type { Connection } from './store.ts';

/** The name of the switch of a scope in the consent form. */
export const switchName = (scope: OptionalScope): string => `allow ${scope}`;

interface Consent {
  readonly token: string;
  readonly logoutToken: string;
  readonly handle: string;
  readonly client: Client;
  readonly host: string;
  readonly account: Account;
  readonly organization: { readonly name: string; readonly role: Role | null } | undefined;
  readonly asked: readonly OptionalScope[];
  /** The switches that are on. */
  readonly on: ReadonlySet<string>;
  readonly problems: Problems;
}

export function consentPage(site: Site, consent: Consent): Page {
  const { messages, path } = site;
  const text = messages.consent;
  const { client, account, asked, host } = consent;
  const { profile } = account;
  return {
    title: text.title(client.name),
    theme: profile.theme,
    body: html`<div class="narrow"><section class="card">
<div class="halves" aria-hidden="true"><span class="half app">${initials(client.name)}</span><span class="half person">${initials(profile.displayName)}</span></div>
<header><h1><strong>${client.name}</strong> ${text.heading}</h1>${client.owner !== null && html`<p class="muted small">${text.by(client.owner)}</p>`}</header>
${problemSummary(messages, consent.problems)}
<div class="who small"><span>${text.signedInAs} <strong>${profile.username}</strong></span>
<form method="post" action="${path('/logout')}">${hidden(consent.logoutToken, { request: consent.handle })}<button class="link" type="submit">${text.notYou}</button></form></div>
<form method="post" action="${path('/consent')}">
${hidden(consent.token, { request: consent.handle })}
<div><h2>${text.always}</h2><ul class="rows">
${row(text.nameAndUsername, `${profile.displayName}, ${profile.username}`)}
${row(text.emailAddress, profile.email)}
${row(text.picture, text.pictureValue)}
${row(text.profileBasics, [profile.about, profile.language, profile.theme ?? ''].filter((part) => part !== '').join(', '))}
</ul></div>
${
  asked.length > 0 &&
  html`<div><h2>${text.choose}</h2><ul class="rows">${asked.map((scope) => switchRow(scope, consent, messages))}</ul></div>`
}
<p class="small muted">${text.howToEnd}</p>
<div class="pair"><button class="button quiet" type="submit" name="decision" value="deny">${text.deny}</button><button class="button" type="submit" name="decision" value="allow">${text.allow}</button></div>
</form>
<p class="small muted">${text.returnsTo(host)}</p>
</section></div>`,
  };
}

const row = (name: string, value: string): Html =>
  html`<li><span>${name}<br><span class="value">${value}</span></span></li>`;

function switchRow(scope: OptionalScope, { account, organization, on }: Consent, messages: Messages): Html {
  const text = messages.consent;
  const id = `scope-${scope.replaceAll('.', '-')}`;
  const { name, about } = text.scopes[scope];
  const value = sharedValue(scope, account.profile, organization, messages) || about;
  return html`<li><label for="${id}">${name}<span class="value">${value}</span></label><input class="switch" type="checkbox" role="switch" id="${id}" name="${switchName(scope)}" value="on"${on.has(scope) && html` checked`}></li>`;
}

/** The very value that a scope would share. */
function sharedValue(
  scope: OptionalScope,
  profile: Profile,
  organization: Consent['organization'],
  { consent: text }: Messages,
): string {
  switch (scope) {
    case 'email':
      return '';
    case 'details':
      return (
        [profile.website, profile.location, profile.birthDate].filter((value) => value !== null).join(', ') ||
        text.noneSet
      );
    case 'phone':
      return profile.phone ?? text.notSet;
    case 'social':
      return profile.socialLinks.map(({ label }) => label).join(', ') || text.noneSet;
    case 'organization.read':
      return organization === undefined
        ? text.noneSet
        : [organization.name, organization.role].filter((part) => part !== null).join(', ');
  }
}

interface Connections {
  readonly account: Account;
  readonly token: string;
  readonly connections: readonly Connection[];
  readonly revoked: { readonly app: string; readonly at: number } | undefined;
  readonly problems: Problems;
}

export function connectionsPage(site: Site, { account, token, connections, revoked, problems }: Connections): Page {
  const { messages } = site;
  const text = messages.connections;
  return {
    title: text.title,
    theme: account.profile.theme,
    body: html`<div class="wide">${accountNav(site, 'connections')}<div class="stack">
${revoked !== undefined && html`<div class="notice" role="status" tabindex="-1" data-takes-focus>${text.revoked(revoked.app, formatMoment(revoked.at))}</div>`}
${problemSummary(messages, problems)}
<section class="card"><header><h1>${text.title}</h1><p class="muted">${connections.length === 0 ? text.none : text.lead}</p></header>
${connections.length > 0 && html`<div>${connections.map((connection) => appRow(site, connection, token))}</div>`}
</section></div></div>`,
  };
}

function appRow({ messages, path }: Site, connection: Connection, token: string): Html {
  const text = messages.connections;
  const sees = [text.basics, ...connection.scopes.filter(isOptional).map((scope) => messages.scopeNames[scope])];
  return html`<article class="app-row" aria-label="${connection.name}"><div class="app-head"><span class="tile" aria-hidden="true">${initials(connection.name)}</span><div><h2>${connection.name}</h2><p class="small muted">${connection.host}</p></div></div>
<dl class="small"><dt>${text.sees}</dt><dd>${sees.join(', ')}</dd><dt>${text.since}</dt><dd>${moment(connection.connectedAt)}</dd><dt>${text.lastUsed}</dt><dd>${connection.lastUsedAt === null ? text.never : moment(connection.lastUsedAt)}</dd></dl>
<form method="post" action="${path('/account/connections')}">${hidden(token, { client_id: connection.clientId })}<button class="button danger" type="submit" aria-label="${text.revokeOf(connection.name)}">${text.revoke}</button></form></article>`;
}

/** The way between the pages of the account. */
export function accountNav({ messages, path }: Site, current: 'account' | 'connections'): Html {
  const link = (name: typeof current, address: string, label: string) =>
    html`<a href="${path(address)}"${name === current && html` aria-current="page"`}>${label}</a>`;
  return html`<nav class="side" aria-label="${messages.account.title}">${link('account', '/account', messages.account.nav)}${link('connections', '/account/connections', messages.connections.title)}</nav>`;
}
