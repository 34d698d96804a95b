import { readFamily } from '../../credentials/standing-store.ts';
import { verifyIdToken } from '../../keys/id-tokens.ts';
import type { Keys } from '../../keys/keys.ts';
import type { Database } from '../../platform/database/database.ts';
import { type NamedByIdToken, readIdClaims } from './rules/claims.ts';

interface Parts {
  readonly database: Database;
  readonly keys: Keys;
  readonly issuer: string;
}

/**
 * Whom an ID token names that comes back as a hint (OpenID Connect Core 1.0 §3.1.2.1): one of ours, expired or not, from an
 * authorization that still stands. It never authenticates anybody.
 * @returns undefined for any other, which is then ignored: decisions §1
 */
export async function readIdTokenHint(
  { database, keys, issuer }: Parts,
  token: string,
): Promise<NamedByIdToken | undefined> {
  const claims = await verifyIdToken(keys, token);
  const named = claims && readIdClaims(claims, issuer);
  return named !== undefined && (await stands(database, named)) ? named : undefined;
}

/** Whether the authorization behind an ID token still holds; not where its account, client, grant or family ended. */
export async function stands(database: Database, named: NamedByIdToken): Promise<boolean> {
  const family = await database.read(() => readFamily(named));
  return family?.standing.grant?.revokedAt === null && family.standing.family?.deadAt === null;
}
