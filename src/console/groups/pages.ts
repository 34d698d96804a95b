import type { FastifyInstance } from 'fastify';
import { getGroup } from '../../account-actions/access/groups.ts';
import { bulkActKind, bulkActNames } from '../../account-actions/bulk/acts.ts';
import { findGroupsContaining, listGroups } from '../../groups/directory-store.ts';
import { type Group, type GroupMember, listGroupMembers } from '../../groups/store.ts';
import { holds, INSTALLATION, reachOf } from '../../operators/rights.ts';
import { fact, facts, field, isolate, moment, NO_PROBLEMS } from '../../pages/components.ts';
import { type Html, type HtmlPart, html } from '../../pages/html.ts';
import { type Site, sendPage } from '../../pages/layout.ts';
import { initials } from '../../pictures/rules/initials.ts';
import { queryOf } from '../../platform/http/parameters.ts';
import { BULK } from '../bulk/addresses.ts';
import { consolePage } from '../layout.ts';
import { personLink } from '../links.ts';
import { afterOf, forward, onward, PAGE_SIZE, pageOfRows, rowList } from '../list.ts';
import { typedIn } from '../typed.ts';
import { type ConsoleServices, type ConsoleVisit, consoleVisitOf } from '../visit.ts';

const ADDRESS = '/console/groups';
/** As much of a text as is searched for: the longest name. */
const LONGEST = 64;

export const groupAddress = (id: string): string => `${ADDRESS}/${id}`;

/** Where a member is added or removed. */
export const memberAddress = (act: 'add-member' | 'remove-member', about: Readonly<Record<string, string>>): string =>
  `${ADDRESS}/${act}?${new URLSearchParams(about)}`;

/** The groups that the operator reaches, and the page about each. */
export function groupPageRoutes(app: FastifyInstance, services: ConsoleServices): void {
  const { site } = services;
  const text = site.messages.operators.groups;

  /** A page of the list, and the id after which it goes on. */
  async function find(
    { services: { database }, operator }: ConsoleVisit,
    q: string,
    after: string,
  ): Promise<{ readonly items: readonly Group[]; readonly next: string | undefined }> {
    const reach = reachOf(operator, 'groups.read');
    if (q !== '') return findGroupsContaining(database, { after, reach, text: q, limit: PAGE_SIZE });
    const found = await database.read(() => listGroups({ after, limit: PAGE_SIZE + 1 }, reach));
    const items = found.slice(0, PAGE_SIZE);
    return { items, next: found.length > PAGE_SIZE ? items.at(-1)?.id : undefined };
  }

  app.get(ADDRESS, { config: { permission: 'groups.read' } }, async (request, reply) => {
    const visit = consoleVisitOf(request);
    const query = queryOf(request);
    const q = typedIn(query, 'q', LONGEST);
    const after = afterOf(query);
    const { items, next } = await find(visit, q, after);
    const none = q === '' ? text.nothing : site.messages.operators.noResults(isolate(q));
    const some = q === '' ? text.inOrder : text.contains(isolate(q));
    const more = [
      ...(after === '0' && q === '' ? [] : [{ query: {}, text: text.first }]),
      ...(next === undefined ? [] : [{ query: { ...(q !== '' && { q }), after: next }, text: text.more }]),
    ];
    const content = html`<header><h1>${text.title}</h1></header>
<form class="search" role="search" method="get" action="${site.path(ADDRESS)}">${field({ name: 'q', label: text.search, hint: text.searchHint, type: 'text', autocomplete: 'off', value: q, problems: NO_PROBLEMS, required: false })}<button class="primary" type="submit">${text.submit}</button></form>
<section class="card" aria-labelledby="found"><h2 class="small muted" id="found">${items.length === 0 ? none : some}</h2>${rowList(
      site,
      items.map((group) => row(site, group)),
    )}${onward(site, ADDRESS, more)}</section>`;
    return sendPage(reply, 200, site, consolePage(site, visit, { section: 'groups', title: text.title, content }));
  });

  const config = { permission: 'groups.read', objects: { group: 'id' } } as const;
  app.get<{ Params: { id: string } }>(`${ADDRESS}/:id`, { config }, async (request, reply) => {
    const visit = consoleVisitOf(request);
    const after = afterOf(queryOf(request));
    const group = await getGroup(visit.services, request.params.id);
    const found = await visit.services.database.read(() =>
      listGroupMembers({ groupId: group.id, after, limit: PAGE_SIZE + 1 }),
    );
    const { rows: members, next } = pageOfRows(found);
    const more = forward(site, after, next);
    const content = html`<header class="object"><h1>${isolate(group.displayName)}</h1><p class="muted">${isolate(group.name)}</p></header>
${about(site, group)}
${memberList(site, visit, group, members, onward(site, groupAddress(group.id), more))}`;
    return sendPage(
      reply,
      200,
      site,
      consolePage(site, visit, { section: 'groups', title: group.displayName, content }),
    );
  });
}

