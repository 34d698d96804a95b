import type { FastifyInstance } from 'fastify';
import { listNewestApps } from '../../clients/directory-store.ts';
import { listGroups } from '../../groups/directory-store.ts';
import { holds, holdsSomewhere, INSTALLATION, inOrganization, reachOf } from '../../operators/rights.ts';
import {
  findOrganization,
  findOrganizationsContaining,
  type ListedMember,
  listMembersAfter,
  listOrganizations,
  type Organization,
  organizationNotFound,
} from '../../organizations/store.ts';
import { copyable, fact, facts, field, isolate, moment, NO_PROBLEMS } from '../../pages/components.ts';
import { type Html, type HtmlPart, html } from '../../pages/html.ts';
import { type Site, sendPage } from '../../pages/layout.ts';
import { initials } from '../../pictures/rules/initials.ts';
import { queryOf } from '../../platform/http/parameters.ts';
import { findNamedOnly, type NamedOnly } from '../../upstreams/only-store.ts';
import { consolePage } from '../layout.ts';
import { personLink } from '../links.ts';
import {
  afterOf,
  backward,
  beforeOf,
  forward,
  items,
  longItems,
  onward,
  PAGE_SIZE,
  pageOfRows,
  rowList,
} from '../list.ts';
import { typedIn } from '../typed.ts';
import { onlyUpstreamAddress, upstreamAddress } from '../upstreams/addresses.ts';
import { type ConsoleServices, type ConsoleVisit, consoleVisitOf } from '../visit.ts';
import { ORGANIZATIONS, organizationActAddress, organizationAddress, placeIn } from './addresses.ts';
import { organizationPage } from './frame.ts';

/** As much of a text as is searched for: the longest domain. */
const LONGEST = 253;

/** The organizations that the operator reaches, and the pages about each. */
export function organizationPageRoutes(app: FastifyInstance, services: ConsoleServices): void {
  listRoute(app, services);
  membersRoute(app, services);
  groupsRoute(app, services);
  appsRoute(app, services);
}

function listRoute(app: FastifyInstance, { site }: ConsoleServices): void {
  const text = site.messages.operators.organizations;

  app.get(ORGANIZATIONS, { config: { permission: 'organizations.read' } }, async (request, reply) => {
    const visit = consoleVisitOf(request);
    const query = queryOf(request);
    const [q, after] = [typedIn(query, 'q', LONGEST), afterOf(query)];
    const reach = reachOf(visit.operator, 'organizations.read');
    const page = { after, limit: PAGE_SIZE + 1 };
    // Of one that is reached nothing needs to be searched.
    const found = await visit.services.database.read(() =>
      q === '' || reach() !== undefined
        ? listOrganizations(page, reach)
        : findOrganizationsContaining({ ...page, text: q }),
    );
    const { rows, next } = pageOfRows(found);
    const none = q === '' ? text.nothing : site.messages.operators.noResults(isolate(q));
    const some = q === '' ? text.inOrder : text.contains(isolate(q));
    const creates = holdsSomewhere(visit.operator, 'organizations.create');
    const content = html`<header class="with-link"><h1>${text.title}</h1>${creates && html`<a class="button" href="${site.path(organizationActAddress('create'))}">${text.create.title}</a>`}</header>
<form class="search" role="search" method="get" action="${site.path(ORGANIZATIONS)}">${field({ name: 'q', label: text.search, hint: text.searchHint, type: 'text', autocomplete: 'off', value: q, problems: NO_PROBLEMS, required: false })}<button class="primary" type="submit">${text.submit}</button></form>
<section class="card" aria-labelledby="found"><h2 class="small muted" id="found">${rows.length === 0 ? none : some}</h2>${rowList(
      site,
      rows.map((organization) => row(site, organization)),
    )}${onward(site, ORGANIZATIONS, forward(site, after, next, q === '' ? {} : { q }))}</section>`;
    return sendPage(
      reply,
      200,
      site,
      consolePage(site, visit, { section: 'organizations', title: text.title, content }),
    );
  });
}

