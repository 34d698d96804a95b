import { record } from '../audit/audit.ts';
import { keepSettingChange } from '../operators/setting-store.ts';
import type { Clock } from '../platform/clock.ts';
import type { Database, Work } from '../platform/database/database.ts';
import { invalid, notFound } from '../platform/failure.ts';
import { type Ids, isSnowflake } from '../platform/ids/ids.ts';
import { changeOf } from '../platform/kept-changes.ts';
import type { SettingTable } from '../platform/settings.ts';
import { added } from '../platform/undo.ts';
import type { Origin } from '../platform/validation/origin.ts';
import * as scopes from './api-scope-store.ts';
import type { ClientChange } from './change.ts';
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

/** What an API lets others request, as a setting of the API: by client, in the order of the names. */
export interface SettingOfApi {
  readonly allowedScopes: Readonly<Record<string, readonly string[]>>;
}

/** How a change of it is undone. */
export const SETTINGS_OF_API = { allowedScopes: added } as const satisfies SettingTable<SettingOfApi>;

/** Both clients, locked in one order, so that two changes never wait for each other. */
export function* lockBoth(apiId: string, clientId: string): Work<{ readonly api: Client; readonly client: Client }> {
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
  { database, clock, ids, operator }: ApiScopesContext & Pick<ClientChange, 'operator'> & { readonly ids: Ids },
  { apiId, clientId, scopes: wanted }: AllowedScopes,
  origin: Origin,
): Promise<AllowedScopes> {
  const now = clock();
  const newIds = new Map<string, string>();
  for (const name of wanted) newIds.set(name, await ids.next());
  return database.commit(function* allow(): Work<AllowedScopes> {
    const { api } = yield* lockBoth(apiId, clientId);
    if (apiId === clientId) throw invalid('An API needs no scopes at itself: name another client.');
    return yield* setAllowedScopes(api, { clientId, wanted, newIds }, { operator, origin, now });
  });
}

interface WantedScopes {
  readonly clientId: string;
  readonly wanted: readonly string[];
  /** The id of each that is new, by its name. */
  readonly newIds: ReadonlyMap<string, string>;
}

/** Sets which scopes of an API a client may request, in a unit of work that has locked both. @throws {Failure} `invalid` */
function* setAllowedScopes(
  api: Client,
  { clientId, wanted, newIds }: WantedScopes,
  { operator, origin, now }: ClientChange,
): Work<AllowedScopes> {
  const apiId = api.id;
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
    const names = before.map(({ name }) => name);
    const kept = changeOf(allowedTo(clientId, names), allowedTo(clientId, [...wanted].sort()), ['allowedScopes'], now);
    yield* keepSettingChange({ operator }, { kind: 'app', id: apiId }, kept, SETTINGS_OF_API);
    yield* record({ at: now, type: 'client.api_scopes_changed', origin, clientId, details });
  }
  return allowedView(apiId, clientId, wanted);
}

/**
 * Lets a client request one more scope of an API, in a unit of work that has locked both.
 * @param id of the row that this adds
 * @throws {Failure} `invalid` for a scope that the API does not declare
 */
export function* allowOneScope(
  api: Client,
  { clientId, name, id }: { readonly clientId: string; readonly name: string; readonly id: string },
  change: ClientChange,
): Work<void> {
  const before = (yield* scopes.listScopesAt({ clientId, apiId: api.id })).map((scope) => scope.name);
  const wanted = [...new Set([...before, name])];
  yield* setAllowedScopes(api, { clientId, wanted, newIds: new Map([[name, id]]) }, change);
}

const allowedView = (apiId: string, clientId: string, names: readonly string[]): AllowedScopes => ({
  ...{ apiId, clientId },
  scopes: [...names].sort(),
});

/** Which scopes of an API a client may request, locked against changes until the unit of work ends; undefined for none. */
export function* lockAllowedScopes(apiId: string, clientId: string): Work<AllowedScopes | undefined> {
  yield* lockBoth(apiId, clientId);
  const found = yield* scopes.listScopesAt({ apiId, clientId });
  return found.length === 0 ? undefined : allowedView(apiId, clientId, nameOfEach(found));
}

const nameOfEach = (found: readonly { readonly name: string }[]): readonly string[] => found.map(({ name }) => name);

const allowedTo = (clientId: string, names: readonly string[]): SettingOfApi => ({
  allowedScopes: { [clientId]: names },
});

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
  return allowedView(apiId, clientId, nameOfEach(found));
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
