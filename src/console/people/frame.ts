import type { Account } from '../../accounts/store.ts';
import type { Permission } from '../../operators/permissions.ts';
import { holds, INSTALLATION } from '../../operators/rights.ts';
import { isolate } from '../../pages/components.ts';
import { type Html, html } from '../../pages/html.ts';
import type { Page, Site } from '../../pages/layout.ts';
import { accountStatus } from '../../verdict/rules.ts';
import { consolePage } from '../layout.ts';
import type { ConsoleVisit } from '../visit.ts';

/** The pages about a person, each with the permission without which it is not shown. */
const TABS = {
  facts: { path: '', permission: 'users.read' },
  sessions: { path: '/sessions', permission: 'users.read' },
  apps: { path: '/apps', permission: 'users.read' },
  memberships: { path: '/memberships', permission: 'groups.read' },
} as const satisfies Readonly<Record<string, { readonly path: string; readonly permission: Permission }>>;
export type PersonTab = keyof typeof TABS;

export const personAddress = (id: string, tab: PersonTab = 'facts'): string => `/console/people/${id}${TABS[tab].path}`;

/** Where the removal of a provider that a person connected is confirmed. */
export const REMOVE_IDENTITY = '/console/people/remove-identity';

export const removeIdentityAddress = (accountId: string, identityId: string): string =>
  `${REMOVE_IDENTITY}?${new URLSearchParams({ id: accountId, identity: identityId })}`;

/** A page about a person: the name, the pages about them, and what one of these shows. */
export function personPage(
  site: Site,
  visit: ConsoleVisit,
  account: Pick<Account, 'id' | 'profile' | 'bannedAt' | 'bannedUntil' | 'suspendedAt'>,
  current: PersonTab,
  content: Html,
  now: number,
): Page {
  const { path, messages } = site;
  const text = messages.operators;
  const { displayName, username } = account.profile;
  const status = accountStatus(account, now);
  const tabs = (Object.keys(TABS) as PersonTab[]).filter((tab) =>
    holds(visit.operator, TABS[tab].permission, INSTALLATION),
  );
  return consolePage(site, visit, {
    section: 'people',
    title: displayName,
    content: html`<header class="object"><h1>${isolate(displayName)}</h1><p class="muted">${isolate(username)}${status !== 'active' && html` · <strong class="state">${text.people.states[status]}</strong>`}</p></header>
<nav class="tabs" aria-label="${text.person.tabsLabel}">${tabs.map((tab) => html`<a href="${path(personAddress(account.id, tab))}"${tab === current && html` aria-current="page"`}>${text.person.tabs[tab]}</a>`)}${holds(visit.operator, 'events.read', INSTALLATION) && html`<a href="${path(`/console/events?userId=${account.id}`)}">${text.person.tabs.events}</a>`}</nav>
${content}`,
  });
}
