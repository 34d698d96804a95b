import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { OwnerOptions } from '../account-actions/accounts/last-owner.ts';
import { actingDatabase } from '../account-actions/admission/acting-database.ts';
import { type Asked, admit, personIn } from '../account-actions/admission/admission.ts';
import { roleNamesOf } from '../account-actions/admission/operator-session.ts';
import { countPolicyWrite } from '../account-actions/admission/policy-limit.ts';
import { makersDatabase } from '../account-actions/makers/tell-maker.ts';
import type { SecurityNoticeServices } from '../account-actions/notices/notices.ts';
import { deviceFacts } from '../account-actions/notices/rules/notice-text.ts';
import type { ActingOperator } from '../account-actions/operators/grants.ts';
import type { BreachedPasswords } from '../accounts/breached-passwords.ts';
import type { SecondFactorSetting } from '../accounts/second-factor-setting.ts';
import type { SignUpSettings } from '../accounts/sign-up-setting.ts';
import { isMakerActive, type KeyRefusal, whyRefused } from '../admin-keys/live.ts';
import {
  type AdminKey,
  findLiveAdminKey,
  grantOfKey,
  hashesOf,
  lockLiveAdminKey,
  saveLastUse,
} from '../admin-keys/store.ts';
import type { RecordThrottled } from '../audit/throttle.ts';
import type { DeveloperSettings } from '../clients/developer-settings.ts';
import type { Keys } from '../keys/keys.ts';
import { exceeded, take } from '../limits/limits.ts';
import type { Limits } from '../limits/settings.ts';
import { handsOut } from '../operators/permissions.ts';
import {
  EVERYTHING,
  heldByRoles,
  holdsSomewhere,
  type Operator,
  type OperatorRights,
  type Reach,
  reachOf,
} from '../operators/rights.ts';
import type { Pictures } from '../pictures/pictures.ts';
import { type Clock, HOUR } from '../platform/clock.ts';
import type { Passwords } from '../platform/crypto/passwords.ts';
import { equalSecrets } from '../platform/crypto/secrets.ts';
import { type Database, StoreUnavailable, type Work } from '../platform/database/database.ts';
import { conflict, type Failure } from '../platform/failure.ts';
import { sentAuthorizations } from '../platform/http/authorizations.ts';
import type { Outgoing } from '../platform/http/outgoing.ts';
import type { Ids } from '../platform/ids/ids.ts';
import { invalidToken, OAuthError, rateLimited } from '../platform/oauth-error.ts';
import { addressBucket, deviceIn, type Origin, originOf } from '../platform/validation/origin.ts';
import { adminMetadataUrl } from '../protocol/discovery/metadata.ts';
import { bearerToken } from '../protocol/token/bearer.ts';
import { describeAuthorization } from '../protocol/token/rules/presented-form.ts';
import type { TraceRecorder } from '../traces/recorder.ts';
import { findPerson, heldByPerson, lockHeldByPerson, looksLikeToken } from './person.ts';

/** What the operations of the admin API need. */
export interface OperationServices extends SecurityNoticeServices {
  readonly database: Database;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly passwords: Passwords;
  readonly breaches: BreachedPasswords;
  readonly pictures: Pictures;
  readonly secondFactor: SecondFactorSetting;
  readonly signUp: SignUpSettings;
  readonly developers: DeveloperSettings;
  readonly outgoing: Outgoing;
  readonly traces: Pick<TraceRecorder, 'flush'>;
  /** For how long traces are kept, in milliseconds; null if none are recorded. */
  readonly traceRetention: number | null;
}

/** What the routes of the admin API need. */
export interface AdminServices extends OperationServices {
  readonly keys: Keys;
  /** Whether operators can sign in with the command line. */
  readonly commandLineSignIn: boolean;
  readonly limits: Limits;
  /** The admin key of the configuration, if one is set. */
  readonly adminKey: ConfiguredAdminKey | undefined;
  readonly recordThrottled: RecordThrottled;
  /** Where refused keys are counted and recorded, also of a HEAD, which has no other effect: a guess is a guess. */
  readonly refusals: { readonly database: Database; readonly recordThrottled: RecordThrottled };
}