function row({ path }: Site, { id, name, domain }: Organization): Html {
  return html`<li><a href="${path(organizationAddress(id))}"><span class="letters" aria-hidden="true">${initials(name)}</span><span class="who"><span class="name">${isolate(name)}</span> <span class="small muted">${isolate(domain)}</span></span></a></li>`;
}

interface OfOrganization {
  readonly Params: { readonly id: string };
}

const objects = { organization: 'id' } as const;

function membersRoute(app: FastifyInstance, { site }: ConsoleServices): void {
  const config = { permission: 'organizations.read', objects } as const;
  app.get<OfOrganization>(`${ORGANIZATIONS}/:id`, { config }, async (request, reply) => {
    const visit = consoleVisitOf(request);
    const after = afterOf(queryOf(request));
    const { id } = request.params;
    const readsOnly = holds(visit.operator, 'upstreams.read', INSTALLATION);
    const { organization, members, only } = await visit.services.database.read(function* read() {
      const found = yield* findOrganization({ id });
      if (found === undefined) throw organizationNotFound(id);
      const page = { organizationId: id, after, limit: PAGE_SIZE + 1 };
      const members = yield* listMembersAfter(page);
      return {
        organization: found,
        members,
        only: readsOnly ? yield* findNamedOnly({ organizationId: id }) : undefined,
      };
    });
    const { rows, next } = pageOfRows(members);
    const more = onward(site, organizationAddress(id), forward(site, after, next));
    const signIn = readsOnly && onlyFact(site, visit, id, only);
    const content = html`${about(site, visit, organization, signIn)}
${memberList(site, visit, organization, rows, more)}`;
    return sendPage(reply, 200, site, organizationPage(site, visit, organization, 'members', content));
  });
}

/** Through which provider alone the members are let in, for who may see providers. */
function onlyFact({ path, messages }: Site, { operator }: ConsoleVisit, id: string, only: NamedOnly | undefined): Html {
  const { onlyFor: text } = messages.operators.upstreams;
  const through =
    only === undefined
      ? text.asTheyLike
      : text.through(html`<a href="${path(upstreamAddress(only.upstreamId))}">${isolate(only.displayName)}</a>`);
  const changes =
    holds(operator, 'upstreams.manage', INSTALLATION) &&
    html` <a href="${path(onlyUpstreamAddress(id))}">${text.change}</a>`;
  return fact(text.fact, html`${through}${changes}`, true);
}

/** @param signIn how members sign in; false where the operator may not see it */
function about(site: Site, { operator }: ConsoleVisit, organization: Organization, signIn: Html | false): Html {
  const { path, messages } = site;
  const { organizations: text } = messages.operators;
  const { id, domain, requireSecondFactor, createdAt } = organization;
  const changes =
    holds(operator, 'organizations.update', placeIn(id)) &&
    html` <a href="${path(organizationActAddress('requirement', { id }))}">${text.requirement.link}</a>`;
  const deletes =
    holds(operator, 'organizations.delete', placeIn(id)) &&
    html`<p class="acts"><a class="button danger" href="${path(organizationActAddress('delete', { id }))}">${text.deletion.link}</a></p>`;
  return html`<section class="card" aria-label="${text.tabsLabel}">${facts([
    fact(text.domain, isolate(domain)),
    fact(text.secondFactor, html`${requireSecondFactor ? text.required : text.notRequired}${changes}`),
    signIn,
    fact(text.since, moment(createdAt)),
    fact(text.id, copyable(id, messages.error, text.copyId)),
  ])}${deletes}</section>`;
}

