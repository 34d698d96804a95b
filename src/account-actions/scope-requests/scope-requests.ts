import { record } from '../../audit/audit.ts';
import { IDENTITY_SCOPES, isRegisteredScope, SCOPES } from '../../claims/permissions.ts';
import { allowOneScope, lockBoth } from '../../clients/api-scopes.ts';
import { saveClientChange } from '../../clients/change.ts';
import { clientNotFound } from '../../clients/clients.ts';
import type { DeveloperSettings } from '../../clients/developer-settings.ts';
import { requireOwnFields } from '../../clients/own-fields.ts';
import type { AskScopeRequest } from '../../clients/schema.ts';
import {
  findScopeRequest,
  insertScopeRequest,
  listScopeRequests,
  listWaitingRequests,
  type NamedRequest,
  removeScopeRequest,
  type ScopeDecision,
  type ScopeRequest,
  settleScopeRequest,
  type WaitingRequest,
} from '../../clients/scope-request-store.ts';
import { type Client, findClient, findResource, listApiScopes, lockClient } from '../../clients/store.ts';
import type { Mailer } from '../../mail/mail.ts';
import { lacksPermission } from '../../operators/refusal.ts';
import { holds, type Place, type Reach } from '../../operators/rights.ts';
import { type Clock, iso, isoOrNull } from '../../platform/clock.ts';
import type { Database, Work } from '../../platform/database/database.ts';
import { conflict, invalid, notFound } from '../../platform/failure.ts';
import { type Ids, isSnowflake } from '../../platform/ids/ids.ts';
import type { Origin } from '../../platform/validation/origin.ts';
import type { ActingOperator } from '../operators/grants.ts';
import { type AskedAt, endedAmong, mayStillAsk } from './asker.ts';
import { tellAdministrators, tellAsker } from './mails.ts';

interface ScopeRequestServices extends ActingOperator {
  readonly database: Database;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly mail: Mailer;
  readonly issuer: string;
  readonly developers: DeveloperSettings;
}

/** How many requests of an app wait at a time. */
const MOST_WAITING = 10;

/** A request, and whether it has ended because who asked may not manage the app any more. */
export interface ShownScopeRequest extends ScopeRequest {
  readonly isEnded: boolean;
}

const placeOf = ({ organizationId, developerId }: Place): Place => ({ organizationId, developerId });

/** The scopes about a person that an app may request. */
export const scopesAboutPerson = ({ scopes }: Pick<Client, 'scopes'>): readonly string[] => scopes ?? IDENTITY_SCOPES;

/** Those that it may ask operators for. */
export const furtherScopes = ({ scopes }: Pick<Client, 'scopes'>): readonly string[] =>
  SCOPES.filter((scope) => !isRegisteredScope(scope, scopes));

/** A request in the admin API. */
export const scopeRequestView = ({ isEnded, askedAt, outcome, decidedAt, ...request }: ShownScopeRequest) => ({
  id: request.id,
  clientId: request.clientId,
  scope: request.scope,
  resource: request.resource,
  reason: request.reason,
  askedBy: request.askedBy,
  askedAt: iso(askedAt),
  status: outcome ?? (isEnded ? ('ended' as const) : ('waiting' as const)),
  decidedBy: request.decidedBy,
  decidedAt: isoOrNull(decidedAt),
  answer: request.answer,
});

function* requireClient(id: string, find: typeof findClient): Work<Client> {
  const client = isSnowflake(id) ? yield* find({ id }) : undefined;
  if (client === undefined) throw clientNotFound(id);
  return client;
}

/** @throws {Failure} `not found`, or `conflict` for one that an operator decided on before */
function* requireWaiting(clientId: string, id: string): Work<ScopeRequest> {
  const request = isSnowflake(id) ? yield* findScopeRequest({ clientId, id }) : undefined;
  if (request === undefined) throw notFound(`The app ${clientId} has no scope request with the id ${id}.`);
  if (request.outcome !== null) {
    const at = iso(request.decidedAt ?? request.askedAt);
    throw conflict(
      request.outcome === 'ended'
        ? `The request ended at ${at}, when the developer lost the right to manage the app. They can ask again.`
        : `The request was ${request.outcome} before, at ${at}.`,
    );
  }
  return request;
}

