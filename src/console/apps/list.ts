import type { FastifyInstance } from 'fastify';
import { findAppsContaining, type ListedApp, listNewestApps } from '../../clients/directory-store.ts';
import { findClient } from '../../clients/store.ts';
import { holds, holdsSomewhere, reachOf } from '../../operators/rights.ts';
import { day, field, isolate, NO_PROBLEMS } from '../../pages/components.ts';
import { type Html, type HtmlPart, html } from '../../pages/html.ts';
import { type Site, sendPage } from '../../pages/layout.ts';
import { initials } from '../../pictures/rules/initials.ts';
import { queryOf } from '../../platform/http/parameters.ts';
import { redirect } from '../../platform/http/server.ts';
import { isSnowflake } from '../../platform/ids/ids.ts';
import { consolePage } from '../layout.ts';
import { rowList } from '../list.ts';
import { typedIn } from '../typed.ts';
import { type ConsoleServices, type ConsoleVisit, consoleVisitOf } from '../visit.ts';
import { placeOfApp, SCOPE_REQUESTS } from './addresses.ts';

const PAGE_SIZE = 25;
const ADDRESS = '/console/apps';
/** As much of a text as is searched for: the longest name. */
const LONGEST = 64;
const BEFORE_NEWEST = '9223372036854775807';

interface Listing {
  readonly apps: readonly ListedApp[];
  readonly lead: HtmlPart;
  readonly links: readonly { readonly query: Readonly<Record<string, string>>; readonly text: string }[];
}

/** The apps that the operator reaches: the newest, or those with a text in their name. */
export function appListRoutes(app: FastifyInstance, services: ConsoleServices): void {
  const { site } = services;
  const { apps: text, older, newest } = site.messages.operators;
  const reach = ({ operator }: ConsoleVisit) => reachOf(operator, 'apps.read');

  async function newestApps(visit: ConsoleVisit, before: string): Promise<Listing> {
    const page = { before, limit: PAGE_SIZE + 1 };
    const found = await visit.services.database.read(() => listNewestApps(page, reach(visit)));
    const apps = found.slice(0, PAGE_SIZE);
    const last = apps.at(-1);
    return {
      apps,
      lead: apps.length === 0 ? text.nothing : text.newest,
      links: [
        ...(before === BEFORE_NEWEST ? [] : [{ query: {}, text: newest }]),
        ...(found.length > PAGE_SIZE && last !== undefined ? [{ query: { before: last.id }, text: older }] : []),
      ],
    };
  }

  async function searched(visit: ConsoleVisit, q: string, after: string): Promise<Listing> {
    const search = { text: q, after, limit: PAGE_SIZE, reach: reach(visit) };
    const { items, next } = await findAppsContaining(visit.services.database, search);
    const on = next === undefined ? [] : [{ query: { q, after: next }, text: text.searchOn }];
    return {
      apps: items,
      lead: items.length === 0 ? site.messages.operators.noResults(isolate(q)) : text.contains(isolate(q)),
      links: [...on, { query: {}, text: text.clear }],
    };
  }

  app.get(ADDRESS, { config: { permission: 'apps.read' } }, async (request, reply) => {
    const visit = consoleVisitOf(request);
    const query = queryOf(request);
    const q = typedIn(query, 'q', LONGEST);
    const place = (name: string, start: string): string => {
      const given = query.get(name) ?? '';
      return isSnowflake(given) ? given : start;
    };
    const named = isSnowflake(q) ? await visit.services.database.read(() => findClient({ id: q })) : undefined;
    // What is outside of the operator’s reach is as if it were not there.
    if (named !== undefined && holds(visit.operator, 'apps.read', placeOfApp(named)))
      return redirect(request, reply, site.path(`${ADDRESS}/${q}`));
    const listing =
      q === ''
        ? await newestApps(visit, place('before', BEFORE_NEWEST))
        : await searched(visit, q, place('after', '0'));
    const creates = holdsSomewhere(visit.operator, 'apps.create');
    const address = (of: Readonly<Record<string, string>>) =>
      site.path(Object.keys(of).length > 0 ? `${ADDRESS}?${new URLSearchParams(of)}` : ADDRESS);
    const content = html`<header class="with-link"><h1>${text.title}</h1>${creates && html`<a class="button" href="${site.path(`${ADDRESS}/new`)}">${text.create}</a>`}</header>
${holdsSomewhere(visit.operator, 'apps.approve') && html`<p class="small"><a href="${site.path(SCOPE_REQUESTS)}">${site.messages.operators.scopes.waitingLink}</a></p>`}
<form class="search" role="search" method="get" action="${site.path(ADDRESS)}">${field({ name: 'q', label: text.search, hint: text.searchHint, type: 'text', autocomplete: 'off', value: q, problems: NO_PROBLEMS, required: false })}<button class="primary" type="submit">${text.submit}</button></form>
<section class="card" aria-labelledby="found"><h2 class="small muted" id="found">${listing.lead}</h2>${rowList(
      site,
      listing.apps.map((listed) => row(site, listed)),
    )}${
      listing.links.length > 0 &&
      html`<nav class="pager" aria-label="${site.messages.pager.label}">${listing.links.map((link) => html`<a href="${address(link.query)}">${link.text}</a>`)}</nav>`
    }</section>`;
    return sendPage(reply, 200, site, consolePage(site, visit, { section: 'apps', title: text.title, content }));
  });
}

function row({ path, messages }: Site, { id, name, type, redirectUris, status, createdAt }: ListedApp): Html {
  const { apps: text } = messages.operators;
  const [first] = redirectUris;
  const since = day(new Date(createdAt).toISOString().slice(0, 10));
  return html`<li><a href="${path(`${ADDRESS}/${id}`)}"><span class="letters" aria-hidden="true">${initials(name)}</span><span class="who"><span class="name">${isolate(name)}</span> <span class="small muted">${text[type]} · ${first === undefined ? text.noAddress : isolate(first)}</span></span><span class="small">${status === 'disabled' ? html`<strong class="state">${text.disabled}</strong>` : html`<span class="muted">${since}</span>`}</span></a></li>`;
}