function row({ path, messages }: Site, { id, name, displayName, organizationId }: Group): Html {
  const { groups: text } = messages.operators;
  return html`<li><a href="${path(groupAddress(id))}"><span class="letters" aria-hidden="true">${initials(displayName)}</span><span class="who"><span class="name">${isolate(displayName)}</span> <span class="small muted">${isolate(name)}</span></span><span class="small muted">${organizationId === null ? text.ofInstallation : text.ofOrganization}</span></a></li>`;
}

function about({ messages }: Site, group: Group): Html {
  const { groups: text } = messages.operators;
  const { name, description, organizationId, source, createdAt } = group;
  return html`<section class="card" aria-label="${text.about}">${facts([
    fact(text.name, html`<code>${name}</code>`),
    fact(text.belongs, organizationId === null ? text.ofInstallation : text.ofOrganization),
    fact(text.maintained, source === 'local' ? text.byHand : isolate(source)),
    fact(text.since, moment(createdAt)),
    fact(text.description, description === null ? text.noDescription : isolate(description), true),
  ])}</section>`;
}

function memberList(
  site: Site,
  visit: ConsoleVisit,
  group: Group,
  members: readonly GroupMember[],
  more: HtmlPart,
): Html {
  const { path, messages } = site;
  const { groups: text } = messages.operators;
  const { organizationId, source } = group;
  const manages = holds(visit.operator, 'groups.manage', { organizationId, developerId: null });
  const isOwn = source === 'local';
  const rows = members.map(({ id, username, addedAt }) => {
    const address = memberAddress('remove-member', { id: group.id, user: id });
    return html`<li><div>${personLink(site, visit, id, isolate(username))}<br><span class="small muted">${text.memberSince(moment(addedAt))}</span></div>${manages && html`<a href="${path(address)}" aria-label="${text.remove}: ${username}">${text.remove}</a>`}</li>`;
  });
  const adds =
    manages &&
    isOwn &&
    html`<form class="search" method="get" action="${path(`${ADDRESS}/add-member`)}"><input type="hidden" name="id" value="${group.id}">${field({ name: 'member', label: text.add, hint: text.addField, type: 'text', autocomplete: 'off', value: '', problems: NO_PROBLEMS })}<button class="primary" type="submit">${text.addNext}</button></form>`;
  const many =
    rows.length > 0 &&
    bulkActNames.some((name) => holds(visit.operator, bulkActKind(name).permission, INSTALLATION)) &&
    holds(visit.operator, 'users.read', INSTALLATION) &&
    html`<p class="acts"><a class="button" href="${path(`${BULK}?members=${group.id}`)}">${messages.operators.bulk.link}</a></p>`;
  return html`<section class="card" id="members"><h2>${text.members}</h2>${rows.length === 0 ? html`<p class="muted">${text.noMembers}</p>` : html`<ul class="items">${rows}</ul>`}${more}${adds}${many}${!isOwn && html`<p class="muted">${text.elsewhere(source)}</p>`}</section>`;
}
