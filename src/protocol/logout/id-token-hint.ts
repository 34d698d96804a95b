import { verifyIdToken } from '../../keys/id-tokens.ts';
import type { Keys } from '../../keys/keys.ts';
import type { Database } from '../../platform/database/database.ts';
import { isSnowflake } from '../../platform/ids/ids.ts';
import { isAuthorizationValid } from '../token/id-token-hint.ts';
import { readIdClaims } from '../token/rules/claims.ts';
import type { IdTokenHint } from './rules/end-session.ts';

interface Parts {
  readonly database: Database;
  readonly keys: Keys;
  readonly issuer: string;
}

/** What an `id_token_hint` is worth. Its age does not matter: it tells of a session, and sessions outlive it. */
export async function readHint(parts: Parts, token: string | undefined): Promise<IdTokenHint> {
  if (token === undefined) return { kind: 'none' };
  if (!isCanonical(token)) return { kind: 'bad' };
  const claims = await verifyIdToken(parts.keys, token);
  if (claims === undefined) return unproven(token, parts.issuer);
  const named = readIdClaims(claims, parts.issuer);
  if (named === undefined) return { kind: 'bad' };
  const { clientId, accountId, sid } = named;
  return { kind: 'proven', clientId, accountId, sid, stands: await isAuthorizationValid(parts.database, named) };
}

/** Each part in its one spelling: bits that base64url leaves over would be a change that no signature sees. */
const isCanonical = (token: string): boolean =>
  token.split('.').every((part) => Buffer.from(part, 'base64url').toString('base64url') === part);

/** Decisions §1: the secrets of clients are kept as hashes, so that what they sign is no proof here, whoever signed it. */
function unproven(token: string, issuer: string): IdTokenHint {
  const [header, payload] = token.split('.').slice(0, 2).map(parsed);
  const ours = header?.['alg'] === 'HS256' && header['typ'] === 'JWT' && payload?.['iss'] === issuer;
  const audience = payload?.['aud'];
  return ours && typeof audience === 'string' && isSnowflake(audience)
    ? { kind: 'unproven', clientId: audience }
    : { kind: 'bad' };
}

function parsed(part: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
