import { openAccount } from '../account-actions/accounts/accounts.ts';
import { deleteUpstream, disableUpstream } from '../account-actions/upstreams/end-upstream.ts';
import { readOnlyUpstream, requireUpstream } from '../account-actions/upstreams/only-upstream.ts';
import { previewClaims } from '../account-actions/upstreams/preview.ts';
import { removeIdentityOf } from '../account-actions/upstreams/remove-identity.ts';
import { testUpstream } from '../account-actions/upstreams/test-upstream.ts';
import {
  createUpstream,
  enableUpstream,
  updateUpstream,
  upstreamNotFound,
} from '../account-actions/upstreams/upstreams.ts';
import { listIdentities } from '../upstreams/identity-store.ts';
import { findUpstream, listUpstreams } from '../upstreams/store.ts';
import { identityView, upstreamView } from '../upstreams/view.ts';
import type { AdminApp } from './admin-app.ts';
import { callerOf } from './guard.ts';
import { readPage } from './paging.ts';
import * as schemas from './route-schemas/upstreams.ts';

/** Other providers through which people sign in: decisions §14. */
export function upstreamRoutes(admin: AdminApp): void {
  admin.post('/upstreams', { schema: schemas.createUpstreamSchema }, async (request, reply) => {
    const { services, origin } = callerOf(request);
    const upstream = await createUpstream(services, request.body, origin);
    return reply.code(201).send(upstreamView(upstream, services.issuer));
  });

  admin.get('/upstreams', { schema: schemas.listUpstreamsSchema }, async (request) => {
    const { database, issuer } = callerOf(request).services;
    return readPage(
      request.query,
      (page) => database.read(() => listUpstreams(page)),
      (upstream) => upstreamView(upstream, issuer),
    );
  });

  admin.get('/upstreams/:id', { schema: schemas.readUpstreamSchema }, async (request) => {
    const { database, issuer } = callerOf(request).services;
    const { id } = request.params;
    const found = await database.read(() => findUpstream({ id }));
    if (found === undefined) throw upstreamNotFound(id);
    return upstreamView(found, issuer);
  });

  admin.patch('/upstreams/:id', { schema: schemas.updateUpstreamSchema }, async (request) => {
    const { services, origin } = callerOf(request);
    return upstreamView(await updateUpstream(services, request.params.id, request.body, origin), services.issuer);
  });

  admin.post('/upstreams/:id/disable', { schema: schemas.disableUpstreamSchema }, async (request) => {
    const { services, origin } = callerOf(request);
    const { endSessions = false } = request.body;
    const { upstream, ended } = await disableUpstream(services, request.params.id, { endSessions }, origin);
    return { upstream: upstreamView(upstream, services.issuer), ended };
  });

  admin.post('/upstreams/:id/enable', { schema: schemas.enableUpstreamSchema }, async (request) => {
    const { services, origin } = callerOf(request);
    return upstreamView(await enableUpstream(services, request.params.id, origin), services.issuer);
  });

  admin.post('/upstreams/:id/test', { schema: schemas.testUpstreamSchema }, async (request) => {
    const { services } = callerOf(request);
    return { steps: await testUpstream(services, request.params.id) };
  });

  admin.post('/upstreams/:id/preview', { schema: schemas.previewClaimsSchema }, async (request) =>
    previewClaims(callerOf(request).services, request.params.id, request.body.token),
  );

  const only = '/organizations/:id/only-upstream';
  admin.get(only, { schema: schemas.readOnlyUpstreamSchema }, async (request) => ({
    upstreamId: await readOnlyUpstream(callerOf(request).services.database, request.params.id),
  }));
  admin.put(only, { schema: schemas.requireUpstreamSchema }, async (request) => {
    const { services, origin } = callerOf(request);
    return requireUpstream(services, request.params.id, request.body, origin);
  });

  admin.delete('/upstreams/:id', { schema: schemas.deleteUpstreamSchema }, async (request, reply) => {
    const { services, origin } = callerOf(request);
    await deleteUpstream(services, request.params.id, origin);
    return reply.code(204).send();
  });
}

/** The providers that a person connected: decisions §14. */
export function identityRoutes(admin: AdminApp): void {
  admin.get('/users/:id/identities', { schema: schemas.listIdentitiesSchema }, async (request) => {
    const { services, origin } = callerOf(request);
    const { id: accountId } = await openAccount(services, request.params.id, 'identities', origin);
    const found = await services.database.read(() => listIdentities({ accountId }));
    return { items: found.map(identityView), nextCursor: null };
  });

  admin.delete('/users/:id/identities/:identityId', { schema: schemas.removeIdentitySchema }, async (request) => {
    const { services, origin } = callerOf(request);
    const { id, identityId } = request.params;
    const removed = await removeIdentityOf(services, id, identityId, origin);
    return { removed: removed !== undefined, ended: { sessions: removed?.sessions ?? 0 } };
  });
}
