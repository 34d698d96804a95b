import { createPublicKey } from 'node:crypto';
import { createVerifier } from 'fast-jwt';
import type { Keys } from './keys.ts';
import type { IdTokenKey } from './ring.ts';

/** Longer than any token of ours. */
const LONGEST = 8192;

/** RFC 7515 §7.1: three base64url parts without padding. */
const COMPACT = /^([A-Za-z0-9_-]{1,1024})\.[A-Za-z0-9_-]{1,8192}\.[A-Za-z0-9_-]{1,1024}$/;

type Claims = Readonly<Record<string, unknown>>;

/**
 * The claims of a token that a key pair of ours signed, published still or not, or undefined. Under HS256 nobody can tell: the
 * key is the client's secret, of which only the hash is kept, and whoever has it could have signed.
 *
 * The key set is compared with the database first: a key that another process has dropped must not vouch for anything, and no
 * later step would notice (the verdict on access and refresh tokens reads the version with the token's family).
 */
export async function openIdToken(keys: Keys, token: string): Promise<Claims | undefined> {
  if (token.length > LONGEST) return undefined;
  const header = COMPACT.exec(token)?.[1];
  const named = header === undefined ? undefined : readHeader(header);
  if (named === undefined) return undefined;
  const ring = await keys.recheck();
  const key = ring.pair(named.kid);
  // RFC 8725 §3.1: the key says which algorithm it is for, and the header may only agree.
  return key === undefined || key.alg !== named.alg ? undefined : verified(key, token);
}

function readHeader(segment: string): { readonly kid: string; readonly alg: unknown } | undefined {
  try {
    const header: unknown = JSON.parse(Buffer.from(segment, 'base64url').toString('utf8'));
    if (typeof header !== 'object' || header === null) return undefined;
    const { kid, alg, typ, ...others } = header as Record<string, unknown>;
    const isOurs = typ === 'JWT' && typeof kid === 'string' && Object.keys(others).length === 0;
    return isOurs ? { kid, alg } : undefined;
  } catch {
    return undefined;
  }
}

function verified({ alg, publicJwk }: IdTokenKey, token: string): Claims | undefined {
  const key = createPublicKey({ key: publicJwk, format: 'jwk' }).export({ type: 'spki', format: 'pem' }).toString();
  try {
    // OpenID Connect Core 1.0 §3.1.2.1: a hint is from a past session, so its time is not looked at.
    const claims: unknown = createVerifier({ key, algorithms: [alg], ignoreExpiration: true })(token);
    return typeof claims === 'object' && claims !== null ? (claims as Claims) : undefined;
  } catch {
    return undefined;
  }
}