/**
 * Asks operators for one more scope of an app. Nothing else changes, and those who may decide are told.
 * @throws {Failure} `invalid` for a scope that does not exist; `conflict` where the app has it, it was asked for, or too many wait
 */
export async function askForScope(
  services: ScopeRequestServices,
  clientId: string,
  { scope, resource = null, reason }: AskScopeRequest,
  origin: Origin,
): Promise<ShownScopeRequest> {
  const { database, clock, ids, operator } = services;
  const now = clock();
  const id = await ids.next();
  return database.commit(function* ask(): Work<ShownScopeRequest> {
    const client = yield* requireClient(clientId, lockClient);
    requireOwnFields(client, { scopes: [] });
    yield* requireLacking(client, scope, resource);
    const waiting = (yield* listScopeRequests({ clientId })).filter(({ outcome }) => outcome === null);
    if (waiting.some((one) => one.scope === scope && one.resource === resource)) {
      throw conflict('This scope was asked for already, and an operator has not decided yet.');
    }
    if (waiting.length >= MOST_WAITING) {
      throw conflict(`${MOST_WAITING} requests of this app wait for an operator. Withdraw one first.`);
    }
    const settled = { outcome: null, decidedBy: null, decidedAt: null, answer: null };
    const asked = { id, clientId, scope, resource, reason, askedBy: operator?.id ?? null, askedAt: now, ...settled };
    yield* insertScopeRequest(asked);
    yield* record({ at: now, type: 'client.scope_requested', origin, clientId, details: detailsOf(asked) });
    yield* tellAdministrators(services, asked, placeOf(client), now);
    return { ...asked, isEnded: false };
  });
}

const detailsOf = ({ id, scope, resource }: ScopeRequest) => ({
  requestId: id,
  scope,
  ...(resource !== null && { resource }),
});

/** What an API declares is none of the developer’s business, and is found out when an operator decides. */
function* requireLacking(client: Client, scope: string, resource: string | null): Work<void> {
  if (resource === null && !SCOPES.includes(scope)) {
    throw invalid(`scope must be one of ${SCOPES.join(', ')}; for a scope of an API, send its resource as well.`);
  }
  const isHeld =
    resource === null
      ? isRegisteredScope(scope, client.scopes)
      : (yield* listApiScopes({ clientId: client.id })).some((one) => one.name === scope && one.resource === resource);
  if (isHeld) throw conflict(`The app may request ${scope} already.`);
}

/** Withdraws a request that waits. @throws {Failure} `not found`, `conflict` for one that was decided on */
export async function withdrawScopeRequest(
  { database, clock }: Pick<ScopeRequestServices, 'database' | 'clock'>,
  clientId: string,
  id: string,
  origin: Origin,
): Promise<void> {
  const now = clock();
  await database.commit(function* withdraw(): Work<void> {
    yield* requireClient(clientId, lockClient);
    const request = yield* requireWaiting(clientId, id);
    yield* removeScopeRequest({ id });
    const details = detailsOf(request);
    yield* record({ at: now, type: 'client.scope_request_withdrawn', origin, clientId, details });
  });
}

interface Decision {
  readonly outcome: ScopeDecision;
  /** Why, for the developer. */
  readonly answer: string | null;
}

/**
 * Decides on a request that waits. An approval lets the app request the scope, in the same commit.
 * @throws {Failure} `not found`, `insufficient permission` for an API that the operator may not change; `conflict` where another operator
 * was first, who asked may not manage the app any more, or there is no such scope by now
 */