/** The key of the configuration, with its id in the database. */
export interface ConfiguredAdminKey {
  readonly key: string;
  readonly id: string;
}

/** The services of a caller. Each unit of work on the database of an operator checks the operator's rights again. */
export type CallerServices = OperationServices & ActingOperator & OwnerOptions & { readonly adminKeyId: string | null };

/** The caller of an admin route. */
export interface AdminCaller {
  readonly services: CallerServices;
  readonly origin: Origin;
  /** What the caller reaches by the permission of the route. */
  readonly reach: Reach;
  /** Told how many sign-ins have ended so far, where that takes long. */
  readonly progress?: (done: number) => void;
}

/** How precisely the last use of a key is recorded: it must not make every request a write. */
const LAST_USE_STEP = HOUR;

declare module 'fastify' {
  interface FastifyRequest {
    adminCaller: AdminCaller | undefined;
  }
}

/** Requires an admin key on every route of a scope, before the body is read. */
export function requireAdminKey(scope: FastifyInstance, services: AdminServices): void {
  const { database, clock, limits, refusals } = services;

  scope.decorateRequest('adminCaller', undefined);
  scope.addHook('onRequest', async (request) => {
    request.adminCaller = await authenticate(request);
  });

  async function authenticate(request: FastifyRequest): Promise<AdminCaller> {
    const key = adminKeyOf(request, services.issuer);
    const configured = services.adminKey;
    // The configured key cannot be revoked while this process runs, and is an owner's.
    if (configured !== undefined && equalSecrets(key, configured.key)) {
      const operator = {
        id: configured.id,
        ...heldByRoles([{ role: 'owner', organizationId: null, expiresAt: null }]),
      };
      const origin = originOf(request, { type: 'admin', id: null });
      return {
        services: { ...services, adminKeyId: configured.id, operator },
        reach: EVERYTHING,
        origin: { ...origin, roles: ['owner'] },
      };
    }
    return looksLikeToken(key) ? byToken(request, key) : byKey(request, key);
  }

  async function byKey(request: FastifyRequest, key: string): Promise<AdminCaller> {
    const hashes = hashesOf(key);
    const now = clock();
    const found = await database.read(function* find(): Work<AdminKey | undefined> {
      const live = yield* findLiveAdminKey({ ...hashes, now });
      return live !== undefined && (yield* isMakerActive(live, now)) ? live : undefined;
    });
    const refused = () => database.read(() => whyRefused(hashes, clock()));
    if (found === undefined) throw await invalidKey(request, await refused());
    const grant = grantOfKey(found);
    const held = heldByRoles([grant]);
    const caller = await callerFor(services, request, {
      operator: { id: found.id, ...held },
      invalidKey: async () => invalidKey(request, await refused()),
      adminKeyId: found.id,
      origin: { ...originOf(request, { type: 'admin', id: found.id }), roles: [grant.role] },
      *verify(at, locks, actedOn) {
        const key = { ...hashes, now: at };
        if (locks && !(yield* isMakerActive(found, at, { actedOn }))) return undefined;
        const live = yield* locks ? lockLiveAdminKey(key) : findLiveAdminKey(key);
        return live !== undefined && (locks || (yield* isMakerActive(live, at))) ? held : undefined;
      },
    });
    await noteUse(database, found, clock());
    return caller;
  }

  /** A person who signed in with the command line, with what they hold at this moment: decisions §15. */
  async function byToken(request: FastifyRequest, token: string): Promise<AdminCaller> {
    const found = await findPerson(services, token);
    if (found === undefined) throw await invalidKey(request, 'token of no operator');
    const { person, held } = found;
    const { accountId } = person;
    const { policy } = services.developers;
    const roles = roleNamesOf(held);
    return callerFor(services, request, {
      operator: { id: accountId, ...held },
      invalidKey: () => invalidKey(request, 'token of no operator'),
      adminKeyId: null,
      origin: { ...originOf(request, { type: 'user', id: accountId }), ...(roles.length > 0 && { roles }) },
      verify: (now, locks, actedOn) =>
        locks ? lockHeldByPerson(person, { policy, now }, actedOn) : heldByPerson(person, { policy, now, locks }),
    });
  }

  /** Counts an invalid key against the caller's address. Keys are looked up first, so a valid key is never limited. */
  async function invalidKey(request: FastifyRequest, reason: KeyRefusal | 'token of no operator'): Promise<OAuthError> {
    const [now, origin] = [clock(), originOf(request)];
    const bucket = `admin-key ${addressBucket(origin.address ?? '')}`;
    // Guesses beyond the limit write nothing.
    const wait =
      (await refusals.database.read(() => exceeded(bucket, limits.adminKey, now))) ||
      (await refusals.database.commit(() => take(bucket, limits.adminKey, now, { name: 'adminKey', origin })));
    if (wait > 0) return rateLimited(wait);
    await refusals.recordThrottled({ at: now, type: 'admin_key.refused', outcome: 'failure', origin });
    return namingMetadata(
      invalidToken(
        `The admin key is not valid: ${describeKey(request.headers.authorization)}. The operator makes another on the server with: tessera admin-key create`,
        reason,
      ),
      services.issuer,
    ).withDetail({ expected: 'an admin key that is valid now', received: KEY_REFUSALS[reason] });
  }
}

