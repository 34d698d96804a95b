import { decodeProtectedHeader } from 'jose/decode/protected_header';
import { decodeJwt } from 'jose/jwt/decode';
import { verifyIdToken } from '../../keys/id-tokens.ts';
import type { Keys } from '../../keys/keys.ts';
import type { Database } from '../../platform/database/database.ts';
import { isSnowflake } from '../../platform/ids/ids.ts';
import { authorizationOf } from '../token/id-token-hint.ts';
import { readIdClaims } from '../token/rules/claims.ts';
import type { LogoutHint } from './rules/end-session.ts';

interface LogoutHintServices {
  readonly database: Database;
  readonly keys: Keys;
  readonly issuer: string;
}

/** Verifies an `id_token_hint`. One that has expired is accepted, since the session outlives it: §2. */
export async function readLogoutHint(services: LogoutHintServices, token: string | undefined): Promise<LogoutHint> {
  if (token === undefined) return { kind: 'none' };
  if (!isCanonical(token)) return { kind: 'bad' };
  const claims = await verifyIdToken(services.keys, token);
  if (claims === undefined) return unproven(token, services.issuer);
  const named = readIdClaims(claims, services.issuer);
  if (named === undefined) return { kind: 'bad' };
  const { clientId, accountId, sid } = named;
  return {
    kind: 'proven',
    clientId,
    accountId,
    sid,
    authorization: await authorizationOf(services.database, named),
  };
}

/** Whether each part is canonical base64url: the unused bits of its last character could be changed without breaking the signature. */
const isCanonical = (token: string): boolean =>
  token.split('.').every((part) => Buffer.from(part, 'base64url').toString('base64url') === part);

/** Decisions §1: client secrets are stored as hashes, so the HS256 signatures made with them cannot be verified. */
function unproven(token: string, issuer: string): LogoutHint {
  try {
    const { alg, typ } = decodeProtectedHeader(token);
    const { iss, aud } = decodeJwt(token);
    const isOurs = alg === 'HS256' && typ === 'JWT' && iss === issuer;
    if (isOurs && typeof aud === 'string' && isSnowflake(aud)) return { kind: 'unproven', clientId: aud };
  } catch {
    // Not a JWT.
  }
  return { kind: 'bad' };
}
