import { acceptClient } from '../clients/acceptance.ts';
import { blockDomain, listBlockedDomains, unblockDomain } from '../clients/blocked-domains.ts';
import { listInitialTokens } from '../clients/initial-access-token-store.ts';
import { createInitialToken, initialTokenView, revokeInitialToken } from '../clients/initial-access-tokens.ts';
import { endSelfRegistration } from '../clients/self-registration.ts';
import { listUnregistered } from '../clients/store.ts';
import { blockedDomainView, clientView, unregisteredView } from '../clients/view.ts';
import type { Clock } from '../platform/clock.ts';
import type { AdminApp } from './admin-app.ts';
import { callerOf } from './guard.ts';
import { readPage } from './paging.ts';
import * as schemas from './route-schemas/unregistered.ts';

/** Apps that no operator registered, and the domains of their metadata documents: decisions §15. */
export function unregisteredRoutes(admin: AdminApp, clock: Clock): void {
  admin.get('/unregistered-clients', { schema: schemas.listUnregisteredSchema }, async (request) => {
    const { database } = callerOf(request).services;
    return readPage(request.query, (page) => database.read(() => listUnregistered(page)), unregisteredView);
  });
  const acceptance = '/clients/:clientId/acceptance';
  admin.put(acceptance, { schema: schemas.acceptClientSchema }, async (request) => {
    const { services, origin } = callerOf(request);
    return clientView(await acceptClient(services, request.params.clientId, true, origin));
  });
  admin.delete(acceptance, { schema: schemas.endAcceptanceSchema }, async (request, reply) => {
    const { services, origin } = callerOf(request);
    await acceptClient(services, request.params.clientId, false, origin);
    return reply.code(204).send();
  });
  const selfRegistration = '/clients/:clientId/self-registration';
  admin.delete(selfRegistration, { schema: schemas.endSelfRegistrationSchema }, async (request, reply) => {
    const { services, origin } = callerOf(request);
    await endSelfRegistration(services, request.params.clientId, origin);
    return reply.code(204).send();
  });
  admin.post('/initial-access-tokens', { schema: schemas.createInitialTokenSchema }, async (request, reply) => {
    const { services, origin } = callerOf(request);
    const { token, initialAccessToken } = await createInitialToken(services, request.body, origin);
    return reply.code(201).send({ ...initialTokenView(token, clock()), initialAccessToken });
  });
  admin.get('/initial-access-tokens', { schema: schemas.listInitialTokensSchema }, async (request) => {
    const { database } = callerOf(request).services;
    return readPage(
      request.query,
      (page) => database.read(() => listInitialTokens(page)),
      (token) => initialTokenView(token, clock()),
    );
  });
  admin.delete('/initial-access-tokens/:id', { schema: schemas.revokeInitialTokenSchema }, async (request) => {
    const { services, origin } = callerOf(request);
    const endApps = request.query.endApps === 'true';
    const clientIds = await revokeInitialToken(services, request.params.id, origin, { endApps });
    return { clientIds, appsEnded: endApps };
  });
  admin.get('/blocked-domains', { schema: schemas.listBlockedDomainsSchema }, async (request) => {
    const blocked = await callerOf(request).services.database.read(listBlockedDomains);
    return { items: blocked.map(blockedDomainView), nextCursor: null };
  });
  admin.put('/blocked-domains/:domain', { schema: schemas.blockDomainSchema }, async (request) => {
    const { services, origin } = callerOf(request);
    return blockedDomainView(await blockDomain(services, request.params.domain, origin));
  });
  admin.delete('/blocked-domains/:domain', { schema: schemas.unblockDomainSchema }, async (request, reply) => {
    const { services, origin } = callerOf(request);
    await unblockDomain(services, request.params.domain, origin);
    return reply.code(204).send();
  });
}
