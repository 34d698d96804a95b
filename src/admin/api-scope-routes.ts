import { allowApiScopes, allowedScopesOf, apiScopesOf, listAllowedClients } from '../clients/api-scopes.ts';
import type { AdminApp } from './admin-app.ts';
import { callerOf } from './guard.ts';
import { readPage } from './paging.ts';
import * as schemas from './route-schemas/api-scopes.ts';

export function apiScopeRoutes(admin: AdminApp): void {
  const one = '/clients/:clientId/allowed-clients/:allowedClientId';
  admin.put(one, { schema: schemas.allowScopesSchema }, async (request) => {
    const { services, origin } = callerOf(request);
    const { clientId: apiId, allowedClientId: clientId } = request.params;
    return allowApiScopes(services, { apiId, clientId, scopes: request.body.scopes }, origin);
  });
  admin.get(one, { schema: schemas.readAllowedScopesSchema }, async (request) => {
    const { clientId: apiId, allowedClientId: clientId } = request.params;
    return allowedScopesOf(callerOf(request).services, apiId, clientId);
  });
  admin.delete(one, { schema: schemas.disallowScopesSchema }, async (request, reply) => {
    const { services, origin } = callerOf(request);
    const { clientId: apiId, allowedClientId: clientId } = request.params;
    await allowApiScopes(services, { apiId, clientId, scopes: [] }, origin);
    return reply.code(204).send();
  });
  admin.get('/clients/:clientId/allowed-clients', { schema: schemas.listAllowedClientsSchema }, async (request) => {
    const { database } = callerOf(request).services;
    return readPage(
      request.query,
      (page) => database.read(() => listAllowedClients(request.params.clientId, page)),
      ({ apiId, clientId, scopes }) => ({ apiId, clientId, scopes }),
    );
  });
  admin.get('/clients/:clientId/api-scopes', { schema: schemas.listApiScopesSchema }, async (request) => {
    const found = await apiScopesOf(callerOf(request).services, request.params.clientId);
    const items = found.map(({ apiId, name, resource, scopes }) => ({ apiId, name, resource, scopes }));
    return { items, nextCursor: null };
  });
}
