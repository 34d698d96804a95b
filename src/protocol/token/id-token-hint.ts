import { readFamily } from '../../credentials/token-family-store.ts';
import { verifyIdToken } from '../../keys/id-tokens.ts';
import type { Keys } from '../../keys/keys.ts';
import type { Database } from '../../platform/database/database.ts';
import { type NamedByIdToken, readIdClaims } from './rules/claims.ts';

interface HintParts {
  readonly database: Database;
  readonly keys: Keys;
  readonly issuer: string;
}

/**
 * Reads an ID token that is sent as a hint (OpenID Connect Core 1.0 §3.1.2.1): one that this server signed, expired or not, for
 * an authorization that is still valid. It authenticates no one.
 * @returns undefined for any other token, which is then ignored: decisions §1
 */
export async function readIdTokenHint(
  { database, keys, issuer }: HintParts,
  token: string,
): Promise<NamedByIdToken | undefined> {
  const claims = await verifyIdToken(keys, token);
  const named = claims && readIdClaims(claims, issuer);
  return named !== undefined && (await isAuthorizationValid(database, named)) ? named : undefined;
}

/** Whether the authorization of an ID token is still valid: its account and client exist, its grant and family are not revoked. */
export async function isAuthorizationValid(database: Database, named: NamedByIdToken): Promise<boolean> {
  const family = await database.read(() => readFamily(named));
  return family?.state.grant?.revokedAt === null && family.state.family?.deadAt === null;
}
