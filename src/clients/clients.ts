import { isDeepStrictEqual } from 'node:util';
import { type EventType, record } from '../audit/audit.ts';
import type { Picture } from '../pictures/pictures.ts';
import { replacePicture } from '../pictures/store.ts';
import { type Clock, DAY, SECOND } from '../platform/clock.ts';
import { digest, randomIdentifier, randomSecret } from '../platform/crypto/secrets.ts';
import type { Database, Work } from '../platform/database/database.ts';
import type { Origin } from '../platform/http/origin.ts';
import type { Ids } from '../platform/ids/ids.ts';
import { conflict, invalidRequest, notFound } from '../platform/oauth-error.ts';
import { initialValues } from '../platform/validation/fields.ts';
import { CLIENT_FIELDS } from './fields.ts';
import { type JwkSet, readRegisteredSet } from './rules/jwks.ts';
import { redirectUriProblem, serverUriProblem } from './rules/redirect-uri.ts';
import { presentsSecret, registrationProblem } from './rules/registration.ts';
import type { CreateClientRequest, RotateSecretRequest, UpdateClientRequest } from './schema.ts';
import type { Client, ClientSecret } from './store.ts';
import * as store from './store.ts';

interface Parts {
  readonly database: Database;
  readonly clock: Clock;
  readonly ids: Ids;
}
type Stored = Pick<Parts, 'database' | 'clock'>;

/** The longest time for which the secret before the last one still holds, unless another is asked for. */
const SECRET_OVERLAP = DAY;

const missing = (id: string) => notFound(`There is no client with the id ${id}.`);

/** 256 random bits behind a prefix that secret scanners can look for. */
const newSecret = (): string => `tcs_${randomSecret()}`;

function checkUris(uris: readonly string[] | undefined, field: string, type: Client['type']): void {
  for (const [index, uri] of (uris ?? []).entries()) {
    const problem = redirectUriProblem(uri, type);
    if (problem !== undefined) throw invalidRequest(`${field}[${index}] must ${problem}.`);
  }
}

/** The parts of a registration that only make sense together. @throws {OAuthError} naming a field and the remedy */
function checkWhole(client: Client): void {
  const problem = registrationProblem(client);
  if (problem !== undefined) throw invalidRequest(problem);
}

/** A registered key set as it is stored. */
function storedSet(jwks: unknown): JwkSet | null {
  if (jwks === null || jwks === undefined) return null;
  const reading = readRegisteredSet(jwks, 'jwks');
  if ('problem' in reading) throw invalidRequest(`${reading.problem}.`);
  return reading.set;
}

/**
 * Decisions §1: a logout token under the client's secret could not be made when no secret is presented, so its key must be one
 * of the key set.
 */
function checkLogout({ backchannelLogoutUri, idTokenSignedResponseAlg }: Client): void {
  if (backchannelLogoutUri === null) return;
  // OpenID Connect Back-Channel Logout 1.0 §2.2: an absolute address without a fragment.
  const problem = serverUriProblem(backchannelLogoutUri);
  if (problem !== undefined) throw invalidRequest(`backchannelLogoutUri must ${problem}.`);
  if (idTokenSignedResponseAlg === 'HS256') {
    throw invalidRequest(
      'idTokenSignedResponseAlg must be RS256, ES256 or EdDSA for a client with a backchannelLogoutUri: ' +
        'a logout token cannot be signed with its secret.',
    );
  }
}

/** Two resource servers with one name could each ask about the other's tokens. */
function* refuseTakenResource({ id, resource }: Client): Work<void> {
  const other = resource === null ? undefined : yield* store.findResource({ resource });
  if (other !== undefined && other.id !== id) throw conflict('resource is that of another client.');
}

/**
 * Registers a client.
 * @param alongside more work of the same commit, for what is to exist with it or not at all
 * @returns the record, and the one chance to see its secret; a client that presents none has none
 * @throws {OAuthError} `invalid_request` naming the field
 */
