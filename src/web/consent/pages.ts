import type { Account } from '../../accounts/store.ts';
import { isOptional, type MemberScope, type OptionalScope, type SwitchedScope } from '../../claims/permissions.ts';
import type { MemberClaims } from '../../claims/rules/member-claims.ts';
import type { DescribedScope } from '../../clients/resources.ts';
import { isUnregistered, ownerShown } from '../../clients/rules/unregistered.ts';
import type { Client } from '../../clients/store.ts';
import type { RememberedConsent } from '../../consent/rules/consent.ts';
import type { Membership } from '../../organizations/store.ts';
import { appHalf } from '../../pages/app.ts';
import { fact, facts, hidden, isolate, moment, type Problems, problemSummary } from '../../pages/components.ts';
import { type Html, type HtmlPart, html } from '../../pages/html.ts';
import type { Page, Site } from '../../pages/layout.ts';
import { joinList } from '../../pages/lists.ts';
import { tile } from '../../pages/mark.ts';
import type { Messages } from '../../pages/messages.ts';
import {
  identityFacts,
  personHalf,
  profileFacts,
  type SharedValue,
  scopeValues,
  valueText,
} from '../../pages/person.ts';
import { enumerated } from '../../platform/date-text.ts';
import { readableDomain } from '../../platform/domain-name.ts';
import { requestFields } from '../authorize/request-fields.ts';

/** The name of the switch of a scope in the consent form. */
export const switchName = (scope: SwitchedScope): string => `allow ${scope}`;

export interface ConsentPage {
  readonly token: string;
  /** What the page shows, as a hidden field of its form. */
  readonly shown: string;
  readonly logoutToken: string;
  readonly handle: string;
  readonly client: Client;
  /** Where the person goes on then: the host of the redirect URI, or their device. */
  readonly place: string;
  /** Whether any local program could take the response: it goes to a loopback address or a private-use scheme. */
  readonly isClaimable: boolean;
  /** The device that asks; undefined where the response goes to an address of the app. */
  readonly device: { readonly network: string | null; readonly askedAt: number; readonly isHere: boolean } | undefined;
  readonly account: Account;
  readonly organization: Membership | undefined;
  /** The groups and roles of the person in the app. */
  readonly member: MemberClaims;
  /** The requested scopes of these that have no switch, because the app is open to assigned people only. */
  readonly fixedMember: readonly MemberScope[];
  readonly asked: readonly SwitchedScope[];
  /** The scopes about the person that have a switch, asked about now or before. */
  readonly optionalScopes: readonly OptionalScope[];
  /** Whether every app gets name, username, picture and email address, and not the account's id alone. */
  readonly sharesIdentity: boolean;
  /** What the app gets in any case here, though the person switched it off for the app elsewhere. */
  readonly sharedDespiteDecline: readonly OptionalScope[];
  /** Whether the access outlives the browser session. */
  readonly staysConnected: boolean;
  /** The scopes of APIs that the client may request. */
  readonly apiScopes: readonly DescribedScope[];
  /** The roles as an operator that the app may use; undefined for every app but the command line. */
  readonly handsOver: readonly HandedRole[] | undefined;
  /** The resource servers that tokens are requested for. */
  readonly resourceServers: readonly { readonly name: string; readonly resource: string }[];
  /** What the person decided about this client before. */
  readonly remembered: RememberedConsent | null;
  /** The scopes that are allowed unless the person switches them off. */
  readonly on: ReadonlySet<string>;
  readonly problems: Problems;
}

/** A role that is handed over. */
export interface HandedRole {
  readonly role: string;
  /** The name of the organization in which it counts; null for the installation. */
  readonly organization: string | null;
  readonly expiresAt: number | null;
}

/** Whether the client has access already, and every scope asked about is new. */
function asksForMore({ asked, remembered }: ConsentPage): boolean {
  if (remembered === null || asked.length === 0) return false;
  return asked.every((scope) => !remembered.scopes.has(scope) && !remembered.declined.has(scope));
}

