import { type Destinations, findBlockedHost, oneRegistrationAtATime } from '../../clients/blocked-hosts.ts';
import { useInitialToken } from '../../clients/initial-access-tokens.ts';
import type { RegistrationSetting } from '../../clients/registration-setting.ts';
import { type ReadMetadata, readRegistration } from '../../clients/rules/registration-metadata.ts';
import {
  deleteSelf,
  lockRegistration,
  makeRoom,
  type Registered,
  readRegistrationOf,
  registerSelf,
  updateSelf,
} from '../../clients/self-registration.ts';
import { type Client, liveSecrets } from '../../clients/store.ts';
import { take, takeFrom } from '../../limits/limits.ts';
import type { Limits } from '../../limits/settings.ts';
import type { Clock } from '../../platform/clock.ts';
import { digest } from '../../platform/crypto/secrets.ts';
import type { Database, Work } from '../../platform/database/database.ts';
import { type Ids, isSnowflake } from '../../platform/ids/ids.ts';
import { type OAuthError, rateLimited } from '../../platform/oauth-error.ts';
import type { Origin } from '../../platform/validation/origin.ts';
import { refuseMetadata, refuseRegistration } from './refusals.ts';

export interface RegistrationParts {
  readonly database: Database;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly limits: Limits;
  readonly registration: RegistrationSetting;
}

/** As for a metadata document, with room for keys. */
const LONGEST_METADATA = 8 * 1024;

/** @throws {OAuthError} `invalid_redirect_uri`, `invalid_client_metadata` */
function checkedMetadata(body: unknown): ReadMetadata {
  if (body !== undefined && JSON.stringify(body).length > LONGEST_METADATA)
    throw refuseRegistration('metadata too long');
  const reading = readRegistration(body);
  if ('error' in reading) throw refuseMetadata(reading);
  return reading;
}

function requireSwitchedOn({ registration }: RegistrationParts): void {
  if (registration === 'off') throw refuseRegistration('registration switched off');
}

/**
 * Registers an app: RFC 7591 §3.
 * @param token the initial access token, if one was sent
 * @throws {OAuthError} for what is not registered
 */
export async function register(
  parts: RegistrationParts,
  body: unknown,
  token: string | undefined,
  origin: Origin,
): Promise<Registered & { readonly ignored: readonly string[] }> {
  requireSwitchedOn(parts);
  const { database, clock, ids, registration } = parts;
  // RFC 7591 §3: who may not register learns nothing of what would be allowed.
  if (token === undefined && registration === 'token') throw refuseRegistration('initial access token missing');
  if (token?.startsWith('tak_')) throw refuseRegistration('admin key for an initial access token');
  const now = clock();
  if (token === undefined) {
    const wait = await database.commit(() => countRegistration(parts, origin, now));
    if (wait > 0) throw rateLimited(wait);
  }
  const read = (): ReadMetadata => checkedMetadata(body);
  const newIds = { clientId: await ids.next(), secretId: await ids.next() };
  return database.commit(function* create(): Work<Registered & { readonly ignored: readonly string[] }> {
    if (token !== undefined) {
      const used = yield* useInitialToken(token, now);
      if (typeof used === 'string') throw refuseRegistration('initial access token unknown');
      // A refusal rolls the use back.
      const { fields, ignored } = read();
      const registrant = { by: 'token', initialTokenId: used.id } as const;
      return { ...(yield* registerSelf(fields, registrant, newIds, now, origin)), ignored };
    }
    const { fields, ignored } = read();
    yield* oneRegistrationAtATime(now);
    yield* requireNoBlockedHost(fields);
    if (!(yield* makeRoom(now))) throw refuseRegistration('too many unused');
    return { ...(yield* registerSelf(fields, { by: 'open' }, newIds, now, origin)), ignored };
  });
}

/** Anyone can register, so that what one asker, one network and all of them can do is limited. @returns the seconds to wait, or 0 */
function* countRegistration({ limits }: RegistrationParts, origin: Origin, now: number): Work<number> {
  const about = { name: 'registrationAddress', origin } as const;
  const { registrationAddress: limit } = limits;
  return (
    (yield* takeFrom('registration', limit, now, about)) ||
    (yield* take('registration', limits.registration, now, { ...about, name: 'registration' }))
  );
}