export async function createClient(
  { database, clock, ids }: Parts,
  input: CreateClientRequest,
  origin: Origin,
  alongside: (client: Client, clientSecret: string) => Work<void> = function* nothing() {},
): Promise<{ client: Client; secrets: readonly ClientSecret[]; clientSecret?: string }> {
  const type = input.type ?? 'confidential';
  checkUris(input.redirectUris, 'redirectUris', type);
  checkUris(input.postLogoutRedirectUris, 'postLogoutRedirectUris', type);
  const now = clock();
  const client: Client = {
    id: await ids.next(),
    ...initialValues(CLIENT_FIELDS, input),
    jwks: storedSet(input.jwks),
    picture: null,
    status: 'active',
    generation: randomIdentifier(),
    consentEpoch: randomIdentifier(),
    createdAt: now,
    updatedAt: now,
  };
  const secretive = presentsSecret(client);
  checkWhole(client);
  checkLogout(client);
  const clientSecret = newSecret();
  const secretId = await ids.next();
  const secrets = await database.commit(function* create(): Work<readonly ClientSecret[]> {
    yield* refuseTakenResource(client);
    yield* store.insertClient(client);
    if (secretive) yield* store.addSecret({ id: secretId, clientId: client.id, hash: digest(clientSecret), now });
    yield* record({ at: now, type: 'client.created', origin, clientId: client.id });
    yield* alongside(client, clientSecret);
    return yield* store.liveSecrets(client.id, now);
  });
  return { client, secrets, ...(secretive && { clientSecret }) };
}

const eventOf = (before: Client, { status }: Client): EventType =>
  status === before.status ? 'client.updated' : status === 'disabled' ? 'client.disabled' : 'client.enabled';

/** The fields in which two records of a client differ. */
const changedFields = (before: Client, after: Client): readonly (keyof Client)[] =>
  (Object.keys(before) as (keyof Client)[]).filter((field) => !isDeepStrictEqual(before[field], after[field]));

/** What a person's consent rested on: where the answer goes, and who stands behind the app. */
function consentBasisChanged(before: Client, after: Client): boolean {
  return before.owner !== after.owner || after.redirectUris.some((uri) => !before.redirectUris.includes(uri));
}

/**
 * Changes a client. Disabling it ends its codes and tokens for ever; a new redirect URI or owner asks people anew.
 * @param wanted the change, or what makes it of the client as it is then
 * @throws {OAuthError} `not_found`, `invalid_request`
 */
export async function updateClient(
  { database, clock }: Stored,
  id: string,
  wanted: UpdateClientRequest | ((client: Client) => UpdateClientRequest),
  origin: Origin,
) {
  const now = clock();
  return database.commit(function* update() {
    const client = yield* store.lockClient({ id });
    if (client === undefined) throw missing(id);
    const change = typeof wanted === 'function' ? wanted(client) : wanted;
    checkUris(change.redirectUris, 'redirectUris', client.type);
    checkUris(change.postLogoutRedirectUris, 'postLogoutRedirectUris', client.type);
    const jwks = change.jwks === undefined ? client.jwks : storedSet(change.jwks);
    const changed: Client = { ...client, ...change, jwks };
    checkWhole(changed);
    checkLogout(changed);
    const fields = changedFields(client, changed);
    // Nothing to change is nothing to record.
    if (fields.length === 0) return { client, secrets: yield* store.liveSecrets(id, now) };
    const ends = changed.status === 'disabled' && client.status === 'active';
    const saved: Client = {
      ...changed,
      updatedAt: now,
      generation: ends ? randomIdentifier() : client.generation,
      consentEpoch: consentBasisChanged(client, changed) ? randomIdentifier() : client.consentEpoch,
    };
    yield* refuseTakenResource(saved);
    yield* store.saveClient(saved);
    // A client that proves itself with a key has no secret: one that it had could only be guessed or stolen.
    if (!presentsSecret(saved)) {
      for (const { id: secretId } of yield* store.liveSecrets(id, now)) {
        yield* store.removeSecret({ id: secretId, clientId: id });
        yield* record({ at: now, type: 'client.secret_ended', origin, clientId: id, details: { secretId } });
      }
    }
    yield* record({ at: now, type: eventOf(client, saved), origin, clientId: id, details: { fields } });
    return { client: saved, secrets: yield* store.liveSecrets(id, now) };
  });
}

