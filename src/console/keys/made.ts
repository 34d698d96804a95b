import { LISTED_ROWS } from '../../account-actions/makers/admin-keys.ts';
import type { MadePart, MadeRow } from '../../account-actions/makers/made-view-store.ts';
import { operatorRole } from '../../operators/permissions.ts';
import { holds, INSTALLATION } from '../../operators/rights.ts';
import { isolate, moment } from '../../pages/components.ts';
import { type Html, type HtmlPart, html } from '../../pages/html.ts';
import type { Site } from '../../pages/layout.ts';
import { enumerated } from '../../platform/date-text.ts';
import type { KeptChange } from '../../platform/kept-changes.ts';
import { appAddress } from '../apps/addresses.ts';
import { groupAddress } from '../groups/pages.ts';
import { personLink } from '../links.ts';
import { longItems } from '../list.ts';
import { organizationAddress } from '../organizations/addresses.ts';
import { upstreamAddress } from '../upstreams/addresses.ts';
import type { ConsoleVisit } from '../visit.ts';
import { keyAddress } from './addresses.ts';

const SECTIONS = {
  rights: ['keys', 'roles', 'leads'],
  apps: ['apps', 'registered', 'appSettings'],
  access: ['assignments', 'groupMembers', 'members'],
  accounts: ['accounts', 'effects'],
  others: ['upstreams', 'domains', 'organizationSettings', 'groupSettings'],
} as const satisfies Readonly<Record<string, readonly MadePart[]>>;
type MadeSection = keyof typeof SECTIONS;

/** How many rows of a section a small phone shows at first. */
const FIRST_MADE = 3;

/** What an operator made, in sections: of each part the newest rows. */
export function madeSections(
  site: Site,
  visit: ConsoleVisit,
  { madeBy, rows }: { readonly madeBy: string; readonly rows: readonly MadeRow[] },
  now: number,
): Html {
  const { made: text } = site.messages.operators.operators;
  if (rows.length === 0) return html`<section class="card"><p class="muted">${text.view.none}</p></section>`;
  const events =
    holds(visit.operator, 'events.read', INSTALLATION) &&
    html` <a href="${site.path(`/console/events?actorId=${madeBy}`)}">${text.view.events}</a>`;
  const section = (name: MadeSection): HtmlPart => {
    const parts = SECTIONS[name].map((part) => rows.filter((row) => row.part === part));
    const shown = parts.flatMap((part) => part.slice(0, LISTED_ROWS));
    if (shown.length === 0) return undefined;
    const more =
      parts.some((part) => part.length > LISTED_ROWS) && html`<p class="muted small">${text.view.more}${events}</p>`;
    return html`<section class="card"><h2>${text.view.sections[name]}</h2>${longItems(
      site,
      shown.map((row) => madeRow(site, visit, row, now)),
      undefined,
      FIRST_MADE,
    )}${more}</section>`;
  };
  return html`<p class="muted small">${text.view.lead}</p>
${(Object.keys(SECTIONS) as MadeSection[]).map(section)}`;
}

const madeRow = (site: Site, visit: ConsoleVisit, row: MadeRow, now: number): Html =>
  html`<li><div><strong>${nameOf(site, visit, row)}</strong> <span class="small muted">${noteOf(site, visit, row)}${endOf(site, row, now)}</span></div></li>`;

/** Who may look people up is shown their names, others their ids. */
const showsPeople = ({ operator }: ConsoleVisit): boolean => holds(operator, 'users.read', INSTALLATION);

const person = (site: Site, visit: ConsoleVisit, id: string, name: string | null): Html =>
  showsPeople(visit) ? personLink(site, visit, id, isolate(name ?? id)) : personLink(site, visit, id);

const PEOPLE: readonly MadePart[] = ['roles', 'leads', 'accounts', 'effects'];

/** Where the page of an object is. */
function addressOf(part: MadePart, id: string): string {
  switch (part) {
    case 'keys':
      return keyAddress(id);
    case 'upstreams':
      return upstreamAddress(id);
    case 'members':
    case 'organizationSettings':
      return organizationAddress(id);
    case 'groupMembers':
    case 'groupSettings':
      return groupAddress(id);
    default:
      return appAddress(id);
  }
}

function objectOf(site: Site, visit: ConsoleVisit, { part, id, name }: MadeRow): HtmlPart {
  if (id === null) return isolate(name ?? '');
  if (PEOPLE.includes(part)) return person(site, visit, id, name);
  return html`<a href="${site.path(addressOf(part, id))}">${isolate(name ?? id)}</a>`;
}

/** What was made; of whom was let in, the person. */
function nameOf(site: Site, visit: ConsoleVisit, row: MadeRow): HtmlPart {
  const { part, holderId, holder } = row;
  if (part === 'groupMembers' || part === 'members') return person(site, visit, holderId ?? '0', holder);
  // A person, a group or an organization.
  if (part === 'assignments') return isolate(showsPeople(visit) ? (holder ?? '') : (holderId ?? ''));
  return objectOf(site, visit, row);
}

/** What was done, or where somebody was let in. */
function noteOf(site: Site, visit: ConsoleVisit, row: MadeRow): HtmlPart {
  const { part, act, holder } = row;
  const { made: text, inOrganization } = site.messages.operators.operators;
  const { roles } = site.messages.operators;
  switch (part) {
    case 'keys':
      return text.view.key(roles[operatorRole.decode(act)]);
    case 'roles': {
      const name = roles[operatorRole.decode(act)];
      return holder === null ? name : [name, ' ', inOrganization(isolate(holder))];
    }
    case 'leads':
      return [roles[act === 'OWNER' ? 'owner' : 'admin'], ' ', inOrganization(isolate(holder ?? ''))];
    case 'assignments':
    case 'groupMembers':
    case 'members':
      return text.view[part](objectOf(site, visit, row));
    case 'domains':
      return text.view.domain;
    case 'appSettings':
    case 'organizationSettings':
    case 'groupSettings':
      return text.view.settings(changedFields(site, act ?? '[]'));
    case 'upstreams':
      return labelOf(text.upstreamActs, act);
    case 'apps':
    case 'registered':
      return labelOf(text.appActs, act);
    default:
      return labelOf(text.accountActs, act);
  }
}

const labelOf = (labels: Readonly<Record<string, string>>, act: string | null): string =>
  labels[act ?? ''] ?? act ?? '';

/** The names of the fields that were changed. */
function changedFields({ messages }: Site, stored: string): string {
  const labels: Readonly<Record<string, string>> = messages.operators.operators.made.settings;
  const changes: readonly KeptChange[] = JSON.parse(stored);
  const names = new Set(changes.flatMap(({ fields, unclear = [] }) => [...Object.keys(fields), ...unclear]));
  return enumerated([...names].map((name) => labels[name] ?? name));
}

/** When a right ends, or that it is over. */
function endOf({ messages }: Site, { endsAt }: MadeRow, now: number): HtmlPart {
  if (endsAt === null) return undefined;
  const { ended, until } = messages.operators.operators;
  return [', ', endsAt <= now ? ended(moment(endsAt)) : until(moment(endsAt))];
}