export async function decideScopeRequest(
  services: ScopeRequestServices,
  clientId: string,
  id: string,
  { outcome, answer }: Decision,
  origin: Origin,
): Promise<ShownScopeRequest> {
  const { database, clock, ids, operator } = services;
  const now = clock();
  const newId = await ids.next();
  return database.commit(function* decide(): Work<ShownScopeRequest> {
    const named = isSnowflake(id) && isSnowflake(clientId) ? yield* findScopeRequest({ clientId, id }) : undefined;
    const resource = outcome === 'approved' ? (named?.resource ?? null) : null;
    const api = resource === null ? undefined : yield* findResource({ resource });
    const locked = api === undefined || api.id === clientId ? undefined : yield* lockBoth(api.id, clientId);
    const client = locked?.client ?? (yield* requireClient(clientId, lockClient));
    const request = yield* requireWaiting(clientId, id);
    if (outcome === 'approved') yield* approve(services, { client, api: locked?.api, request, newId }, origin, now);
    const decided = { outcome, answer, decidedBy: operator?.id ?? null, decidedAt: now };
    yield* settleScopeRequest({ id, ...decided });
    const type = outcome === 'approved' ? 'client.scope_approved' : 'client.scope_declined';
    yield* record({ at: now, type, origin, clientId, details: detailsOf(request) });
    yield* tellAsker(services, request, outcome, now);
    return { ...request, ...decided, isEnded: false };
  });
}

interface Approved {
  readonly client: Client;
  /** The API whose scope it is, if there is one. */
  readonly api: Client | undefined;
  readonly request: ScopeRequest;
  readonly newId: string;
}

function* approve(
  { operator, developers: { policy } }: ScopeRequestServices,
  { client, api, request, newId }: Approved,
  origin: Origin,
  now: number,
): Work<void> {
  if (!(yield* mayStillAsk(request, placeOf(client), { policy, now }))) {
    throw conflict(
      'The developer who asked for this scope may no longer manage the app. Decline the request, or set the scopes of the app yourself.',
    );
  }
  const { scope, resource } = request;
  const change = { operator, origin, now };
  if (resource === null) {
    if (isRegisteredScope(scope, client.scopes)) return;
    const scopes = SCOPES.filter((name) => name === scope || scopesAboutPerson(client).includes(name));
    requireOwnFields(client, { scopes });
    yield* saveClientChange(client, { ...client, scopes }, change);
    return;
  }
  const place = api && placeOf(api);
  if (api === undefined || place === undefined || (operator && !holds(operator, 'apps.read', place))) {
    throw conflict(
      `There is no API with the resource ${resource}. Decline the request, or have the API registered first.`,
    );
  }
  if (operator && !holds(operator, 'apps.manage', place)) throw lacksPermission('apps.manage');
  if (!api.resourceScopes?.some(({ name }) => name === scope)) {
    throw conflict(
      `The API ${api.name} does not declare the scope ${scope}. Decline the request, or have it declared first.`,
    );
  }
  yield* allowOneScope(api, { clientId: client.id, name: scope, id: newId }, change);
}

/** The requests of an app, the newest first. @throws {Failure} `not found` */
export async function scopeRequestsOf(
  { database, clock, developers: { policy } }: Pick<ScopeRequestServices, 'database' | 'clock' | 'developers'>,
  clientId: string,
): Promise<readonly ShownScopeRequest[]> {
  return database.read(function* list() {
    return yield* readScopeRequests(yield* requireClient(clientId, findClient), { policy, now: clock() });
  });
}

/** {@link scopeRequestsOf} inside a unit of work, with who asked. */
export function* readScopeRequests(
  client: Pick<Client, 'id'> & Place,
  moment: AskedAt,
): Work<readonly (NamedRequest & ShownScopeRequest)[]> {
  const place = placeOf(client);
  const found = yield* listScopeRequests({ clientId: client.id });
  const ended = yield* endedAmong(
    found.map((request) => ({ ...request, place })),
    moment,
  );
  return found.map((request) => ({ ...request, isEnded: ended.has(request.id) }));
}

/** The requests that wait after an id, of all apps that an operator reaches, the oldest first. */
export function* waitingScopeRequests(
  page: { readonly after: string; readonly limit: number },
  reach: Reach,
  moment: AskedAt,
): Work<readonly (WaitingRequest & ShownScopeRequest)[]> {
  const found = yield* listWaitingRequests(page, reach);
  const ended = yield* endedAmong(
    found.map((request) => ({ ...request, place: placeOf(request) })),
    moment,
  );
  return found.map((request) => ({ ...request, isEnded: ended.has(request.id) }));
}
