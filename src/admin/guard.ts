import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { RecordThrottled } from '../audit/throttle.ts';
import { exceeded, take } from '../limits/limits.ts';
import type { Pictures } from '../pictures/pictures.ts';
import type { Clock } from '../platform/clock.ts';
import type { Limits } from '../platform/config/limits.ts';
import type { Passwords } from '../platform/crypto/passwords.ts';
import { digest, equalSecrets } from '../platform/crypto/secrets.ts';
import type { Database } from '../platform/database/database.ts';
import { type Origin, originOf } from '../platform/http/origin.ts';
import type { Ids } from '../platform/ids/ids.ts';
import { invalidToken, OAuthError, rateLimited } from '../platform/oauth-error.ts';
import { addressBucket } from '../platform/validation/ip-address.ts';
import { bearerToken } from '../protocol/userinfo/routes.ts';
import { findLiveAdminKey } from './key-store.ts';
import { whileKeyLives } from './live-key.ts';

/** What the admin API works with. */
export interface AdminParts {
  readonly database: Database;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly passwords: Passwords;
  readonly pictures: Pictures;
  readonly limits: Limits;
  /** The admin key of the configuration, if one is set. */
  readonly adminKey: string | undefined;
  readonly recordThrottled: RecordThrottled;
}

/** Who calls the admin API, and what its routes work with on behalf of that key. */
interface AdminCaller {
  readonly origin: Origin;
  readonly parts: AdminParts;
}

declare module 'fastify' {
  interface FastifyRequest {
    adminCaller: AdminCaller | undefined;
  }
}

/**
 * Requires an admin key for every route of a scope: before the body is read, so that a caller without one makes the server
 * read nothing, and again in each unit of work, since the key may be revoked while the body is on its way.
 */
export function requireAdminKey(scope: FastifyInstance, parts: AdminParts): void {
  const { database, clock, limits } = parts;

  scope.decorateRequest('adminCaller', undefined);
  scope.addHook('onRequest', async (request) => {
    request.adminCaller = await authenticate(request);
  });

  async function authenticate(request: FastifyRequest): Promise<AdminCaller> {
    const key = adminKeyOf(request);
    const origin = (id: string | null) => originOf(request, { type: 'admin', id });
    // It cannot be revoked while this process runs.
    if (parts.adminKey !== undefined && equalSecrets(key, parts.adminKey)) return { origin: origin(null), parts };
    const hash = digest(key);
    const id = await database.read(() => findLiveAdminKey(hash));
    if (id === undefined) throw await refusal(request);
    const guarded = whileKeyLives(database, hash, () => refusal(request));
    return { origin: origin(id), parts: { ...parts, database: guarded } };
  }

  /** Counts a failed key against the caller's address. A right key is never limited: it is looked up before any count. */
  async function refusal(request: FastifyRequest): Promise<OAuthError> {
    const [now, origin] = [clock(), originOf(request)];
    const bucket = `admin-key ${addressBucket(origin.address ?? '')}`;
    const seconds =
      // Guesses beyond the limit write nothing.
      (await database.read(() => exceeded(bucket, limits.adminKey, now))) ||
      (await database.commit(() => take(bucket, limits.adminKey, now, { name: 'adminKey', origin })));
    if (seconds > 0) return rateLimited(seconds);
    await parts.recordThrottled({ at: now, type: 'admin_key.refused', outcome: 'failure', origin });
    return invalidToken('The admin key is not valid: it is unknown, or was revoked.', 'unknown admin key');
  }
}

/** @throws {OAuthError} 401 where no key was sent, as RFC 6750 §3.1 has it for a missing token */
function adminKeyOf(request: FastifyRequest): string {
  try {
    return bearerToken(request.headers.authorization);
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error;
    const remedy = 'Send an admin key: Authorization: Bearer <key>. Make one with: npx tessera admin-key create';
    throw new OAuthError(error.status, error.code, remedy, error.headers);
  }
}

/** Who acts. */
export const operator = (request: FastifyRequest): Origin => callerOf(request).origin;

/** What a route works with: units of work of its database are refused once the caller's key is revoked. */
export const partsOf = (request: FastifyRequest): AdminParts => callerOf(request).parts;

/** The guard runs before any route, so this fails only where one is registered outside of its scope. */
function callerOf(request: FastifyRequest): AdminCaller {
  if (request.adminCaller === undefined) throw new Error('an admin route was reached without its guard');
  return request.adminCaller;
}
