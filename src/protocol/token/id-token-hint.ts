import { findClientOnWire } from '../../clients/store.ts';
import { REVOKED_BY_CLIENT, readFamily } from '../../credentials/token-family-store.ts';
import { verifyIdToken } from '../../keys/id-tokens.ts';
import type { Keys } from '../../keys/keys.ts';
import type { Database, Work } from '../../platform/database/database.ts';
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
  if (named === undefined || (await authorizationOf(database, named)) !== 'valid') return undefined;
  return database.read(() => findRecorded(named));
}

/** The same with the id by which its client is on record; undefined where it is not. */
function* findRecorded(named: NamedByIdToken): Work<NamedByIdToken | undefined> {
  const client = yield* findClientOnWire(named.clientId);
  return client && { ...named, clientId: client.id };
}

/** `revoked by client`: its grant stands, and what revoked its family first was the client’s own call of the revocation endpoint. */
export type HintAuthorization = 'valid' | 'revoked by client' | 'revoked';

/** Whether the authorization that an ID token came from is still valid. */
export async function authorizationOf(database: Database, named: NamedByIdToken): Promise<HintAuthorization> {
  const found = await database.read(function* read() {
    const recorded = yield* findRecorded(named);
    return recorded && (yield* readFamily(recorded));
  });
  if (found?.state.grant?.revokedAt !== null) return 'revoked';
  if (found.state.family?.deadAt === null) return 'valid';
  return found.family.deadReason === REVOKED_BY_CLIENT ? 'revoked by client' : 'revoked';
}
