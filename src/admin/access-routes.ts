import { readAssignedTo } from '../access/schema.ts';
import { appAccessView, assignmentView } from '../access/view.ts';
import { appAccessOf } from '../account-actions/access/app-access.ts';
import { assign, assignmentsOf, changeRole, getAssignment, unassign } from '../account-actions/access/assignments.ts';
import {
  addToGroup,
  createGroup,
  deleteGroup,
  getGroup,
  removeFromGroup,
  updateGroup,
} from '../account-actions/access/groups.ts';
import { openAccount } from '../account-actions/accounts/accounts.ts';
import { findGroupsContaining, listGroups } from '../groups/directory-store.ts';
import { listGroupMembers, listGroupsOfPerson } from '../groups/store.ts';
import { groupMemberView, groupOfPersonView, groupView } from '../groups/view.ts';
import { reachedIn } from '../operators/rights.ts';
import { invalid } from '../platform/failure.ts';
import { previewTokens } from '../protocol/preview/preview.ts';
import { previewView } from '../protocol/preview/schema.ts';
import type { AdminApp } from './admin-app.ts';
import { callerOf } from './guard.ts';
import { readBoundedPage, readPage } from './paging.ts';
import * as access from './route-schemas/access.ts';
import * as groups from './route-schemas/groups.ts';
import { previewTokensSchema } from './route-schemas/preview.ts';

export function groupRoutes(admin: AdminApp): void {
  admin.post('/groups', { schema: groups.createGroupSchema }, async (request, reply) => {
    const { services, origin } = callerOf(request);
    return reply.code(201).send(groupView(await createGroup(services, request.body, origin)));
  });
  admin.get('/groups', { schema: groups.listGroupsSchema }, async (request) => {
    const { q: text, organizationId: asked, ...query } = request.query;
    const { services, reach } = callerOf(request);
    const { database } = services;
    const sought = asked === undefined ? reach : reachedIn(reach, asked);
    if (text !== undefined) {
      return readBoundedPage(
        query,
        (page) => findGroupsContaining(database, { ...page, text, reach: sought }),
        groupView,
      );
    }
    return readPage(query, (page) => database.read(() => listGroups(page, sought)), groupView);
  });
  admin.get('/groups/:id', { schema: groups.readGroupSchema }, async (request) => {
    const { services } = callerOf(request);
    return groupView(await getGroup(services, request.params.id));
  });
  admin.patch('/groups/:id', { schema: groups.updateGroupSchema }, async (request) => {
    const { services, origin } = callerOf(request);
    return groupView(await updateGroup(services, request.params.id, request.body, origin));
  });
  admin.delete('/groups/:id', { schema: groups.deleteGroupSchema }, async (request) => {
    const { services, origin, progress } = callerOf(request);
    return deleteGroup(services, request.params.id, origin, progress);
  });
  admin.get('/groups/:id/members', { schema: groups.listGroupMembersSchema }, async (request) => {
    const { services } = callerOf(request);
    const { id: groupId } = await getGroup(services, request.params.id);
    const { database } = services;
    return readPage(
      request.query,
      (page) => database.read(() => listGroupMembers({ groupId, ...page })),
      groupMemberView,
    );
  });
  const member = '/groups/:id/members/:userId';
  admin.put(member, { schema: groups.addGroupMemberSchema }, async (request, reply) => {
    const { services, origin } = callerOf(request);
    await addToGroup(services, request.params.id, request.params.userId, origin);
    return reply.code(204).send();
  });
  admin.delete(member, { schema: groups.removeGroupMemberSchema }, async (request) => {
    const { services, origin } = callerOf(request);
    return removeFromGroup(services, request.params.id, request.params.userId, origin);
  });
  admin.get('/users/:id/groups', { schema: groups.listGroupsOfUserSchema }, async (request) => {
    const { services, origin } = callerOf(request);
    const { id: accountId } = await openAccount(services, request.params.id, 'groups', origin);
    const { database } = services;
    return readPage(
      request.query,
      (page) => database.read(() => listGroupsOfPerson({ accountId, ...page })),
      groupOfPersonView,
    );
  });
}

export function assignmentRoutes(admin: AdminApp): void {
  admin.post('/clients/:clientId/assignments', { schema: access.createAssignmentSchema }, async (request, reply) => {
    const { services, origin } = callerOf(request);
    const { clientId } = request.params;
    const to = readAssignedTo(request.body);
    if (to === undefined) throw invalid('Name exactly one of userId, groupId and organizationId.');
    const assignment = await assign(services, clientId, to, request.body.role ?? null, origin);
    return reply.code(201).send(assignmentView(assignment));
  });
  admin.get('/clients/:clientId/assignments', { schema: access.listAssignmentsSchema }, async (request) => {
    const { services } = callerOf(request);
    const { clientId } = request.params;
    return readPage(request.query, (page) => assignmentsOf(services, clientId, page), assignmentView);
  });
  const one = '/clients/:clientId/assignments/:id';
  admin.get(one, { schema: access.readAssignmentSchema }, async (request) => {
    const { services } = callerOf(request);
    return assignmentView(await getAssignment(services, request.params.clientId, request.params.id));
  });
  admin.patch(one, { schema: access.updateAssignmentSchema }, async (request) => {
    const { services, origin } = callerOf(request);
    const { clientId, id } = request.params;
    return assignmentView(await changeRole(services, clientId, id, request.body.role, origin));
  });
  admin.delete(one, { schema: access.removeAssignmentSchema }, async (request) => {
    const { services, origin, progress } = callerOf(request);
    return unassign(services, request.params.clientId, request.params.id, origin, progress);
  });
  admin.get('/clients/:clientId/access/:userId', { schema: access.readAppAccessSchema }, async (request) => {
    const { services } = callerOf(request);
    return appAccessView(await appAccessOf(services, request.params.clientId, request.params.userId));
  });
  admin.post('/clients/:clientId/preview', { schema: previewTokensSchema }, async (request) => {
    const { services, origin } = callerOf(request);
    const { clientId } = request.params;
    const { userId: accountId, ...asked } = request.body;
    return previewView(await previewTokens(services, { ...asked, clientId, accountId }, origin));
  });
}
