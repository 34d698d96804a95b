import { isDeepStrictEqual } from 'node:util';
import { isRoleAssigned } from '../access/store.ts';
import { type EventType, record } from '../audit/audit.ts';
import { type IdTokenAlg, OPTIONAL_ALGS } from '../keys/algorithms.ts';
import { type JwkSet, readRegisteredSet } from '../keys/rules/jwks.ts';
import { giveUpAlgorithm } from '../keys/store.ts';
import type { Operator, Within } from '../operators/rights.ts';
import { findOrganization, organizationNotFound } from '../organizations/store.ts';
import type { Picture } from '../pictures/pictures.ts';
import { replacePicture } from '../pictures/store.ts';
import { type Clock, DAY, SECOND } from '../platform/clock.ts';
import { digest, randomIdentifier, randomSecret } from '../platform/crypto/secrets.ts';
import type { Database, Work } from '../platform/database/database.ts';
import { canonicalEmail } from '../platform/domain-name.ts';
import { conflict, type Failure, invalid, noneWithId, notFound } from '../platform/failure.ts';
import { type Ids, isSnowflake } from '../platform/ids/ids.ts';
import { initialValues } from '../platform/validation/fields.ts';
import type { Origin } from '../platform/validation/origin.ts';
import { type ClientActor, recordClientAct, recordStatusAct } from './act-store.ts';
import { removeScopeOfApi } from './api-scope-store.ts';
import { requireMayDecide } from './decided-fields.ts';
import { CLIENT_FIELDS, type ClientType } from './fields.ts';
import { withoutFormerEndpoints } from './former-endpoints.ts';
import { requireOwnFields } from './own-fields.ts';
import { needsNewApproval, needsNewConsent, showsMoreGroups } from './rules/consent-approval.ts';
import { redirectUriProblem, serverUriProblem } from './rules/redirect-uri.ts';
import { presentsSecret, registrationProblem } from './rules/registration.ts';
import type { CreateClientRequest, RotateSecretRequest, UpdateClientRequest } from './schema.ts';
import type { Client, ClientSecret } from './store.ts';
import * as store from './store.ts';

