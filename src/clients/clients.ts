import { record } from '../audit/audit.ts';
import { type JwkSet, readRegisteredSet } from '../keys/rules/jwks.ts';
import type { Operator, Reach } from '../operators/rights.ts';
import { findOrganization, organizationNotFound } from '../organizations/store.ts';
import type { Picture } from '../pictures/pictures.ts';
import { replacePicture } from '../pictures/store.ts';
import { type Clock, DAY, SECOND } from '../platform/clock.ts';
import { randomIdentifier, randomSecret } from '../platform/crypto/secrets.ts';
import type { Database, Work } from '../platform/database/database.ts';
import { canonicalEmail } from '../platform/domain-name.ts';
import { conflict, type Failure, invalid, noneWithId, notFound } from '../platform/failure.ts';
import { type Ids, isSnowflake } from '../platform/ids/ids.ts';
import { initialValues } from '../platform/validation/fields.ts';
import type { Origin } from '../platform/validation/origin.ts';
import { type ClientActor, recordClientAct } from './act-store.ts';
import { changedFields, clientProblem, giveUpAlgorithms, requireUniqueResource, saveClientChange } from './change.ts';
import { requireMayDecide, takeOverDisabling } from './decided-fields.ts';
import { answeredFor, developed, orderWithBlocking, type Registrar, requireOwnScopes } from './developer-apps.ts';
import { CLIENT_FIELDS, type ClientType } from './fields.ts';
import { withoutFormerEndpoints } from './former-endpoints.ts';
import { requireOwnFields } from './own-fields.ts';
import { isOwnResource } from './resources.ts';
import { redirectUriProblem } from './rules/redirect-uri.ts';
import { presentsSecret } from './rules/registration.ts';
import { markFor } from './rules/resource-mark.ts';
import type { CreateClientRequest, RotateSecretRequest, UpdateClientRequest } from './schema.ts';
import { endSecretNow, issueSecret } from './secrets.ts';
import type { Client, ClientSecret } from './store.ts';
import * as store from './store.ts';

interface ClientsContext {
  readonly database: Database;
  readonly clock: Clock;
}

interface RegistrationContext extends ClientsContext {
  readonly issuer: string;
  /** Who acts; undefined for the command line on the server. */
  readonly operator: Operator | undefined;
}

/** A client and its secrets that are valid, oldest first. */
export interface ClientWithSecrets {
  readonly client: Client;
  readonly secrets: readonly ClientSecret[];
}

/** How long the previous secret stays valid after a rotation, unless the request says. */
const DEFAULT_OVERLAP = DAY;

export const clientNotFound = (id: string): Failure =>
  noneWithId('client', id, { command: 'client list', path: 'clients' });

/** How a client that an operator registers was registered. */
export const REGISTERED_BY_OPERATOR = {
  narrowed: null,
  registeredBy: null,
  acceptedAt: null,
  metadataUrl: null,
  metadataHost: null,
  metadataExpiresAt: null,
  registrationHash: null,
  initialTokenId: null,
  unusedUntil: null,
} as const;

/** 256 random bits, with a prefix for secret scanners. */
export const newSecret = (): string => `tcs_${randomSecret()}`;

function checkRedirectUris(field: string, uris: readonly string[] | undefined, type: ClientType): void {
  for (const [index, uri] of (uris ?? []).entries()) {
    const problem = redirectUriProblem(uri, type);
    if (problem !== undefined) throw invalid(`${field}[${index}] must ${problem}.`);
  }
}

/** The public parameters of a key set, which are all that is stored of it. */
function registeredKeySet(jwks: JwkSet): JwkSet {
  const reading = readRegisteredSet(jwks, 'jwks');
  if ('problem' in reading) throw invalid(`${reading.problem}.`);
  return reading.set;
}

/** The given fields, each of them valid by itself. @throws {Failure} `invalid` naming the field */
function checkedFields<Fields extends UpdateClientRequest>(sent: Fields, type: ClientType): Omit<Fields, 'faces'> {
  const given = withoutFormerEndpoints(sent);
  checkRedirectUris('redirectUris', given.redirectUris, type);
  checkRedirectUris('postLogoutRedirectUris', given.postLogoutRedirectUris, type);
  return {
    ...given,
    ...(given.contacts !== undefined && { contacts: given.contacts.map(canonicalEmail) }),
    ...(given.jwks != null && { jwks: registeredKeySet(given.jwks) }),
  };
}

/** @throws {Failure} `invalid` where the resource is below the issuer: only this service's own are there */
function rejectOwnResource({ resource }: Pick<Client, 'resource'>, issuer: string): void {
  if (resource === null || !isOwnResource(resource, issuer)) return;
  throw invalid(`resource must not be at ${issuer}: that is this service's own address.`);
}

/** The checks of a whole registration. @throws {Failure} `invalid` naming a field and the remedy */
function checkRegistration(client: Client): void {
  const problem = clientProblem(client);
  if (problem !== undefined) throw invalid(problem);
}

