import type { FastifyInstance } from 'fastify';
import { bulkActKind, bulkActNames } from '../../account-actions/bulk/acts.ts';
import {
  BEFORE_NEWEST,
  findByBeginning,
  type ListedAccount,
  listed,
  listNewestAccounts,
} from '../../accounts/directory-store.ts';
import { searchAccounts } from '../../accounts/store.ts';
import { holds, INSTALLATION } from '../../operators/rights.ts';
import { day, field, isolate, NO_PROBLEMS } from '../../pages/components.ts';
import { type Html, type HtmlPart, html } from '../../pages/html.ts';
import { type Site, sendPage } from '../../pages/layout.ts';
import { initials } from '../../pictures/rules/initials.ts';
import { readableEmail } from '../../platform/domain-name.ts';
import { queryOf } from '../../platform/http/parameters.ts';
import { isSnowflake } from '../../platform/ids/ids.ts';
import { accountStatus } from '../../verdict/rules.ts';
import { BULK } from '../bulk/addresses.ts';
import { EXPORT_ADDRESSES } from '../export/addresses.ts';
import { invitationActAddress } from '../invitations/addresses.ts';
import { consolePage } from '../layout.ts';
import { rowList } from '../list.ts';
import { typedIn } from '../typed.ts';
import { type ConsoleServices, type ConsoleVisit, consoleVisitOf } from '../visit.ts';
import { peopleTabs } from './tabs.ts';

const PAGE_SIZE = 25;
/** As much of a text as is searched for: the longest address. */
const LONGEST = 254;
const ADDRESS = '/console/people';

/** What the page shows. */
interface Listing {
  readonly people: readonly ListedAccount[];
  /** How the people were found. */
  readonly lead: HtmlPart;
  /** What a file of the list contains; undefined for a list that shows its first people alone. */
  readonly saved?: string;
  /** Where the list goes on, and where it begins. */
  readonly links: readonly { readonly query: Readonly<Record<string, string>>; readonly text: string }[];
}

/** People: the newest, or those found by what they are called. */
export function peopleRoutes(app: FastifyInstance, services: ConsoleServices): void {
  const { site, clock } = services;
  const text = site.messages.operators.people;
  const { older, newest } = site.messages.operators;

  async function newestPeople({ services: { database } }: ConsoleVisit, before: string): Promise<Listing> {
    const found = await database.read(() => listNewestAccounts({ before, limit: PAGE_SIZE + 1 }));
    const people = found.slice(0, PAGE_SIZE);
    const last = people.at(-1);
    return {
      people,
      saved: '',
      lead: people.length === 0 && before === BEFORE_NEWEST ? text.nobody : text.newest,
      links: [
        ...(before === BEFORE_NEWEST ? [] : [{ query: {}, text: newest }]),
        ...(found.length > people.length && last !== undefined ? [{ query: { before: last.id }, text: older }] : []),
      ],
    };
  }

  async function searched({ services: { database } }: ConsoleVisit, q: string): Promise<Listing> {
    const people = await database.read(() => findByBeginning(q, PAGE_SIZE));
    const everywhere = { query: { q, in: 'all' }, text: text.everywhere };
    return { people, lead: text.startsWith(isolate(q)), links: [everywhere, { query: {}, text: text.clear }] };
  }

  /** Every account is looked at, so only some for one page. */
  async function searchedEverywhere(
    { services: { database } }: ConsoleVisit,
    q: string,
    after: string,
  ): Promise<Listing> {
    const { items, next } = await searchAccounts(database, { text: q, after, limit: PAGE_SIZE });
    const on = next === undefined ? [] : [{ query: { q, in: 'all', after: next }, text: text.searchOn }];
    const none = next === undefined ? site.messages.operators.noResults(isolate(q)) : text.noneSoFar(isolate(q));
    return {
      people: items.map(listed),
      saved: q,
      lead: items.length === 0 ? none : text.contains(isolate(q)),
      links: [...on, { query: {}, text: text.clear }],
    };
  }

  app.get(ADDRESS, { config: { permission: 'users.read' } }, async (request, reply) => {
    const visit = consoleVisitOf(request);
    const query = queryOf(request);
    const q = typedIn(query, 'q', LONGEST);
    const place = (name: string, start: string): string => {
      const given = query.get(name) ?? '';
      return isSnowflake(given) ? given : start;
    };
    const begun = q === '' || query.get('in') === 'all' ? undefined : await searched(visit, q);
    const listing =
      q === ''
        ? await newestPeople(visit, place('before', BEFORE_NEWEST))
        : begun === undefined || begun.people.length === 0
          ? await searchedEverywhere(visit, q, place('after', '0'))
          : begun;
    const actsOnMany = bulkActNames.some((name) => holds(visit.operator, bulkActKind(name).permission, INSTALLATION));
    const many =
      actsOnMany && html`<a class="button" href="${site.path(BULK)}">${site.messages.operators.bulk.link}</a>`;
    const invites = holds(visit.operator, 'invitations.manage', INSTALLATION);
    const content = html`<header class="with-link"><h1>${text.title}</h1>${many}${invites && html`<a class="button" href="${site.path(invitationActAddress('new'))}">${site.messages.operators.invitations.invite}</a>`}</header>
${peopleTabs(site, visit, 'people')}
<form class="search" role="search" method="get" action="${site.path(ADDRESS)}">${field({ name: 'q', label: text.search, hint: text.searchHint, type: 'text', autocomplete: 'off', value: q, problems: NO_PROBLEMS, required: false })}<button class="primary" type="submit">${text.submit}</button></form>
<section class="card list-card" aria-labelledby="found"><h2 class="small muted" id="found">${listing.lead}</h2>${rowList(
      site,
      listing.people.map((person) => row(site, person, clock())),
    )}${
      listing.links.length > 0 &&
      html`<nav class="pager" aria-label="${site.messages.pager.label}">${listing.links.map(
        (link) =>
          html`<a href="${site.path(ADDRESS)}${Object.keys(link.query).length > 0 && `?${new URLSearchParams(link.query)}`}">${link.text}</a>`,
      )}</nav>`
    }${listing.people.length > 0 && listing.saved !== undefined && html`<p class="acts"><a class="button" href="${site.path(saveAddress(listing.saved))}">${site.messages.operators.exports.link}</a></p>`}</section>`;
    return sendPage(reply, 200, site, consolePage(site, visit, { section: 'people', title: text.title, content }));
  });
}

const saveAddress = (q: string): string =>
  q === '' ? EXPORT_ADDRESSES.people : `${EXPORT_ADDRESSES.people}?${new URLSearchParams({ q })}`;

function row({ path, messages }: Site, person: ListedAccount, now: number): Html {
  const { states } = messages.operators.people;
  const { id, displayName, username, email, createdAt, deletionDueAt } = person;
  const status = accountStatus(person, now);
  const state = status !== 'active' ? states[status] : deletionDueAt === null ? undefined : states.deletion;
  return html`<li><a href="${path(`${ADDRESS}/${id}`)}"><span class="letters" aria-hidden="true">${initials(displayName)}</span><span class="who"><span class="name">${isolate(displayName)}</span> <span class="small muted">${isolate(username)} · ${isolate(readableEmail(email))}</span></span><span class="small">${state === undefined ? html`<span class="muted">${day(new Date(createdAt).toISOString().slice(0, 10))}</span>` : html`<strong class="state">${state}</strong>`}</span></a></li>`;
}
