import type { Permission } from '../operators/permissions.ts';
import { holdsSomewhere } from '../operators/rights.ts';
import { hidden, isolate, NO_PROBLEMS, type Problems } from '../pages/components.ts';
import { type Html, type HtmlPart, html } from '../pages/html.ts';
import type { Page, Site } from '../pages/layout.ts';
import { enumerated } from '../platform/date-text.ts';
import type { ConsoleVisit } from './visit.ts';

/** The sections of the console, each with the permission without which it is not shown. */
const SECTIONS = {
  overview: { address: '/console/overview', permission: 'service.read' },
  people: { address: '/console/people', permission: 'users.read' },
  groups: { address: '/console/groups', permission: 'groups.read' },
  organizations: { address: '/console/organizations', permission: 'organizations.read' },
  apps: { address: '/console/apps', permission: 'apps.read' },
  upstreams: { address: '/console/upstreams', permission: 'upstreams.read' },
  operators: { address: '/console/operators', permission: 'operators.read' },
  explain: { address: '/console/explain', permission: 'traces.read' },
  events: { address: '/console/events', permission: 'events.read' },
  system: { address: '/console/system', permission: 'service.read' },
} as const satisfies Readonly<Record<string, { readonly address: string; readonly permission: Permission }>>;
export type Section = keyof typeof SECTIONS;

/** The sections that an operator may open, in their order. */
export const sectionsOf = ({ operator }: Pick<ConsoleVisit, 'operator'>): readonly Section[] =>
  (Object.keys(SECTIONS) as Section[]).filter((name) => holdsSomewhere(operator, SECTIONS[name].permission));

export const addressOf = (section: Section): string => SECTIONS[section].address;

/** Where everything is searched. */
export const SEARCH = '/console/search';

/** What the frame shows of an operator. */
export type FrameVisit = Pick<ConsoleVisit, 'account' | 'operator' | 'logoutToken'>;

interface ConsoleContent {
  readonly section?: Section;
  readonly title: HtmlPart;
  readonly content: Html;
  readonly problems?: Problems;
}

/** A page of the console: the sections at its side, who is signed in at its head. */
export const consolePage = (
  site: Site,
  visit: FrameVisit,
  { section, title, content, problems = NO_PROBLEMS }: ConsoleContent,
): Page => ({
  title: [title, ` – ${site.messages.operators.title}`],
  layout: 'console',
  problems,
  theme: visit.account.profile.theme,
  home: '/console',
  aside: who(site, visit),
  body: html`${nav(site, visit, section)}<div class="stack">
${content}
</div>`,
});

function nav(site: Site, visit: FrameVisit, current: Section | undefined): Html {
  const { messages, path } = site;
  const links = sectionsOf(visit).map(
    (name) =>
      html`<a href="${path(SECTIONS[name].address)}"${name === current && html` aria-current="page"`}>${messages.operators[name].title}</a>`,
  );
  const { search: text } = messages.operators;
  return html`<nav class="side" aria-label="${messages.operators.nav}"><a href="${path(SEARCH)}" data-palette aria-keyshortcuts="Control+K Meta+K">${text.title}<kbd aria-hidden="true">${text.keys}</kbd></a>${links}</nav>`;
}

/** The names of an operator's roles. */
function roleNames({ messages }: Site, { operator }: Pick<ConsoleVisit, 'operator'>): string {
  const { roles, inOrganization } = messages.operators;
  const names = operator.grants.map(({ role, organizationId }) =>
    organizationId === null ? roles[role] : inOrganization(roles[role]),
  );
  if (operator.developsByPolicy) names.push(roles.developer);
  return enumerated([...new Set(names)]);
}

function who(site: Site, visit: FrameVisit): Html {
  const { messages, path } = site;
  const text = messages.operators;
  return html`<div class="who-operates"><a href="${path('/account')}" title="${text.account}">${text.signedInAs(isolate(visit.account.profile.username), roleNames(site, visit))}</a><form method="post" action="${path('/logout')}">${hidden(visit.logoutToken)}<button class="link" type="submit">${messages.account.signOut}</button></form></div>`;
}
