import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { SecurityNoticeServices } from '../account-actions/notices/notices.ts';
import type { BreachedPasswords } from '../accounts/breached-passwords.ts';
import { findLiveAdminKey, lockLiveAdminKey } from '../admin-keys/store.ts';
import type { RecordThrottled } from '../audit/throttle.ts';
import { exceeded, take } from '../limits/limits.ts';
import type { Pictures } from '../pictures/pictures.ts';
import type { Clock } from '../platform/clock.ts';
import type { Limits } from '../platform/config/limits.ts';
import type { Passwords } from '../platform/crypto/passwords.ts';
import { digest, equalSecrets } from '../platform/crypto/secrets.ts';
import type { Database, Work } from '../platform/database/database.ts';
import type { Ids } from '../platform/ids/ids.ts';
import { invalidToken, OAuthError, rateLimited } from '../platform/oauth-error.ts';
import { addressBucket, type Origin, originOf } from '../platform/validation/origin.ts';
import { bearerToken } from '../protocol/token/bearer.ts';
import type { TraceRecorder } from '../traces/recorder.ts';

/** What the routes of the admin API need. */
export interface AdminServices extends SecurityNoticeServices {
  readonly database: Database;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly passwords: Passwords;
  readonly breaches: BreachedPasswords;
  readonly pictures: Pictures;
  readonly limits: Limits;
  /** The admin key of the configuration, if one is set. */
  readonly adminKey: ConfiguredAdminKey | undefined;
  readonly recordThrottled: RecordThrottled;
  /** Where refused keys are counted and recorded, also of a HEAD, which has no other effect: a guess is a guess. */
  readonly refusals: { readonly database: Database; readonly recordThrottled: RecordThrottled };
  readonly traces: Pick<TraceRecorder, 'flush'>;
  /** For how long traces are kept, in milliseconds; null if none are recorded. */
  readonly traceRetention: number | null;
}

/** The key of the configuration, with its id in the database. */
export interface ConfiguredAdminKey {
  readonly key: string;
  readonly id: string;
}

/** The caller of an admin route. Each unit of work on the caller's database checks the admin key again. */
interface AdminCaller {
  readonly services: AdminServices & { readonly adminKeyId: string };
  readonly origin: Origin;
}

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
    const key = adminKeyOf(request);
    const origin = (id: string | null) => originOf(request, { type: 'admin', id });
    // The configured key cannot be revoked while this process runs.
    const configured = services.adminKey;
    if (configured !== undefined && equalSecrets(key, configured.key)) {
      return { services: { ...services, adminKeyId: configured.id }, origin: origin(null) };
    }
    const hash = digest(key);
    const found = await database.read(() => findLiveAdminKey({ hash }));
    if (found === undefined) throw await invalidKey(request);
    const checked = checkingAdminKey(database, hash, () => invalidKey(request));
    return { services: { ...services, database: checked, adminKeyId: found.id }, origin: origin(found.id) };
  }

  /** Counts an invalid key against the caller's address. Keys are looked up first, so a valid key is never limited. */
  async function invalidKey(request: FastifyRequest): Promise<OAuthError> {
    const [now, origin] = [clock(), originOf(request)];
    const bucket = `admin-key ${addressBucket(origin.address ?? '')}`;
    // Guesses beyond the limit write nothing.
    const wait =
      (await refusals.database.read(() => exceeded(bucket, limits.adminKey, now))) ||
      (await refusals.database.commit(() => take(bucket, limits.adminKey, now, { name: 'adminKey', origin })));
    if (wait > 0) return rateLimited(wait);
    await refusals.recordThrottled({ at: now, type: 'admin_key.refused', outcome: 'failure', origin });
    return invalidToken(
      'The admin key is not valid: it is unknown, or was revoked. The operator makes another on the server with: tessera admin-key create',
      'unknown admin key',
    );
  }
}

/** @throws {OAuthError} 401 where no key was sent, with the challenge for a missing token (RFC 6750 §3.1) */
function adminKeyOf(request: FastifyRequest): string {
  try {
    return bearerToken(request.headers.authorization);
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error;
    const remedy =
      'Send an admin key: Authorization: Bearer <key>. The operator makes one on the server with: tessera admin-key create';
    throw new OAuthError(error.status, error.code, remedy, error.headers);
  }
}

/** The caller of a request that {@link requireAdminKey} has let through. */
export function callerOf({ adminCaller }: FastifyRequest): AdminCaller {
  if (adminCaller === undefined) throw new Error('an admin route was reached without its hook');
  return adminCaller;
}

/** Thrown in a unit of work, which rolls it back. */
class AdminKeyRevoked extends Error {
  override readonly name = 'AdminKeyRevoked';
}

/**
 * A database for one request, in which each unit of work first checks that the admin key is still valid. The key may be revoked
 * while the request waits for its body, a password hash or a picture.
 * @param invalidKey makes the error for a revoked key
 */
export function checkingAdminKey(database: Database, hash: string, invalidKey: () => Promise<OAuthError>): Database {
  let hasCommitted = false;

  async function run<T>(unit: Promise<T>): Promise<T> {
    try {
      return await unit;
    } catch (error) {
      throw error instanceof AdminKeyRevoked ? await invalidKey() : error;
    }
  }

  return {
    ...database,
    // After its commit the request reads only its own result, which a revocation no longer denies.
    read: (work) =>
      hasCommitted ? database.read(work) : run(database.read(() => ifKeyIsLive(findLiveAdminKey({ hash }), work))),
    async commit(work) {
      const result = await run(database.commit(() => ifKeyIsLive(lockLiveAdminKey({ hash }), work)));
      hasCommitted = true;
      return result;
    },
  };
}

function* ifKeyIsLive<T>(key: Work<unknown>, work: () => Work<T>): Work<T> {
  if ((yield* key) === undefined) throw new AdminKeyRevoked('the admin key was revoked');
  return yield* work();
}
