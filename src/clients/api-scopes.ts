import { record } from '../audit/audit.ts';
import type { Clock } from '../platform/clock.ts';
import type { Database, Work } from '../platform/database/database.ts';
import { invalid, notFound } from '../platform/failure.ts';
import { type Ids, isSnowflake } from '../platform/ids/ids.ts';
import type { Origin } from '../platform/validation/origin.ts';
import * as scopes from './api-scope-store.ts';
import { clientNotFound } from './clients.ts';
import { type Client, findClient, listApiScopes, lockClient } from './store.ts';

interface ApiScopesContext {
  readonly database: Database;
  readonly clock: Clock;
}

/** Which scopes of an API a client may request. */
export interface AllowedScopes {
  readonly apiId: string;
  readonly clientId: string;
  readonly scopes: readonly string[];
}

/** Both clients, locked in one order, so that two changes never wait for each other. */
function* lockBoth(apiId: string, clientId: string): Work<{ readonly api: Client; readonly client: Client }> {
  const found = new Map<string, Client>();
  for (const id of [apiId, clientId].sort()) {
    const client = isSnowflake(id) ? yield* lockClient({ id }) : undefined;
    if (client === undefined) throw clientNotFound(id);
    found.set(id, client);
  }
  const [api, client] = [found.get(apiId), found.get(clientId)];
  if (api === undefined || client === undefined) throw clientNotFound(clientId);
  return { api, client };
}

/**
 * Sets which scopes of an API a client may request: the consent of the API. What is taken away ends in every grant, code and token of the
 * client at once, and for good.
 * @throws {Failure} `not found`, `invalid` for a scope that the API does not declare
 */
export async function allowApiScopes(
  { database, clock, ids }: ApiScopesContext & { readonly ids: Ids },
  { apiId, clientId, scopes: wanted }: AllowedScopes,
  origin: Origin,
): Promise<AllowedScopes> {
  const now = clock();
  const newIds = new Map<string, string>();
  for (const name of wanted) newIds.set(name, await ids.next());
  return database.commit(function* allow(): Work<AllowedScopes> {
    const { api } = yield* lockBoth(apiId, clientId);
    if (apiId === clientId) throw invalid('An API needs no scopes at itself: name another client.');
    requireDeclared(api, wanted);
    const before = yield* scopes.listScopesAt({ clientId, apiId });
    const added = wanted.filter((name) => !before.some((scope) => scope.name === name));
    const removed = before.filter(({ name }) => !wanted.includes(name));
    for (const { id } of removed) yield* scopes.removeApiScope({ id });
    for (const name of added) {
      yield* scopes.insertApiScope({ id: newIds.get(name) ?? '', clientId, apiId, name, now });
    }
    if (added.length + removed.length > 0) {
      const details = { apiId, added, removed: removed.map(({ name }) => name) };
      yield* record({ at: now, type: 'client.api_scopes_changed', origin, clientId, details });
    }
    return { apiId, clientId, scopes: [...wanted].sort() };
  });
}

function requireDeclared({ resourceScopes, name }: Client, wanted: readonly string[]): void {
  const declared = (resourceScopes ?? []).map((scope) => scope.name);
  const unknown = wanted.find((scope) => !declared.includes(scope));
  if (unknown === undefined) return;
  const list = declared.length === 0 ? 'it declares none' : `it declares ${declared.join(', ')}`;
  throw invalid(`scopes must be scopes that ${name} declares (${list}); got ${unknown}.`);
}

/** The scopes of an API that a client may request. @throws {Failure} `not found` where the API lets it request none */
export async function allowedScopesOf(
  { database }: Pick<ApiScopesContext, 'database'>,
  apiId: string,
  clientId: string,
): Promise<AllowedScopes> {
  const found = await database.read(() => scopes.listScopesAt({ apiId, clientId }));
  if (found.length === 0) throw notFound(`The client ${clientId} may request no scopes of the API ${apiId}.`);
  return { apiId, clientId, scopes: found.map(({ name }) => name) };
}

/** The clients after an id that may request scopes of an API, in the order of their ids. @throws {Failure} `not found` */
export function* listAllowedClients(
  apiId: string,
  page: { readonly after: string; readonly limit: number },
): Work<readonly (AllowedScopes & { readonly id: string })[]> {
  yield* requireClient(apiId);
  const found = [];
  for (const clientId of yield* scopes.listClientsOfApi({ apiId, ...page })) {
    const names = (yield* scopes.listScopesAt({ apiId, clientId })).map(({ name }) => name);
    found.push({ id: clientId, apiId, clientId, scopes: names });
  }
  return found;
}

/** The scopes of APIs that a client may request, by API. @throws {Failure} `not found` */
export async function apiScopesOf(
  { database }: Pick<ApiScopesContext, 'database'>,
  clientId: string,
): Promise<readonly (AllowedScopes & { readonly name: string; readonly resource: string })[]> {
  return database.read(function* list() {
    yield* requireClient(clientId);
    const registered = yield* listApiScopes({ clientId });
    const found = [];
    for (const apiId of new Set(registered.map((scope) => scope.apiId))) {
      const api = yield* findClient({ id: apiId });
      if (api === undefined) continue;
      const names = registered.filter((scope) => scope.apiId === apiId).map(({ name }) => name);
      found.push({ apiId, clientId, name: api.name, resource: api.resource ?? '', scopes: names });
    }
    return found;
  });
}

function* requireClient(id: string): Work<Client> {
  const client = isSnowflake(id) ? yield* findClient({ id }) : undefined;
  if (client === undefined) throw clientNotFound(id);
  return client;
}
