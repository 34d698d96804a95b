import type { FastifyInstance } from 'fastify';
import { listNamedGrants, type NamedGrant } from '../../access/operator-grant-store.ts';
import { holds, INSTALLATION, inOrganization, lackingOf, reachOf } from '../../operators/rights.ts';
import { findOrganization, organizationNotFound } from '../../organizations/store.ts';
import { field, isolate, moment, NO_PROBLEMS } from '../../pages/components.ts';
import { type Html, type HtmlPart, html } from '../../pages/html.ts';
import { type Site, sendPage } from '../../pages/layout.ts';
import { queryOf } from '../../platform/http/parameters.ts';
import { personLink } from '../links.ts';
import { afterOf, forward, items, longItems, onward, PAGE_SIZE, pageOfRows } from '../list.ts';
import { ORGANIZATIONS, organizationAddress, placeIn } from '../organizations/addresses.ts';
import { organizationPage } from '../organizations/frame.ts';
import { type ConsoleServices, type ConsoleVisit, consoleVisitOf } from '../visit.ts';
import { OPERATORS, roleActAddress } from './addresses.ts';
import { operatorsPage } from './frame.ts';

/** Who has which role: in the installation and everywhere, or in one organization. */
export function operatorListRoutes(app: FastifyInstance, services: ConsoleServices): void {
  const { site, clock } = services;
  const { operators: text, organizations } = site.messages.operators;

  app.get(OPERATORS, { config: { permission: 'operators.read' } }, async (request, reply) => {
    const visit = consoleVisitOf(request);
    const after = afterOf(queryOf(request));
    const reach = reachOf(visit.operator, 'operators.read');
    const found = await visit.services.database.read(() => listNamedGrants({ after, limit: PAGE_SIZE + 1 }, reach));
    const { rows, next } = pageOfRows(found);
    const listed = rows.map((grant) => row(site, visit, grant, clock()));
    const more = onward(site, OPERATORS, forward(site, after, next));
    const content = html`<section class="card"><p class="muted small">${text.lead}</p>${longItems(site, listed, text.none)}${more}${giveForm(site, visit, null)}</section>`;
    return sendPage(reply, 200, site, operatorsPage(site, visit, 'roles', content));
  });

  const config = { permission: 'operators.read', objects: { organization: 'id' } } as const;
  app.get<{ Params: { id: string } }>(`${ORGANIZATIONS}/:id/roles`, { config }, async (request, reply) => {
    const visit = consoleVisitOf(request);
    const after = afterOf(queryOf(request));
    const { id } = request.params;
    const { organization, grants } = await visit.services.database.read(function* read() {
      const found = yield* findOrganization({ id });
      if (found === undefined) throw organizationNotFound(id);
      const grants = yield* listNamedGrants({ after, limit: PAGE_SIZE + 1 }, inOrganization(id));
      return { organization: found, grants };
    });
    const { rows, next } = pageOfRows(grants);
    const listed = rows.map((grant) => row(site, visit, grant, clock()));
    const more = onward(site, organizationAddress(id, 'roles'), forward(site, after, next));
    const content = html`<section class="card"><header><h2>${organizations.roles}</h2><p class="muted small">${organizations.rolesLead}</p></header>${items(listed, organizations.noRoles)}${more}${giveForm(site, visit, id)}</section>`;
    return sendPage(reply, 200, site, organizationPage(site, visit, organization, 'roles', content));
  });
}

/** Asks for the person who gets a role, where the operator may give one there. */
function giveForm({ path, messages }: Site, { operator }: ConsoleVisit, organizationId: string | null): HtmlPart {
  const { operators: text } = messages.operators;
  if (!holds(operator, 'operators.manage', placeIn(organizationId))) return undefined;
  return html`<form class="search" method="get" action="${path(`${OPERATORS}/grant`)}">${organizationId !== null && html`<input type="hidden" name="organization" value="${organizationId}">`}${field({ name: 'member', label: text.give, hint: text.giveField, type: 'text', autocomplete: 'off', value: '', problems: NO_PROBLEMS })}<button class="primary" type="submit">${text.giveNext}</button></form>`;
}

function row(site: Site, visit: ConsoleVisit, grant: NamedGrant, now: number): Html {
  const { path, messages } = site;
  const { operators: text, roles } = messages.operators;
  const { accountId, username, displayName, role, organizationId, organization, expiresAt, createdAt } = grant;
  const place = placeIn(organizationId);
  // Nobody takes away what they could not have given.
  const revokes = holds(visit.operator, 'operators.manage', place) && lackingOf(visit.operator, [grant]) === undefined;
  const about = {
    user: accountId,
    held: role,
    ...(organizationId !== null && { organization: organizationId }),
  };
  const when =
    expiresAt === null
      ? createdAt !== null && text.since(moment(createdAt))
      : expiresAt > now
        ? text.until(moment(expiresAt))
        : html`<strong class="state">${text.ended(moment(expiresAt))}</strong>`;
  const where =
    organizationId === null
      ? text.inInstallation
      : text.inOrganization(
          html`<a href="${path(organizationAddress(organizationId))}">${isolate(organization ?? organizationId)}</a>`,
        );
  const name = holds(visit.operator, 'users.read', INSTALLATION)
    ? personLink(site, visit, accountId, isolate(displayName))
    : isolate(displayName);
  return html`<li><div>${name} <span class="small muted">${isolate(username)}</span><br><span class="small"><strong>${roles[role]}</strong> ${where}<span class="muted"> · ${when}</span></span></div>${revokes && html`<a href="${path(roleActAddress('revoke', about))}" aria-label="${text.takeAwayOf(roles[role], username)}">${text.takeAway}</a>`}</li>`;
}