function* requireNoBlockedHost(app: Destinations): Work<void> {
  if ((yield* findBlockedHost(app)) !== undefined) throw refuseRegistration('redirect host blocked');
}

/** A request of an app about its own registration. */
interface OwnRequest {
  readonly id: string;
  readonly token: string | undefined;
  readonly origin: Origin;
}

/** @throws {OAuthError} 401, alike for whatever is wrong (RFC 7592 §2.1) */
function* ownClient({ id, token }: OwnRequest, find = lockRegistration): Work<Client> {
  if (token === undefined) throw refuseRegistration('registration access token missing');
  const client = isSnowflake(id) ? yield* find(id, token) : undefined;
  if (client === undefined) throw refuseRegistration('registration access token unknown');
  return client;
}

/** Reads the registration of an app for itself: RFC 7592 §2.1. */
export async function readOwn(parts: RegistrationParts, request: OwnRequest): Promise<Client> {
  requireSwitchedOn(parts);
  return parts.database.read(() => ownClient(request, readRegistrationOf));
}

/** Replaces the registration of an app by a new one: RFC 7592 §2.2. */
export async function replaceOwn(
  parts: RegistrationParts,
  request: OwnRequest,
  body: unknown,
): Promise<Omit<Registered, 'registrationToken'> & { readonly ignored: readonly string[] }> {
  requireSwitchedOn(parts);
  const now = parts.clock();
  // Without a lock: a stranger must not hold up those who register. What it finds is read again below.
  const { id } = await parts.database.read(() => ownClient(request, readRegistrationOf));
  // Each change is an event, so that one app could make the audit trail grow without end.
  const about = { name: 'registrationAddress', origin: request.origin, clientId: id } as const;
  const wait = await parts.database.commit(() =>
    take(`registration of ${id}`, parts.limits.registrationAddress, now, about),
  );
  if (wait > 0) throw rateLimited(wait);
  const secretId = await parts.ids.next();
  return parts.database.commit(function* replace() {
    yield* oneRegistrationAtATime(now);
    const client = yield* ownClient(request);
    yield* requireOwnMembers(client, body, now);
    const { fields, ignored } = checkedMetadata(body);
    if (client.registeredBy === 'open') yield* requireNoBlockedHost(fields);
    return { ...(yield* updateSelf(client, fields, secretId, now, request.origin)), ignored };
  });
}

const NOT_IN_REQUEST = [
  'registration_access_token',
  'registration_client_uri',
  'client_secret_expires_at',
  'client_id_issued_at',
] as const;

/** RFC 7592 §2.2: the client names itself and nothing that only the server decides on, and cannot choose its secret. */
function* requireOwnMembers(client: Client, body: unknown, now: number): Work<void> {
  const members: Readonly<Record<string, unknown>> = typeof body === 'object' && body !== null ? { ...body } : {};
  const refuse = (field: string, problem: string, remedy: string): OAuthError =>
    refuseMetadata({ error: 'invalid_client_metadata', field, problem, remedy });
  if (members['client_id'] === undefined) {
    const remedy = 'Send client_id, and everything else of the registration, because PUT replaces all of it.';
    throw refuse('client_id', 'client_id is missing.', remedy);
  }
  if (members['client_id'] !== client.id) {
    throw refuse('client_id', 'client_id is not that of this registration.', 'Send the client_id of the app.');
  }
  const extra = NOT_IN_REQUEST.find((name) => Object.hasOwn(members, name));
  if (extra !== undefined) throw refuse(extra, `${extra} must not be sent.`, 'Send the metadata of the app alone.');
  const { client_secret: secret } = members;
  if (secret === undefined) return;
  const live = yield* liveSecrets({ clientId: client.id, now });
  if (typeof secret === 'string' && live.some(({ hash }) => hash === digest(secret))) return;
  throw refuse('client_secret', 'client_secret is not the present one.', 'Leave it out: an app cannot choose it.');
}

/** Deletes an app at its own request: RFC 7592 §2.3. Everything that was issued to it is invalid. */
export async function deleteOwn(parts: RegistrationParts, request: OwnRequest): Promise<void> {
  requireSwitchedOn(parts);
  await parts.database.commit(function* remove(): Work<void> {
    yield* deleteSelf(yield* ownClient(request), parts.clock(), request.origin);
  });
}
