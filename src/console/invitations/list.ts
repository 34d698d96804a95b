import type { FastifyInstance } from 'fastify';
import { grantOfMembership } from '../../account-actions/operators/grants.ts';
import { type Invitation, listNewestInvitations } from '../../invitations/store.ts';
import { holds, holdsSomewhere, inOrganization, lackingOf, reachOf } from '../../operators/rights.ts';
import { findOrganization, organizationNotFound } from '../../organizations/store.ts';
import { isolate, moment } from '../../pages/components.ts';
import { type Html, type HtmlPart, html } from '../../pages/html.ts';
import { type Site, sendPage } from '../../pages/layout.ts';
import { readableEmail } from '../../platform/domain-name.ts';
import { queryOf } from '../../platform/http/parameters.ts';
import { consolePage } from '../layout.ts';
import { personLink } from '../links.ts';
import { backward, beforeOf, items, longItems, onward, PAGE_SIZE, pageOfRows } from '../list.ts';
import { ORGANIZATIONS, organizationAddress, placeIn } from '../organizations/addresses.ts';
import { organizationPage } from '../organizations/frame.ts';
import { peopleTabs } from '../people/tabs.ts';
import { type ConsoleServices, type ConsoleVisit, consoleVisitOf } from '../visit.ts';
import { INVITATIONS, invitationActAddress } from './addresses.ts';

/** Who is invited: everywhere that the operator reaches, or to one organization. */
export function invitationListRoutes(app: FastifyInstance, services: ConsoleServices): void {
  const { site, clock } = services;
  const text = site.messages.operators.invitations;

  app.get(INVITATIONS, { config: { permission: 'invitations.read' } }, async (request, reply) => {
    const visit = consoleVisitOf(request);
    const before = beforeOf(queryOf(request));
    const reach = reachOf(visit.operator, 'invitations.read');
    const page = { before, limit: PAGE_SIZE + 1 };
    const { rows, next } = pageOfRows(await visit.services.database.read(() => listNewestInvitations(page, reach)));
    const invites = holds(visit.operator, 'invitations.manage', placeIn(null));
    const listed = rows.map((invitation) => row(site, visit, invitation, clock()));
    const content = html`<header class="with-link"><h1>${site.messages.operators.people.title}</h1>${invites && html`<a class="button" href="${site.path(invitationActAddress('new'))}">${text.invite}</a>`}</header>
${peopleTabs(site, visit, 'invitations')}
<section class="card"><p class="muted small">${text.lead}</p>${longItems(site, listed, text.none)}${onward(site, INVITATIONS, backward(site, before, next))}</section>`;
    return sendPage(reply, 200, site, consolePage(site, visit, { section: 'people', title: text.title, content }));
  });

  const config = { permission: 'invitations.read', objects: { organization: 'id' } } as const;
  app.get<{ Params: { id: string } }>(`${ORGANIZATIONS}/:id/invitations`, { config }, async (request, reply) => {
    const visit = consoleVisitOf(request);
    const before = beforeOf(queryOf(request));
    const { id } = request.params;
    const { organization, invitations } = await visit.services.database.read(function* read() {
      const found = yield* findOrganization({ id });
      if (found === undefined) throw organizationNotFound(id);
      return {
        organization: found,
        invitations: yield* listNewestInvitations({ before, limit: PAGE_SIZE + 1 }, inOrganization(id)),
      };
    });
    const { rows, next } = pageOfRows(invitations);
    const invites = holds(visit.operator, 'invitations.manage', placeIn(id));
    const listed = rows.map((invitation) => row(site, visit, invitation, clock()));
    const more = onward(site, organizationAddress(id, 'invitations'), backward(site, before, next));
    const invite =
      invites &&
      html`<a class="button" href="${site.path(invitationActAddress('new', { organization: id }))}">${text.invite}</a>`;
    const content = html`<section class="card"><header class="with-link"><h2>${text.title}</h2>${invite}</header>${items(listed, text.none)}${more}</section>`;
    return sendPage(reply, 200, site, organizationPage(site, visit, organization, 'invitations', content));
  });
}

function row(site: Site, visit: ConsoleVisit, invitation: Invitation, now: number): Html {
  const { path, messages } = site;
  const { invitations: text } = messages.operators;
  const { id, email, organizationId, role, usedAt, expiresAt } = invitation;
  const isOpen = usedAt === null && expiresAt > now;
  const who = email === null ? text.anyone : isolate(readableEmail(email));
  const seesOrganization = holdsSomewhere(visit.operator, 'organizations.read');
  const figures = html`<span class="figures">${organizationId}</span>`;
  const organization =
    organizationId !== null && seesOrganization
      ? html`<a href="${path(organizationAddress(organizationId))}">${figures}</a>`
      : figures;
  const where = organizationId === null ? text.ofInstallation : text.toOrganization(organization);
  const grant = organizationId === null ? undefined : grantOfMembership(organizationId, role);
  const revokes =
    isOpen &&
    holds(visit.operator, 'invitations.manage', placeIn(organizationId)) &&
    lackingOf(visit.operator, grant === undefined ? [] : [grant]) === undefined;
  return html`<li><div><strong>${who}</strong><br><span class="small">${where}${role !== null && html` ${text.role(text.memberRoles[role])}`}<span class="muted"> · ${stateText(site, visit, invitation, now)}</span></span></div>${revokes && html`<a href="${path(invitationActAddress('revoke', { id }))}" aria-label="${text.revokeOf(email ?? text.anyone)}">${text.revoke}</a>`}</li>`;
}

function stateText(site: Site, visit: ConsoleVisit, invitation: Invitation, now: number): HtmlPart {
  const { invitations: text } = site.messages.operators;
  const { usedAt, usedBy, expiresAt } = invitation;
  if (usedAt !== null) {
    return usedBy === null
      ? text.usedByNobody(moment(usedAt))
      : text.used(moment(usedAt), personLink(site, visit, usedBy));
  }
  return expiresAt > now ? text.until(moment(expiresAt)) : text.ended(moment(expiresAt));
}