export function consentPage(site: Site, consent: ConsentPage): Page {
  const { messages, path } = site;
  const text = messages.consent;
  const { client, account, place } = consent;
  const { profile } = account;
  const owner = ownerShown(client);
  const more = asksForMore(consent);
  return {
    title: text.title(client.name),
    layout: 'narrow',
    problems: consent.problems,
    theme: profile.theme,
    body: html`<section class="card consent">
<header class="asks">${tile({ kind: 'large', app: appHalf(site, client), person: personHalf(site, account) })}<div><h1><strong>${isolate(client.name)}</strong> ${more ? text.headingMore : text.heading}</h1><p class="muted small">${owner !== null && html`${text.by(isolate(owner))} · `}${text.returnsTo(isolate(place))}</p></div></header>
${problemSummary(messages, consent.problems)}
${consent.device && deviceNotice(consent.device, messages)}
${isUnregistered(client) && unregisteredNotice(consent, text)}
<div class="who"><p><span class="muted">${text.signedInAs}</span> ${profile.username}</p>
<form method="post" action="${path('/logout')}">${hidden(consent.logoutToken, { request: consent.handle })}<button class="link" type="submit">${text.notYou}</button></form></div>
<form method="post" action="${path('/consent')}" class="decide">
${hidden(consent.token, { ...requestFields(consent), shown: consent.shown })}
<p class="small muted promise">${text.howToEnd}</p>
${sharedSection(site, consent, more)}
${consent.sharedDespiteDecline.length > 0 && html`<p class="small">${text.sharedDespiteDecline(consent.sharedDespiteDecline.map((scope) => nameOf(scope, { ...consent, sharesIdentity: false }, messages)))}</p>`}
${choices(consent, messages, more)}
${consent.fixedMember.length > 0 && memberSection(consent, messages)}
${consent.resourceServers.length > 0 && resourceServersSection(consent, text)}
${consent.handsOver && handedRoles(consent.handsOver, messages)}
${consent.staysConnected && html`<p class="small">${text.staysConnected}</p>`}
${more && html`<p class="small muted">${text.denyMore}</p>`}
${appLinks(client, text)}
<div class="pair decision"><button class="equal" type="submit" name="decision" value="deny">${text.deny}</button><button class="equal" type="submit" name="decision" value="allow">${text.allow}</button></div>
</form>
</section>`,
  };
}

/** What the app says of itself, in windows of their own: the request waits here. */
function appLinks({ homepageUrl, policyUrl, termsUrl }: Client, text: Messages['consent']): Html | undefined {
  const links = Object.entries({ [text.homepage]: homepageUrl, [text.policy]: policyUrl, [text.terms]: termsUrl });
  const shown = links.flatMap(([name, url]) =>
    url === null ? [] : [html`<a href="${url}" target="_blank" rel="noopener noreferrer">${name}</a>`],
  );
  if (shown.length === 0) return undefined;
  return html`<p class="small">${text.ofTheApp} ${shown.map((link, index) => html`${index > 0 && ' · '}${link}`)}</p>`;
}

/** RFC 8628 §5.4: what tells a person that somebody else's device asks. */
function deviceNotice(
  { network, askedAt, isHere }: NonNullable<ConsentPage['device']>,
  { device: text }: Messages,
): Html {
  const place = network === null ? text.unknownNetwork : isHere ? text.sameNetwork : text.otherNetwork(network);
  return html`<div class="notice"><p><strong>${text.asks}</strong> ${text.asksText}</p><p class="small">${text.asked(moment(askedAt), place)}</p></div>`;
}

/** Decisions §15: what is certain of an app that no operator has registered, and what is only its own word. */
function unregisteredNotice(
  { client, place, isClaimable }: ConsentPage,
  { unregistered: text }: Messages['consent'],
): Html {
  const domain = client.metadataHost === null ? undefined : isolate(readableDomain(client.metadataHost));
  return html`<div class="notice"><p><strong>${titleOf(client, text)}</strong> ${text.text}</p>${facts([
    ...(domain === undefined ? [] : [fact(text.domain, domain, true)]),
    fact(text.place, isolate(place), true),
  ])}${isClaimable && html`<p><strong>${text.local}</strong></p>`}</div>`;
}