/**
 * Registers a client.
 * @param options.alsoCommit further work of the same commit
 * @returns the client, and its secret, which cannot be read again; undefined for a client that has none
 * @throws {Failure} `invalid` naming the field, `conflict` where the resource is taken
 */
export async function createClient(
  context: Omit<RegistrationContext, 'operator'> & Registrar & { readonly ids: Ids },
  { organizationId = null, ...input }: CreateClientRequest,
  origin: Origin,
  { alsoCommit }: { readonly alsoCommit?: (client: Client, clientSecret: string) => Work<void> } = {},
): Promise<ClientWithSecrets & { readonly clientSecret?: string }> {
  const { database, clock, ids, issuer, operator } = context;
  const fields = checkedFields(input, input.type ?? 'confidential');
  const now = clock();
  const registered: Client = {
    id: await ids.next(),
    ...initialValues(CLIENT_FIELDS, fields),
    picture: null,
    organizationId,
    developerId: null,
    consentApproval: null,
    resourceMark: null,
    leftOut: null,
    ...REGISTERED_BY_OPERATOR,
    status: 'active',
    generation: randomIdentifier(),
    consentEpoch: randomIdentifier(),
    createdAt: now,
    updatedAt: now,
  };
  checkRegistration(registered);
  rejectOwnResource(registered, issuer);
  const hasSecret = presentsSecret(registered);
  const clientSecret = newSecret();
  const secretId = await ids.next();
  const created = await database.commit(function* create(): Work<ClientWithSecrets> {
    // By what the operator holds now: the admission has just read it.
    const named = input.scopes !== undefined;
    yield* orderWithBlocking(operator, now);
    const developer = yield* developed(context, registered, { named, origin, now });
    const client = { ...developer, resourceMark: markFor(developer, undefined) };
    if (organizationId !== null && (yield* findOrganization({ id: organizationId })) === undefined) {
      throw organizationNotFound(organizationId);
    }
    yield* requireUniqueResource(client, { operator, origin, now });
    yield* store.insertClient(client);
    if (hasSecret) yield* issueSecret(client.id, { id: secretId, text: clientSecret }, now);
    yield* recordClientAct({ operator }, client.id, { kind: 'registered' }, now);
    const { registeredBy } = client;
    const details = registeredBy === null ? {} : { details: { registeredBy } };
    yield* record({ at: now, type: 'client.created', origin, clientId: client.id, ...details });
    if (alsoCommit !== undefined) yield* alsoCommit(client, clientSecret);
    return { client, secrets: yield* store.liveSecrets({ clientId: client.id, now }) };
  });
  return { ...created, ...(hasSecret && { clientSecret }) };
}

/**
 * Changes a client. Disabling it, or changing who may use it, invalidates its codes and tokens for good; a new redirect URI or owner requires new consent.
 * @param change the new values, or a function that derives them from the client under its lock
 * @throws {Failure} `not found`, `invalid`, `conflict`, `insufficient permission`
 */
export async function updateClient(
  { database, clock, issuer, operator }: RegistrationContext,
  id: string,
  change: UpdateClientRequest | ((client: Client) => UpdateClientRequest),
  origin: Origin,
): Promise<ClientWithSecrets> {
  const now = clock();
  return database.commit(function* update(): Work<ClientWithSecrets> {
    yield* orderWithBlocking(operator, now);
    const client = yield* store.lockClient({ id });
    if (client === undefined) throw clientNotFound(id);
    const given = typeof change === 'function' ? change(client) : change;
    requireOwnFields(client, given);
    const changed: Client = { ...client, ...checkedFields(given, client.type) };
    // One that was disabled because nothing whole was left of it is mended step by step.
    if (changed.status === 'active' || clientProblem(client) === undefined) checkRegistration(changed);
    if (changed.resource !== client.resource) rejectOwnResource(changed, issuer);
    yield* requireMayDecide(operator, client, changed);
    requireOwnScopes(operator, client, changed);
    const answered = yield* answeredFor(operator, client, changed);
    const saved = yield* saveClientChange(client, answered, { operator, origin, now });
    if (given.status === 'disabled' && client.status === 'disabled') {
      yield* takeOverDisabling(operator, client, origin, now);
    }
    return { client: saved, secrets: yield* store.liveSecrets({ clientId: id, now }) };
  });
}

/** Sets or replaces a client's picture; null removes it, and its initials are shown. @throws {Failure} `not found` */
export async function setClientPicture(
  { database, clock, operator }: Omit<RegistrationContext, 'issuer'>,
  id: string,
  picture: Picture | null,
  origin: Origin,
): Promise<ClientWithSecrets> {
  const now = clock();
  return database.commit(function* set(): Work<ClientWithSecrets> {
    const client = yield* store.lockClient({ id });
    if (client === undefined) throw clientNotFound(id);
    const secrets = yield* store.liveSecrets({ clientId: id, now });
    const name = picture?.name ?? null;
    if (name === client.picture) return { client, secrets };
    const saved = { ...(yield* answeredFor(operator, client, { ...client, picture: name })), updatedAt: now };
    yield* store.saveClient(saved);
    yield* replacePicture({ clientId: id }, picture);
    const details = { fields: changedFields(client, { ...saved, updatedAt: client.updatedAt }) };
    yield* record({ at: now, type: 'client.updated', origin, clientId: id, details });
    return { client: saved, secrets };
  });
}

