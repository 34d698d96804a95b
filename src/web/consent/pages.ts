import type { Account } from '../../accounts/store.ts';
import { isOptional, type OptionalScope } from '../../claims/permissions.ts';
import type { Client } from '../../clients/store.ts';
import type { RememberedConsent } from '../../consent/rules/consent.ts';
import type { Membership } from '../../organizations/store.ts';
import { appHalf } from '../kit/app.ts';
import { fact, facts, hidden, isolate, type Problems, problemSummary } from '../kit/components.ts';
import { type Html, html } from '../kit/html.ts';
import type { Page, Site } from '../kit/layout.ts';
import { tile } from '../kit/mark.ts';
import type { Messages } from '../kit/messages.ts';
import { personHalf, profileFacts, type SharedValue, scopeValues } from '../kit/person.ts';

/** The name of the switch of a scope in the consent form. */
export const switchName = (scope: OptionalScope): string => `allow ${scope}`;

interface ConsentPage {
  readonly token: string;
  /** What the page shows, as a hidden field of its form. */
  readonly shown: string;
  readonly logoutToken: string;
  readonly handle: string;
  readonly client: Client;
  readonly host: string;
  readonly account: Account;
  readonly organization: Membership | undefined;
  readonly asked: readonly OptionalScope[];
  /** The resource servers that tokens are requested for. */
  readonly resourceServers: readonly { readonly name: string; readonly resource: string }[];
  /** What the person decided about this client before. */
  readonly remembered: RememberedConsent | null;
  /** The switches that are on. */
  readonly on: ReadonlySet<string>;
  readonly problems: Problems;
}

/** Whether the client has access already, and every scope asked about is new. */
function asksForMore({ asked, remembered }: ConsentPage): boolean {
  if (remembered === null || asked.length === 0) return false;
  return asked.every((scope) => !remembered.scopes.has(scope) && !remembered.declined.has(scope));
}

export function consentPage(site: Site, consent: ConsentPage): Page {
  const { messages, path } = site;
  const text = messages.consent;
  const { client, account, asked, host } = consent;
  const { profile } = account;
  const more = asksForMore(consent);
  const base = profileFacts(site, account);
  return {
    title: text.title(client.name),
    layout: 'narrow',
    theme: profile.theme,
    body: html`<section class="card">
<header class="asks">${tile({ kind: 'large', app: appHalf(site, client), person: personHalf(site, account) })}<div><h1><strong>${isolate(client.name)}</strong> ${more ? text.headingMore : text.heading}</h1>${client.owner !== null && html`<p class="muted small">${text.by(isolate(client.owner))}</p>`}</div></header>
${problemSummary(messages, consent.problems)}
<div class="who"><p><span class="muted">${text.signedInAs}</span> ${profile.username}</p>
<form method="post" action="${path('/logout')}">${hidden(consent.logoutToken, { request: consent.handle })}<button class="link" type="submit">${text.notYou}</button></form></div>
<form method="post" action="${path('/consent')}" class="decide">
${hidden(consent.token, { request: consent.handle, shown: consent.shown })}
${more ? html`<details><summary>${text.already}</summary><div class="passport">${base}${alreadyFacts(consent, messages)}</div></details>` : html`<section><h2>${text.always}</h2>${base}</section>`}
${
  asked.length > 0 &&
  html`<section><h2>${more ? text.chooseMore : text.choose}</h2><ul class="rows">${asked.map((scope) => switchRow(scope, consent, messages))}</ul></section>`
}
${consent.resourceServers.length > 0 && resourceServersSection(consent, text)}
<p class="small muted">${more && html`${text.denyMore} `}${text.howToEnd}</p>
<div class="pair"><button class="equal" type="submit" name="decision" value="deny">${text.deny}</button><button class="equal" type="submit" name="decision" value="allow">${text.allow}</button></div>
</form>
<p class="small muted">${text.returnsTo(isolate(host))}</p>
</section>`,
  };
}

/** RFC 8707: the resource servers that the tokens are for. */
const resourceServersSection = ({ resourceServers }: ConsentPage, text: Messages['consent']): Html =>
  html`<section><h2>${text.places}</h2>${facts(resourceServers.map(({ name, resource }) => fact(isolate(name), isolate(resource), true)))}<p class="muted small">${text.placesNote}</p></section>`;

/** The optional scopes that the client was granted before. */
function alreadyFacts({ account, organization, remembered }: ConsentPage, messages: Messages): Html | undefined {
  const scopes = [...(remembered?.scopes ?? [])].filter(isOptional);
  if (scopes.length === 0) return undefined;
  const values = (scope: OptionalScope) =>
    scopeValues(scope, account.profile, organization, messages).map((shared) => html`<p>${sharedText(shared)}</p>`);
  return facts(scopes.map((scope) => fact(messages.consent.scopes[scope].name, values(scope), true)));
}

const sharedText = ({ name, value }: SharedValue): Html => html`${name !== undefined && html`${name}: `}${value}`;

function switchRow(scope: OptionalScope, { account, organization, on }: ConsentPage, messages: Messages): Html {
  const id = `scope-${scope.replaceAll('.', '-')}`;
  const { name, note } = messages.consent.scopes[scope];
  const values = scopeValues(scope, account.profile, organization, messages);
  return html`<li><label for="${id}"><span class="name">${name}</span>${values.map((shared) => html`<span>${sharedText(shared)}</span>`)}${note !== '' && html`<span class="muted small">${note}</span>`}</label><input class="switch" type="checkbox" role="switch" id="${id}" name="${switchName(scope)}" value="on"${on.has(scope) && html` checked`}></li>`;
}