interface ClientsContext {
  readonly database: Database;
  readonly clock: Clock;
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

/** The checks of a whole registration. @throws {Failure} `invalid` naming a field and the remedy */
function checkRegistration(client: Client): void {
  const problem = registrationProblem(client) ?? backchannelLogoutProblem(client);
  if (problem !== undefined) throw invalid(problem);
}

/** Decisions §1: logout tokens are signed with a key of the key set, because only a hash of the secret is stored. */
function backchannelLogoutProblem({ backchannelLogoutUri, idTokenSignedResponseAlg }: Client): string | undefined {
  if (backchannelLogoutUri === null) return undefined;
  // OpenID Connect Back-Channel Logout 1.0 §2.2: an absolute URI without a fragment.
  const problem = serverUriProblem(backchannelLogoutUri);
  if (problem !== undefined) return `backchannelLogoutUri must ${problem}.`;
  if (idTokenSignedResponseAlg !== 'HS256') return undefined;
  return (
    'idTokenSignedResponseAlg must be RS256, ES256 or EdDSA for a client with a backchannelLogoutUri, or left out: ' +
    'a logout token cannot be signed with its secret.'
  );
}

type Algorithms = Pick<Client, 'idTokenSignedResponseAlg' | 'userinfoSignedResponseAlg'>;

const registeredAlgorithms = (client: Algorithms | undefined): readonly (IdTokenAlg | null)[] =>
  client === undefined ? [] : [client.idTokenSignedResponseAlg, client.userinfoSignedResponseAlg];

/** Part of the unit of work that changes or deletes a client: notes the algorithms that it uses no more. */
export function* giveUpAlgorithms(before: Algorithms, after: Algorithms | undefined, now: number): Work<void> {
  const kept = registeredAlgorithms(after);
  const given = registeredAlgorithms(before).filter((alg) => !kept.includes(alg));
  for (const alg of OPTIONAL_ALGS) if (given.includes(alg)) yield* giveUpAlgorithm({ alg, now });
}

/** A resource server introspects the tokens of its `resource`, so no other may have the same. @throws {Failure} `conflict` */
function* requireUniqueResource({ id, resource }: Client): Work<void> {
  const other = resource === null ? undefined : yield* store.findResource({ resource });
  if (other !== undefined && other.id !== id) throw conflict('resource is that of another client.');
}

/** A role stays while somebody is assigned to the app in it. @throws {Failure} `conflict` */
function* requireNoLostRole(before: Client, after: Client): Work<void> {
  const kept = new Set(after.roles.map(({ name }) => name));
  for (const { name } of before.roles) {
    if (!kept.has(name) && (yield* isRoleAssigned({ clientId: after.id, role: name }))) {
      throw conflict(`roles must keep ${name}: somebody is assigned to the app in it. Change these assignments first.`);
    }
  }
}

/** A scope that an API declares no more ends for every client: it is in no token, grant or form from then on. */
function* removeLostScopes(before: Client, after: Client): Work<void> {
  const kept = new Set(after.resourceScopes?.map(({ name }) => name));
  for (const { name } of before.resourceScopes ?? []) {
    if (!kept.has(name)) yield* removeScopeOfApi({ apiId: after.id, name });
  }
}

/**
 * Registers a client.
 * @param options.alsoCommit further work of the same commit
 * @returns the client, and its secret, which cannot be read again; undefined for a client that has none
 * @throws {Failure} `invalid` naming the field, `conflict` where the resource is taken
 */
export async function createClient(
  { database, clock, ids, operator }: ClientsContext & ClientActor & { readonly ids: Ids },
  { organizationId = null, ...input }: CreateClientRequest,
  origin: Origin,
  {
    alsoCommit,
    developerId = null,
  }: {
    readonly alsoCommit?: (client: Client, clientSecret: string) => Work<void>;
    /** The operator who registers it as a developer. */
    readonly developerId?: string | null;
  } = {},
): Promise<ClientWithSecrets & { readonly clientSecret?: string }> {
  const fields = checkedFields(input, input.type ?? 'confidential');
  const now = clock();
  const client: Client = {
    id: await ids.next(),
    ...initialValues(CLIENT_FIELDS, fields),
    picture: null,
    organizationId,
    developerId,
    consentApproval: null,
    leftOut: null,
    ...REGISTERED_BY_OPERATOR,
    status: 'active',
    generation: randomIdentifier(),
    consentEpoch: randomIdentifier(),
    createdAt: now,
    updatedAt: now,
  };
  checkRegistration(client);
  const hasSecret = presentsSecret(client);
  const clientSecret = newSecret();
  const secretId = await ids.next();
  const secrets = await database.commit(function* create(): Work<readonly ClientSecret[]> {
    if (organizationId !== null && (yield* findOrganization({ id: organizationId })) === undefined) {
      throw organizationNotFound(organizationId);
    }
    yield* requireUniqueResource(client);
    yield* store.insertClient(client);
    if (hasSecret) yield* store.addSecret({ id: secretId, clientId: client.id, hash: digest(clientSecret), now });
    yield* recordClientAct({ operator }, client.id, { kind: 'registered' }, now);
    yield* record({ at: now, type: 'client.created', origin, clientId: client.id });
    if (alsoCommit !== undefined) yield* alsoCommit(client, clientSecret);
    return yield* store.liveSecrets({ clientId: client.id, now });
  });
  return { client, secrets, ...(hasSecret && { clientSecret }) };
}

/** Where an app gets codes and tokens, and what proves that it is the app. */
const ADDRESSES: ReadonlySet<keyof Client> = new Set<keyof Client>(['redirectUris', 'jwks', 'jwksUri']);

function updateEvent(before: Client, after: Client): EventType {
  if (after.status === before.status) return 'client.updated';
  return after.status === 'disabled' ? 'client.disabled' : 'client.enabled';
}

const changedFields = (before: Client, after: Client): readonly (keyof Client)[] =>
  (Object.keys(before) as (keyof Client)[]).filter((field) => !isDeepStrictEqual(before[field], after[field]));

/**
 * Changes a client. Disabling it, or changing who may use it, invalidates its codes and tokens for good; a new redirect URI or owner requires new consent.
 * @param change the new values, or a function that derives them from the client under its lock
 * @throws {Failure} `not found`, `invalid`, `conflict`, `insufficient permission`
 */
export async function updateClient(
  { database, clock, operator }: ClientsContext & { readonly operator?: Operator | undefined },
  id: string,
  change: UpdateClientRequest | ((client: Client) => UpdateClientRequest),
  origin: Origin,
): Promise<ClientWithSecrets> {
  const now = clock();
  return database.commit(function* update(): Work<ClientWithSecrets> {
    const client = yield* store.lockClient({ id });
    if (client === undefined) throw clientNotFound(id);
    const given = typeof change === 'function' ? change(client) : change;
    requireOwnFields(client, given);
    const changed: Client = { ...client, ...checkedFields(given, client.type) };
    checkRegistration(changed);
    const fields = changedFields(client, changed);
    yield* requireMayDecide(operator, client, changed);
    if (fields.length === 0) return { client, secrets: yield* store.liveSecrets({ clientId: id, now }) };

    // People who may use the app authorize it again: what was issued before rests on the earlier rule, or would show more groups.
    const isEnded =
      changed.status !== client.status || changed.access !== client.access || showsMoreGroups(client, changed);
    const endsApproval = client.consentApproval !== null && needsNewApproval(client, changed);
    const saved: Client = {
      ...changed,
      // A token that may have been stolen manages it no more, also once it is enabled again.
      registrationHash: changed.status === 'disabled' ? null : client.registrationHash,
      consentApproval: endsApproval ? null : client.consentApproval,
      updatedAt: now,
      generation: isEnded ? randomIdentifier() : client.generation,
      consentEpoch: needsNewConsent(client, changed) ? randomIdentifier() : client.consentEpoch,
    };
    yield* requireUniqueResource(saved);
    yield* requireNoLostRole(client, saved);
    yield* store.saveClient(saved);
    if (fields.some((field) => ADDRESSES.has(field))) {
      yield* recordClientAct({ operator }, id, { kind: 'redirect URIs' }, now);
    }
    if (saved.status !== client.status) yield* recordStatusAct({ operator }, id, saved.status, now);
    yield* removeLostScopes(client, saved);
    if (endsApproval) yield* record({ at: now, type: 'client.consent_approval_ended', origin, clientId: id });
    yield* giveUpAlgorithms(client, saved, now);
    // A client that authenticates by its key has no secret, so that none is left to be guessed or stolen.
    if (!presentsSecret(saved)) {
      for (const { id: secretId } of yield* store.liveSecrets({ clientId: id, now })) {
        yield* store.removeSecret({ id: secretId, clientId: id });
        yield* record({ at: now, type: 'client.secret_ended', origin, clientId: id, details: { secretId } });
      }
    }
    yield* record({ at: now, type: updateEvent(client, saved), origin, clientId: id, details: { fields } });
    return { client: saved, secrets: yield* store.liveSecrets({ clientId: id, now }) };
  });
}

/** Sets or replaces a client's picture; null removes it, and its initials are shown. @throws {Failure} `not found` */
export async function setClientPicture(
  { database, clock }: ClientsContext,
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
    const saved: Client = { ...client, picture: name, updatedAt: now };
    yield* store.saveClient(saved);
    yield* replacePicture({ clientId: id }, picture);
    yield* record({ at: now, type: 'client.updated', origin, clientId: id, details: { fields: ['picture'] } });
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
    if (client.type === 'public') throw conflict('A public client has no secret.');
    if (!presentsSecret(client)) {
      throw conflict('This client authenticates with its key (private_key_jwt) and has no secret.');
    }
    const earlier = yield* store.liveSecrets({ clientId, now });
    const previous = earlier.at(-1);
    for (const secret of earlier) {
      const overlapEnd = Math.min(now + overlap, secret.expiresAt ?? Number.MAX_SAFE_INTEGER);
      const expiresAt = secret === previous ? overlapEnd : now;
      yield* store.expireSecret({ id: secret.id, at: expiresAt });
      if (expiresAt > now) continue;
      yield* record({ at: now, type: 'client.secret_ended', origin, clientId, details: { secretId: secret.id } });
    }
    yield* store.addSecret({ id, clientId, hash: digest(clientSecret), now });
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
    yield* store.removeSecret({ id, clientId });
    yield* record({ at: now, type: 'client.secret_ended', origin, clientId, details: { secretId: id } });
  });
}

/** Clients after an id, in the order of their ids, each with its valid secrets. */
export function* listClientsWithSecrets(
  page: { readonly after: string; readonly limit: number },
  now: number,
  within?: Within,
): Work<readonly (ClientWithSecrets & { readonly id: string })[]> {
  const listed = [];
  for (const client of yield* store.listClients(page, within)) {
    listed.push({ id: client.id, client, secrets: yield* store.liveSecrets({ clientId: client.id, now }) });
  }
  return listed;
}

/** @throws {Failure} `not found` */
export async function getClient({ database, clock }: ClientsContext, id: string): Promise<ClientWithSecrets> {
  return database.read(function* get(): Work<ClientWithSecrets> {
    const client = isSnowflake(id) ? yield* store.findClient({ id }) : undefined;
    if (client === undefined) throw clientNotFound(id);
    return { client, secrets: yield* store.liveSecrets({ clientId: id, now: clock() }) };
  });
}