function titleOf({ registeredBy }: Client, text: Messages['consent']['unregistered']): string {
  if (registeredBy === 'developer') return text.titleDeveloper;
  return registeredBy === 'open' ? text.titleSelf : text.title;
}

/** What the app gets in any case, or has already: one line, with the values behind it. */
function sharedSection(site: Site, consent: ConsentPage, more: boolean): Html {
  const { account, sharesIdentity } = consent;
  const { consent: text, person } = site.messages;
  if (!sharesIdentity && !more) {
    return html`<p class="shared"><span class="name">${text.always}</span> ${person.id} <span class="figures">${account.id}</span></p>`;
  }
  const base = sharesIdentity
    ? profileFacts(site, account)
    : facts([fact(person.id, html`<span class="figures">${account.id}</span>`, true)]);
  const always = sharesIdentity ? text.identity(identityFacts(site, account).length) : person.id;
  const granted = more
    ? [
        ...alreadyGranted(consent).map((scope) => (scope === 'email' ? text.address : site.messages.scopeNames[scope])),
        ...new Set(grantedAtApis(consent).map(({ apiName }) => isolate(apiName))),
      ]
    : [];
  const values = more ? [base, alreadyFacts(consent, site.messages)] : base;
  return html`<details class="shared"><summary><span><span class="name">${more ? text.already : text.always}</span> ${joinList([always, ...granted], site.messages, 'enumeration')}</span></summary><div class="passport">${values}</div></details>`;
}

/** Decisions §12: what the person is in an app that is open to assigned people only. */
const memberSection = (consent: ConsentPage, messages: Messages): Html =>
  html`<section>${facts(
    consent.fixedMember.map((scope) =>
      fact(
        messages.consent.scopes[scope],
        valuesOf(scope, consent, messages).map((shared) => valueText(shared, messages)),
        true,
      ),
    ),
  )}<p class="muted small">${messages.consent.memberNote}</p></section>`;

/** Decisions §15: what a program may do that acts as an operator. */
function handedRoles(roles: readonly HandedRole[], { consent: text }: Messages): Html {
  if (roles.length === 0) return html`<section><h2>${text.handsOver}</h2><p>${text.handsOverNothing}</p></section>`;
  const rows = roles.map(({ role, organization, expiresAt }) => {
    const where = organization === null ? text.everywhere : text.inOrganization(isolate(organization));
    return html`<li><span class="name">${role}</span> <span class="muted">${where}${expiresAt !== null && html`, ${text.until(moment(expiresAt))}`}</span></li>`;
  });
  return html`<section><h2>${text.handsOver}</h2><ul class="rows">${rows}</ul><p class="muted small">${text.handsOverNote}</p></section>`;
}

/** RFC 8707: the resource servers that the tokens are for. */
const resourceServersSection = (consent: ConsentPage, text: Messages['consent']): Html =>
  html`<section><h2>${text.places}</h2>${consent.resourceServers.map((server) => resourceServer(server, consent))}<p class="muted small">${text.placesNote}</p></section>`;

/** A resource server, with a switch for each of its scopes that is asked about. */
function resourceServer({ name, resource }: ConsentPage['resourceServers'][number], consent: ConsentPage): Html {
  const asked = consent.apiScopes.filter((scope) => scope.resource === resource && consent.asked.includes(scope.id));
  return html`${facts([fact(isolate(name), isolate(resource), true)])}${asked.length > 0 && html`<ul class="rows">${asked.map((scope) => apiScopeRow(scope, consent))}</ul>`}`;
}

const apiScopeRow = ({ id, name, text }: DescribedScope, { on }: ConsentPage): Html =>
  html`<li><label for="scope-${id}"><span class="name">${isolate(text)}</span><span class="muted">${name}</span></label><input class="switch" type="checkbox" role="switch" id="scope-${id}" name="${switchName(id)}" value="on"${on.has(id) && html` checked`}></li>`;

