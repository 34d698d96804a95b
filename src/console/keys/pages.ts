import type { FastifyInstance } from 'fastify';
import { adminKeyStatus, getAdminKeyAlone, getAdminKeyWithRows } from '../../account-actions/makers/admin-keys.ts';
import { type AdminKey, grantOfKey, listNewestAdminKeys } from '../../admin-keys/store.ts';
import { holds, holdsSomewhere, INSTALLATION, lackingOf, reachOf } from '../../operators/rights.ts';
import { copyable, fact, facts, isolate, moment } from '../../pages/components.ts';
import { type Html, type HtmlPart, html } from '../../pages/html.ts';
import { type Site, sendPage } from '../../pages/layout.ts';
import { queryOf } from '../../platform/http/parameters.ts';
import { consolePage } from '../layout.ts';
import { backward, beforeOf, onward, PAGE_SIZE, pageOfRows, rowList } from '../list.ts';
import { operatorsPage } from '../operators/frame.ts';
import { organizationAddress, placeIn } from '../organizations/addresses.ts';
import { type ConsoleServices, type ConsoleVisit, consoleVisitOf } from '../visit.ts';
import { KEYS, keyActAddress, keyAddress, keyMadeAddress } from './addresses.ts';
import { madeSections } from './made.ts';

/** The admin keys that the operator reaches, and the page about each. */
export function keyPageRoutes(app: FastifyInstance, services: ConsoleServices): void {
  const { site, clock } = services;
  const text = site.messages.operators.keys;

  app.get(KEYS, { config: { permission: 'operators.read' } }, async (request, reply) => {
    const visit = consoleVisitOf(request);
    const before = beforeOf(queryOf(request));
    const reach = reachOf(visit.operator, 'operators.read');
    const page = { before, limit: PAGE_SIZE + 1 };
    const { rows, next } = pageOfRows(await visit.services.database.read(() => listNewestAdminKeys(page, reach)));
    const listed = rows.map((key) => row(site, key, clock()));
    const creates = holdsSomewhere(visit.operator, 'operators.manage');
    // Where one organization is all that the operator reaches, the key is for that.
    const [place, ...others] = reachOf(visit.operator, 'operators.manage')()?.organizationIds ?? [];
    const own = place === undefined || others.length > 0 ? {} : { organization: place };
    const content = html`<section class="card"><header class="with-link"><p class="muted small">${text.lead}</p>${creates && html`<a class="button" href="${site.path(keyActAddress('new', own))}">${text.create}</a>`}</header>${listed.length === 0 ? html`<p class="muted">${text.none}</p>` : rowList(site, listed)}${onward(site, KEYS, backward(site, before, next))}</section>`;
    return sendPage(reply, 200, site, operatorsPage(site, visit, 'keys', content));
  });

  const config = { permission: 'operators.read', objects: { adminKey: 'id' } } as const;
  app.get<{ Params: { id: string } }>(`${KEYS}/:id`, { config }, async (request, reply) => {
    const visit = consoleVisitOf(request);
    const key = await getAdminKeyAlone(visit.services, request.params.id);
    const { name } = key;
    const content = html`<header class="object"><h1>${isolate(name)}</h1><p class="muted">${stateText(site, key, clock())}</p></header>
${about(site, visit, key, clock())}`;
    return sendPage(reply, 200, site, consolePage(site, visit, { section: 'operators', title: name, content }));
  });

  app.get<{ Params: { id: string } }>(`${KEYS}/:id/made`, { config }, async (request, reply) => {
    const visit = consoleVisitOf(request);
    const { key, rows } = await getAdminKeyWithRows(visit.services, request.params.id);
    const back = site.messages.operators.back(isolate(key.name));
    const content = html`<header class="object"><h1>${text.madeWith(isolate(key.name))}</h1><p class="muted">${stateText(site, key, clock())}</p></header>
${madeSections(site, visit, { madeBy: key.id, rows }, clock())}
<p class="acts"><a class="button" href="${site.path(keyAddress(key.id))}">${back}</a></p>`;
    return sendPage(reply, 200, site, consolePage(site, visit, { section: 'operators', title: text.made, content }));
  });
}

function stateText({ messages }: Site, key: AdminKey, now: number): HtmlPart {
  const { states } = messages.operators.keys;
  const status = adminKeyStatus(key, now);
  return status === 'active' ? states.active : html`<strong class="state">${states[status]}</strong>`;
}

const useText = ({ messages }: Site, { lastUsedAt }: AdminKey): HtmlPart => {
  const { keys: text } = messages.operators;
  return lastUsedAt === null ? text.neverUsed : text.lastUsed(moment(lastUsedAt));
};

function row(site: Site, key: AdminKey, now: number): Html {
  const { roles, inOrganization } = site.messages.operators;
  const { role } = grantOfKey(key);
  const name = key.organizationId === null ? roles[role] : inOrganization(roles[role]);
  return html`<li><a href="${site.path(keyAddress(key.id))}"><span class="who"><span class="name">${isolate(key.name)}</span> <span class="small muted">${name} · ${useText(site, key)}</span></span><span class="small">${stateText(site, key, now)}</span></a></li>`;
}

function about(site: Site, visit: ConsoleVisit, key: AdminKey, now: number): Html {
  const { path, messages } = site;
  const { keys: text, operators, roles } = messages.operators;
  const grant = grantOfKey(key);
  const { organizationId } = grant;
  const where =
    organizationId === null
      ? operators.inInstallation
      : operators.inOrganization(html`<a href="${path(organizationAddress(organizationId))}">${organizationId}</a>`);
  const manages =
    holds(visit.operator, 'operators.manage', placeIn(organizationId)) &&
    lackingOf(visit.operator, [grant]) === undefined;
  const isActive = adminKeyStatus(key, now) === 'active';
  const like = { like: key.id, ...(organizationId !== null && { organization: organizationId }) };
  const acts = [
    html`<a class="button" href="${path(keyMadeAddress(key.id))}">${text.made}</a>`,
    holds(visit.operator, 'events.read', INSTALLATION) &&
      html`<a class="button" href="${path(`/console/events?actorId=${key.id}`)}">${text.events}</a>`,
    manages && html`<a class="button" href="${path(keyActAddress('new', like))}">${text.replace}</a>`,
    manages &&
      isActive &&
      html`<a class="button danger" href="${path(keyActAddress('revoke', { id: key.id }))}">${text.revoke}</a>`,
  ];
  return html`<section class="card" aria-label="${text.about}">${facts([
    fact(text.role, roles[grant.role]),
    fact(text.place, where),
    fact(
      text.use,
      key.lastUsedAt === null
        ? text.neverUsed
        : html`${moment(key.lastUsedAt)} <span class="small muted">${text.useNote}</span>`,
    ),
    fact(text.end, key.expiresAt === null ? text.noEnd : moment(key.expiresAt)),
    fact(text.created, moment(key.createdAt)),
    fact(text.by, key.madeBy === null ? text.byServer : text.byKey(html`<span class="figures">${key.madeBy}</span>`)),
    fact(text.id, copyable(key.id, messages.error, text.copyId)),
  ])}<p class="acts">${acts}</p>${manages && isActive && html`<p class="muted small">${text.replaceNote}</p>`}</section>`;
}