/** Deletes a client with its secrets, codes, tokens and consents. @throws {Failure} `not found` */
export async function deleteClient({ database, clock }: ClientsContext, id: string, origin: Origin): Promise<void> {
  await database.commit(function* remove() {
    const client = yield* store.lockClient({ id });
    if (client === undefined) throw clientNotFound(id);
    const now = clock();
    yield* store.removeClient({ id });
    yield* giveUpAlgorithms(client, undefined, now);
    yield* record({ at: now, type: 'client.deleted', origin, clientId: id });
  });
}

/**
 * Adds a secret to a client. The previous one stays valid for a day or as long as requested; at most two are valid at a time.
 * Codes and tokens are not affected.
 * @returns the new secret, which cannot be read again
 * @throws {Failure} `not found`, `conflict` for a client that has no secret
 */
export async function rotateSecret(
  { database, clock, ids, operator }: ClientsContext & ClientActor & { readonly ids: Ids },
  clientId: string,
  input: RotateSecretRequest,
  origin: Origin,
): Promise<{ secret: ClientSecret; secrets: readonly ClientSecret[]; clientSecret: string }> {
  const now = clock();
  const clientSecret = newSecret();
  const id = await ids.next();
  const overlap = input.expirePreviousIn === undefined ? DEFAULT_OVERLAP : input.expirePreviousIn * SECOND;
  return database.commit(function* rotate() {
    const client = yield* store.lockClient({ id: clientId });
    if (client === undefined) throw clientNotFound(clientId);
    if (client.type === 'public')
      throw conflict(
        'A public client has no secret. It sends client_id alone, with PKCE. For an app with a secret, register another with type confidential.',
      );
    if (!presentsSecret(client)) {
      throw conflict(
        'This client authenticates with its key (private_key_jwt) and has no secret. To give it one, set tokenEndpointAuthMethod to client_secret_basic first.',
      );
    }
    const earlier = yield* store.liveSecrets({ clientId, now });
    const previous = earlier.at(-1);
    for (const secret of earlier) {
      const overlapEnd = Math.min(now + overlap, secret.expiresAt ?? Number.MAX_SAFE_INTEGER);
      const expiresAt = secret === previous ? overlapEnd : now;
      if (expiresAt > now) yield* store.expireSecret({ id: secret.id, at: expiresAt });
      else yield* endSecretNow(clientId, secret.id, now, origin);
    }
    yield* issueSecret(clientId, { id, text: clientSecret }, now);
    yield* recordClientAct({ operator }, clientId, { kind: 'secret', secretId: id }, now);
    yield* record({ at: now, type: 'client.secret_added', origin, clientId, details: { secretId: id } });
    const secrets = yield* store.liveSecrets({ clientId, now });
    const secret = secrets.find((candidate) => candidate.id === id);
    if (secret === undefined) throw new Error('the new secret was not stored');
    return { secret, secrets, clientSecret };
  });
}

/**
 * Ends a client's secret at once.
 * @throws {Failure} `not found`, `conflict` for the only secret of a client
 */
export async function endSecret(
  { database, clock }: ClientsContext,
  clientId: string,
  id: string,
  origin: Origin,
): Promise<void> {
  const now = clock();
  await database.commit(function* end() {
    if ((yield* store.lockClient({ id: clientId })) === undefined) throw clientNotFound(clientId);
    const live = yield* store.liveSecrets({ clientId, now });
    if (!live.some((secret) => secret.id === id)) throw notFound(`The client has no secret with the id ${id}.`);
    if (live.length === 1) throw conflict('This is the only secret of the client. Add another one first.');
    yield* endSecretNow(clientId, id, now, origin);
  });
}

/** Clients after an id, in the order of their ids, each with its valid secrets. */
export function* listClientsWithSecrets(
  page: { readonly after: string; readonly limit: number },
  now: number,
  reach: Reach,
): Work<readonly (ClientWithSecrets & { readonly id: string })[]> {
  const listed = [];
  for (const client of yield* store.listClients(page, reach)) {
    listed.push({ id: client.id, client, secrets: yield* store.liveSecrets({ clientId: client.id, now }) });
  }
  return listed;
}

/** @throws {Failure} `not found` */
export const getClient = ({ database, clock }: ClientsContext, id: string): Promise<ClientWithSecrets> =>
  database.read(() => readRegistered(id, clock()));

/** {@link getClient} inside a unit of work. */
export function* readRegistered(id: string, now: number): Work<ClientWithSecrets> {
  return { client: yield* readClientRecord(id), secrets: yield* store.liveSecrets({ clientId: id, now }) };
}

/** A registered client, without its secrets. @throws {Failure} `not found` */
export function* readClientRecord(id: string): Work<Client> {
  const client = isSnowflake(id) ? yield* store.findClient({ id }) : undefined;
  if (client === undefined) throw clientNotFound(id);
  return client;
}