const valuesOf = (
  scope: OptionalScope,
  { account, organization, member }: ConsentPage,
  messages: Messages,
): readonly SharedValue[] => scopeValues(scope, account.profile, organization, member, messages);

/** Whether the address is among what is always shared, so that it is not repeated. */
const isShownAlready = (scope: OptionalScope, { sharesIdentity }: ConsentPage): boolean =>
  scope === 'email' && sharesIdentity;

/** The optional scopes that the client was granted before, except what is always shared. */
const alreadyGranted = (consent: ConsentPage): readonly OptionalScope[] =>
  consent.optionalScopes.filter((scope) => consent.remembered?.scopes.has(scope) && !isShownAlready(scope, consent));

/** The scopes of APIs that the client was granted before. */
const grantedAtApis = ({ apiScopes, remembered }: ConsentPage): readonly DescribedScope[] =>
  apiScopes.filter(({ id }) => remembered?.scopes.has(id));

function alreadyFacts(consent: ConsentPage, messages: Messages): Html | undefined {
  const scopes = alreadyGranted(consent);
  const atApis = grantedAtApis(consent);
  if (scopes.length + atApis.length === 0) return undefined;
  const shown = (scope: OptionalScope): HtmlPart =>
    valuesOf(scope, consent, messages).map(
      (shared) => html`<p>${shared.name !== undefined && html`${shared.name}: `}${valueText(shared, messages)}</p>`,
    );
  return facts([
    ...scopes.map((scope) => fact(nameOf(scope, consent, messages), shown(scope), true)),
    ...atApis.map(({ apiName, text }) => fact(isolate(apiName), isolate(text), true)),
  ]);
}

/**
 * A switch for each scope that has a value. A scope without one is part of the decision as it stands, with a hidden checkbox: it is
 * allowed, unless the person declined it before.
 */
function choices(consent: ConsentPage, messages: Messages, more: boolean): HtmlPart {
  const { consent: text, scopeNames } = messages;
  const { on } = consent;
  const asked = consent.asked.filter(isOptional);
  const set = asked.filter((scope) => valuesOf(scope, consent, messages).some(({ value }) => value !== undefined));
  const unset = asked.filter((scope) => !set.includes(scope));
  const line = (says: (names: string) => string, scopes: readonly OptionalScope[]) =>
    scopes.length > 0 &&
    html`<p class="small muted">${says(
      enumerated(
        scopes.map((scope) => scopeNames[scope]),
        messages.language,
      ),
    )}${scopes.map((scope) => html`<input type="checkbox" hidden name="${switchName(scope)}" value="on"${on.has(scope) && html` checked`}>`)}</p>`;
  return [
    set.length > 0 &&
      html`<section><h2>${more ? text.chooseMore : text.choose}</h2><ul class="rows">${set.map((scope) => switchRow(scope, consent, messages))}</ul></section>`,
    line(
      text.unset,
      unset.filter((scope) => on.has(scope)),
    ),
    line(
      text.unsetDeclined,
      unset.filter((scope) => !on.has(scope)),
    ),
  ];
}

/** What a scope is called: where the address is always shared, `email` adds whether it is verified. */
const nameOf = (scope: OptionalScope, consent: ConsentPage, { consent: text }: Messages): string =>
  scope === 'email' && !isShownAlready(scope, consent) ? text.emailAddress : text.scopes[scope];

function switchRow(scope: OptionalScope, consent: ConsentPage, messages: Messages): Html {
  const id = `scope-${scope.replaceAll('.', '-')}`;
  const { emailVerified } = consent.account.profile;
  const values = isShownAlready(scope, consent)
    ? messages.consent.emailStatus(emailVerified)
    : valuesOf(scope, consent, messages).map(({ value }) => value && html`<span class="value">${value}</span> `);
  return html`<li><label for="${id}"><span class="name">${nameOf(scope, consent, messages)}</span><span>${values}</span></label><input class="switch" type="checkbox" role="switch" id="${id}" name="${switchName(scope)}" value="on"${consent.on.has(scope) && html` checked`}></li>`;
}