/** What came, for operators alone. */
const KEY_REFUSALS: Readonly<Record<KeyRefusal | 'token of no operator', string>> = {
  'unknown admin key': 'a key that is not on record here',
  'revoked admin key': 'a key that was revoked',
  'admin key that has ended': 'a key whose time has ended',
  'admin key whose maker may not act': 'a key that was made by a person who may not act now',
  'token of no operator': 'a token that has ended, or that is of another app or of a person without a role',
};

async function noteUse(
  database: Database,
  { id, lastUsedAt }: Pick<AdminKey, 'id' | 'lastUsedAt'>,
  now: number,
): Promise<void> {
  const before = now - LAST_USE_STEP;
  if (lastUsedAt !== null && lastUsedAt >= before) return;
  try {
    await database.commit(() => saveLastUse({ id, now, before }));
  } catch (error) {
    // What only reads answers while nothing can be written.
    if (!(error instanceof StoreUnavailable)) throw error;
  }
}

/** What is wrong with a key, by its form alone, which its sender knows. */
function describeKey(authorization = ''): string {
  if (/^Bearer\s+tcs_/i.test(authorization))
    return 'it begins with tcs_, as client secrets do, and admin keys with tak_';
  if (/^Bearer\s+eyJ/i.test(authorization))
    return 'it is a token that has ended, or one of an app, and admin keys begin with tak_';
  return 'it is unknown, was revoked or has ended';
}

/** The caller of a request, who may do what its route asks for at the beginning of each unit of work. */
async function callerFor(
  services: AdminServices,
  request: FastifyRequest,
  identified: IdentifiedOperator,
): Promise<AdminCaller> {
  const { adminKeyId, origin, verify, invalidKey } = identified;
  const { database, clock } = services;
  const now = clock();
  // Each unit of work replaces what the operator holds by what it finds then.
  const operator = { ...identified.operator };
  const asked = askedOf(request);
  const { permission, acts } = asked();
  const maker = { accountId: adminKeyId === null ? operator.id : null, facts: deviceFacts(deviceIn(request)) };
  const acting = actingDatabase(acts && handsOut(permission) ? makersDatabase(services, maker) : database, {
    acts,
    *verify(locks) {
      const held = yield* verify(clock(), locks, personIn(asked()));
      if (held !== undefined) Object.assign(operator, held);
      return held !== undefined;
    },
    ended: invalidKey,
    *admit(locks, places) {
      yield* admit(operator, asked(), { now, locks, places });
      if (adminKeyId === null && request.routeOptions.schema?.handsOut === true) throw handsOutByKey();
    },
    refused: ({ permission }) =>
      services.recordThrottled({
        ...{ at: now, type: 'operator.refused', outcome: 'failure', origin },
        details: { permission, reason: permission },
      }),
  });
  const wait = acts ? await countPolicyWrite(services, operator, permission, origin) : 0;
  if (wait > 0) throw rateLimited(wait);
  // Before the body is read. It throws, unless the key is revoked at this moment.
  if (!holdsSomewhere(operator, permission)) await acting.read(nothing);
  return {
    services: { ...services, database: acting, adminKeyId, operator },
    reach: reachOf(operator, permission),
    origin,
  };
}