function memberList(
  site: Site,
  visit: ConsoleVisit,
  { id }: Organization,
  members: readonly ListedMember[],
  more: HtmlPart,
): Html {
  const { path, messages } = site;
  const { organizations: text } = messages.operators;
  const manages = holds(visit.operator, 'members.manage', placeIn(id));
  const rows = members.map(({ accountId, username, displayName, role }) => {
    const link = (act: 'member' | 'remove-member', name: string, label: string): Html =>
      html`<a href="${path(organizationActAddress(act, { id, user: accountId }))}" aria-label="${label}">${name}</a>`;
    return html`<li><div>${personLink(site, visit, accountId, isolate(displayName))} <span class="small muted">${isolate(username)} · ${role === null ? text.noRole : text.memberRoles[role]}</span></div>${manages && html`<div class="row-acts">${link('member', text.change, text.changeOf(username))}${link('remove-member', text.remove, text.removeOf(username))}</div>`}</li>`;
  });
  // Of people, a role of the organization sees its members alone: others it invites.
  const adds =
    manages &&
    holdsSomewhere(visit.operator, 'users.read') &&
    html`<form class="search" method="get" action="${path(organizationActAddress('member'))}"><input type="hidden" name="id" value="${id}">${field({ name: 'member', label: text.add, hint: text.addField, type: 'text', autocomplete: 'off', value: '', problems: NO_PROBLEMS })}<button class="primary" type="submit">${text.addNext}</button></form>`;
  return html`<section class="card" id="members"><h2>${text.members}</h2>${longItems(site, rows, text.noMembers)}${more}${adds}</section>`;
}

/** A part of an organization: what it lists, after the organization itself. */
function groupsRoute(app: FastifyInstance, { site }: ConsoleServices): void {
  const text = site.messages.operators.organizations;
  const config = { permission: 'groups.read', objects } as const;
  app.get<OfOrganization>(`${ORGANIZATIONS}/:id/groups`, { config }, async (request, reply) => {
    const visit = consoleVisitOf(request);
    const after = afterOf(queryOf(request));
    const { id } = request.params;
    const { organization, groups } = await visit.services.database.read(function* read() {
      const found = yield* findOrganization({ id });
      if (found === undefined) throw organizationNotFound(id);
      return { organization: found, groups: yield* listGroups({ after, limit: PAGE_SIZE + 1 }, inOrganization(id)) };
    });
    const { rows, next } = pageOfRows(groups);
    const listed = rows.map(
      (group) =>
        html`<li><div><a href="${site.path(`/console/groups/${group.id}`)}">${isolate(group.displayName)}</a> <span class="small muted">${isolate(group.name)}</span></div></li>`,
    );
    const more = onward(site, organizationAddress(id, 'groups'), forward(site, after, next));
    const content = html`<section class="card"><h2>${text.groups}</h2>${items(listed, text.noGroups)}${more}</section>`;
    return sendPage(reply, 200, site, organizationPage(site, visit, organization, 'groups', content));
  });
}

function appsRoute(app: FastifyInstance, { site }: ConsoleServices): void {
  const text = site.messages.operators.organizations;
  const config = { permission: 'apps.read', objects } as const;
  app.get<OfOrganization>(`${ORGANIZATIONS}/:id/apps`, { config }, async (request, reply) => {
    const visit = consoleVisitOf(request);
    const before = beforeOf(queryOf(request));
    const { id } = request.params;
    const { organization, apps } = await visit.services.database.read(function* read() {
      const found = yield* findOrganization({ id });
      if (found === undefined) throw organizationNotFound(id);
      return { organization: found, apps: yield* listNewestApps({ before, limit: PAGE_SIZE + 1 }, inOrganization(id)) };
    });
    const { rows, next } = pageOfRows(apps);
    const listed = rows.map(
      (client) =>
        html`<li><div><a href="${site.path(`/console/apps/${client.id}`)}">${isolate(client.name)}</a>${client.status === 'disabled' && html` <strong class="state small">${site.messages.operators.apps.disabled}</strong>`}</div></li>`,
    );
    const more = onward(site, organizationAddress(id, 'apps'), backward(site, before, next));
    const content = html`<section class="card"><h2>${text.apps}</h2>${items(listed, text.noApps)}${more}</section>`;
    return sendPage(reply, 200, site, organizationPage(site, visit, organization, 'apps', content));
  });
}