/** Gives a client a picture, or with null its letters again. Harmless where it has none. */
export async function setClientPicture(
  { database, clock }: Stored,
  id: string,
  picture: Picture | null,
  origin: Origin,
) {
  const now = clock();
  return database.commit(function* set() {
    const client = yield* store.lockClient({ id });
    if (client === undefined) throw missing(id);
    const secrets = yield* store.liveSecrets(id, now);
    const name = picture?.name ?? null;
    if (name === client.picture) return { client, secrets };
    const saved: Client = { ...client, picture: name, updatedAt: now };
    yield* store.saveClient(saved);
    yield* replacePicture({ clientId: id }, picture);
    yield* record({ at: now, type: 'client.updated', origin, clientId: id, details: { fields: ['picture'] } });
    return { client: saved, secrets };
  });
}

/** Deletes a client with its secrets, codes, tokens and consents. */
export async function deleteClient({ database, clock }: Stored, id: string, origin: Origin): Promise<void> {
  await database.commit(function* remove() {
    if (!(yield* store.removeClient({ id }))) throw missing(id);
    yield* record({ at: clock(), type: 'client.deleted', origin, clientId: id });
  });
}

/**
 * Gives a client another secret. The one before holds for a day, or as long as asked; never do more than two hold.
 * It affects the client's authentication alone: codes and tokens live on.
 */
export async function rotateSecret(
  { database, clock, ids }: Parts,
  clientId: string,
  input: RotateSecretRequest,
  origin: Origin,
): Promise<{ secret: ClientSecret; secrets: readonly ClientSecret[]; clientSecret: string }> {
  const now = clock();
  const clientSecret = newSecret();
  const id = await ids.next();
  const overlap = input.expirePreviousIn === undefined ? SECRET_OVERLAP : input.expirePreviousIn * SECOND;
  return database.commit(function* rotate() {
    const client = yield* store.lockClient({ id: clientId });
    if (client === undefined) throw missing(clientId);
    if (client.type === 'public') throw conflict('A public client has no secret.');
    if (!presentsSecret(client)) {
      throw conflict('This client authenticates with its key (private_key_jwt) and has no secret.');
    }
    const before = yield* store.liveSecrets(clientId, now);
    for (const [index, secret] of before.entries()) {
      const last = index === before.length - 1;
      const endsAt = last ? Math.min(now + overlap, secret.expiresAt ?? Number.MAX_SAFE_INTEGER) : now;
      yield* store.expireSecret({ id: secret.id, at: endsAt });
      if (endsAt > now) continue;
      yield* record({ at: now, type: 'client.secret_ended', origin, clientId, details: { secretId: secret.id } });
    }
    yield* store.addSecret({ id, clientId, hash: digest(clientSecret), now });
    yield* record({ at: now, type: 'client.secret_added', origin, clientId, details: { secretId: id } });
    const secrets = yield* store.liveSecrets(clientId, now);
    const secret = secrets.find((candidate) => candidate.id === id);
    if (secret === undefined) throw new Error('the new secret is not on record');
    return { secret, secrets, clientSecret };
  });
}

/** Ends one of a client's secrets at once. */
export async function endSecret(
  { database, clock }: Stored,
  clientId: string,
  id: string,
  origin: Origin,
): Promise<void> {
  const now = clock();
  await database.commit(function* end() {
    if ((yield* store.lockClient({ id: clientId })) === undefined) throw missing(clientId);
    const live = yield* store.liveSecrets(clientId, now);
    if (live.length === 1 && live[0]?.id === id) {
      throw conflict('This is the only secret of the client. Add another one first.');
    }
    if (!live.some((secret) => secret.id === id)) throw notFound(`The client has no secret with the id ${id}.`);
    yield* store.removeSecret({ id, clientId });
    yield* record({ at: now, type: 'client.secret_ended', origin, clientId, details: { secretId: id } });
  });
}

/** @throws {OAuthError} `not_found` */
export async function getClient({ database, clock }: Stored, id: string) {
  const found = await database.read(() => store.findClientWithSecrets(id, clock()));
  if (found === undefined) throw missing(id);
  return found;
}