/** Links that open something end with the key that made them, and a person has none. */
const handsOutByKey = (): Failure =>
  conflict(
    'A link that can be used later must end with what made it: make it with an admin key, or on the server. To help a person get in, send recovery.',
  );

/** RFC 9728 §5.1: the challenge says where the authorization server is found whose tokens count here. */
function namingMetadata({ status, code, message, headers, reason }: OAuthError, issuer: string): OAuthError {
  const { 'www-authenticate': challenge = 'Bearer' } = headers;
  const named = `${challenge}, resource_metadata="${adminMetadataUrl(issuer)}"`;
  return new OAuthError(status, code, message, { ...headers, 'www-authenticate': named }, reason);
}

/** @throws {OAuthError} 401 where no key was sent, with the challenge for a missing token (RFC 6750 §3.1) */
function adminKeyOf(request: FastifyRequest, issuer: string): string {
  try {
    return bearerToken(request.headers.authorization);
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error;
    const { cause, remedy } = describeKeyHeader(request);
    const detail = {
      rule: 'RFC 6750 §2.1',
      expected: 'Authorization: Bearer and an admin key',
      received: cause,
      remedy,
    };
    const challenge = `${cause} ${remedy}`;
    throw namingMetadata(new OAuthError(error.status, error.code, challenge, error.headers), issuer).withDetail(detail);
  }
}

const MAKE_KEY = 'The operator makes one on the server with: tessera admin-key create';

/** Why a request has no admin key that could be looked up: its sender knows what it sent. */
function describeKeyHeader(request: FastifyRequest): { readonly cause: string; readonly remedy: string } {
  const { authorization } = request.headers;
  const send = 'Authorization: Bearer <key>';
  if (authorization === undefined) {
    return { cause: 'The request has no Authorization header.', remedy: `Send an admin key: ${send}. ${MAKE_KEY}` };
  }
  if (/^["']?tak_/.test(authorization.trim())) {
    return {
      cause: 'The word Bearer is missing before the admin key.',
      remedy: `Add Bearer and a space before it: ${send}.`,
    };
  }
  const { cause } = describeAuthorization(authorization, sentAuthorizations(request));
  return { cause, remedy: `Send an admin key: ${send}. ${MAKE_KEY}` };
}

/** The caller of a request that {@link requireAdminKey} has let through. */
export function callerOf({ adminCaller }: FastifyRequest): AdminCaller {
  if (adminCaller === undefined) throw new Error('an admin route was reached without its hook');
  return adminCaller;
}

/** What a request asks for. The body is read after the key is checked. */
function askedOf(request: FastifyRequest): () => Asked {
  const { permission, objects = {} } = request.routeOptions.schema ?? {};
  if (permission === undefined) throw new Error(`${request.routeOptions.url} requires no permission`);
  const acts = request.method !== 'GET' && request.method !== 'HEAD';
  return () => ({
    permission,
    objects,
    acts,
    params: fieldsOf(request.params),
    query: fieldsOf(request.query),
    body: fieldsOf(request.body),
  });
}

const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};

function* nothing(): Work<void> {}

/** An operator who was identified, and how it is found out again that nothing has ended since. */
interface IdentifiedOperator {
  readonly operator: Operator;
  readonly adminKeyId: string | null;
  readonly origin: Origin;
  /** What the operator holds at this moment; undefined where the credential is not valid any more. */
  readonly verify: (now: number, locks: boolean, actedOn: string | undefined) => Work<OperatorRights | undefined>;
  /** Makes the error for a credential that is not valid any more. */
  readonly invalidKey: () => Promise<OAuthError>;
}
