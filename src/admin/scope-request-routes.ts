import {
  askForScope,
  decideScopeRequest,
  scopeRequestsOf,
  scopeRequestView,
  waitingScopeRequests,
  withdrawScopeRequest,
} from '../account-actions/scope-requests/scope-requests.ts';
import type { Clock } from '../platform/clock.ts';
import type { AdminApp } from './admin-app.ts';
import { callerOf } from './guard.ts';
import { readPage } from './paging.ts';
import * as schemas from './route-schemas/scope-requests.ts';

/** Scopes that developers ask operators for. */
export function scopeRequestRoutes(admin: AdminApp, clock: Clock): void {
  const ofClient = '/clients/:clientId/scope-requests';
  admin.post(ofClient, { schema: schemas.askForScopeSchema }, async (request, reply) => {
    const { services, origin } = callerOf(request);
    const asked = await askForScope(services, request.params.clientId, request.body, origin);
    return reply.code(201).send(scopeRequestView(asked));
  });
  admin.get(ofClient, { schema: schemas.listScopeRequestsSchema }, async (request) => {
    const found = await scopeRequestsOf(callerOf(request).services, request.params.clientId);
    return { items: found.map(scopeRequestView), nextCursor: null };
  });
  admin.delete(`${ofClient}/:id`, { schema: schemas.withdrawScopeRequestSchema }, async (request, reply) => {
    const { services, origin } = callerOf(request);
    await withdrawScopeRequest(services, request.params.clientId, request.params.id, origin);
    return reply.code(204).send();
  });
  admin.post(`${ofClient}/:id/approve`, { schema: schemas.approveScopeSchema }, async (request) => {
    const { services, origin } = callerOf(request);
    const { clientId, id } = request.params;
    const decision = { outcome: 'approved', answer: request.body.answer ?? null } as const;
    return scopeRequestView(await decideScopeRequest(services, clientId, id, decision, origin));
  });
  admin.post(`${ofClient}/:id/decline`, { schema: schemas.declineScopeSchema }, async (request) => {
    const { services, origin } = callerOf(request);
    const { clientId, id } = request.params;
    const decision = { outcome: 'declined', answer: request.body.answer } as const;
    return scopeRequestView(await decideScopeRequest(services, clientId, id, decision, origin));
  });
  admin.get('/scope-requests', { schema: schemas.listWaitingSchema }, async (request) => {
    const { services, reach } = callerOf(request);
    const { policy } = services.developers;
    return readPage(
      request.query,
      (page) => services.database.read(() => waitingScopeRequests(page, reach, { policy, now: clock() })),
      scopeRequestView,
    );
  });
}
