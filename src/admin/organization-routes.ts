import { createInvitation, invitationView, revokeInvitation } from '../account-actions/invitations/invitations.ts';
import { removeMember, setMember } from '../account-actions/makers/memberships.ts';
import { grantView } from '../account-actions/operators/grants.ts';
import {
  createOrganization,
  deleteOrganization,
  getMember,
  getOrganization,
  membershipView,
  organizationView,
  updateOrganization,
} from '../account-actions/organizations/organizations.ts';
import { listInvitations } from '../invitations/store.ts';
import { listOrganizations } from '../organizations/store.ts';
import type { Clock } from '../platform/clock.ts';
import type { AdminApp } from './admin-app.ts';
import { callerOf } from './guard.ts';
import { takenView } from './operator-routes.ts';
import { readPage } from './paging.ts';
import * as invitations from './route-schemas/invitations.ts';
import * as organizations from './route-schemas/organizations.ts';

/** Organizations and their members. */
export function organizationRoutes(admin: AdminApp, clock: Clock): void {
  admin.post('/organizations', { schema: organizations.createOrganizationSchema }, async (request, reply) => {
    const { services, origin } = callerOf(request);
    const organization = await createOrganization(services, request.body, origin);
    return reply.code(201).send(organizationView(organization));
  });
  admin.get('/organizations', { schema: organizations.listOrganizationsSchema }, async (request) => {
    const { services, reach } = callerOf(request);
    const { database } = services;
    return readPage(request.query, (page) => database.read(() => listOrganizations(page, reach)), organizationView);
  });
  admin.get('/organizations/:id', { schema: organizations.readOrganizationSchema }, async (request) => {
    const { services } = callerOf(request);
    const { organization, members } = await getOrganization(services, request.params.id);
    return { ...organizationView(organization), members };
  });
  admin.patch('/organizations/:id', { schema: organizations.updateOrganizationSchema }, async (request) => {
    const { services, origin } = callerOf(request);
    return organizationView(await updateOrganization(services, request.params.id, request.body, origin));
  });
  admin.delete('/organizations/:id', { schema: organizations.deleteOrganizationSchema }, async (request) => {
    const { services, origin, progress } = callerOf(request);
    return deleteOrganization(services, request.params.id, origin, progress);
  });
  const member = '/organizations/:id/members/:userId';
  admin.get(member, { schema: organizations.readMemberSchema }, async (request) => {
    const { services } = callerOf(request);
    const { id: organizationId, userId: accountId } = request.params;
    return membershipView(await getMember(services, { organizationId, accountId }));
  });
  admin.put(member, { schema: organizations.setMemberSchema }, async (request) => {
    const { services, origin } = callerOf(request);
    const { id: organizationId, userId: accountId } = request.params;
    const member = { organizationId, accountId, role: request.body.role ?? null };
    const endMade = request.query.endMade === 'true';
    const made = await setMember(services, member, origin, { endMade });
    return { ...membershipView(member), ...takenView(made, endMade, clock()) };
  });
  admin.delete(member, { schema: organizations.removeMemberSchema }, async (request, reply) => {
    const { services, origin } = callerOf(request);
    const { id, userId } = request.params;
    const endMade = request.query.endMade === 'true';
    const { made, roles } = await removeMember(services, id, userId, origin, { endMade });
    const told = { ...takenView(made, endMade, clock()), ...(roles.length > 0 && { roles: roles.map(grantView) }) };
    return Object.keys(told).length === 0 ? reply.code(204).send() : reply.send(told);
  });
}

/** Invitations, of the installation or to an organization. */
export function adminInvitationRoutes(admin: AdminApp): void {
  admin.post('/invitations', { schema: invitations.createInvitationSchema }, async (request, reply) => {
    const { services, origin } = callerOf(request);
    const { invitation, link } = await createInvitation(services, request.body, origin);
    return reply.code(201).send({ ...invitationView(invitation), ...(link !== undefined && { link }) });
  });
  admin.get('/invitations', { schema: invitations.listInvitationsSchema }, async (request) => {
    const { services, reach } = callerOf(request);
    const { database } = services;
    return readPage(request.query, (page) => database.read(() => listInvitations(page, reach)), invitationView);
  });
  admin.delete('/invitations/:id', { schema: invitations.revokeInvitationSchema }, async (request, reply) => {
    const { services, origin } = callerOf(request);
    await revokeInvitation(services, request.params.id, origin);
    return reply.code(204).send();
  });
}
