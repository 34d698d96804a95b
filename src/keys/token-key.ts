import { createSecretKey, hash, type KeyObject, timingSafeEqual } from 'node:crypto';
import { deriveKey } from '../platform/crypto/secrets.ts';
import { digestSet } from './digest-set.ts';
import { headerSegment, hs256, signHs256 } from './hs256.ts';

/** The kinds of JWT that only this server reads. Each has a key, a `typ` and an audience of its own. */
const TOKEN_TYPES = { access: 'at+jwt', refresh: 'rt+jwt' } as const;
export type TokenKind = keyof typeof TOKEN_TYPES;
export const TOKEN_KINDS = Object.keys(TOKEN_TYPES) as readonly TokenKind[];

/** One key for one kind of token. */
export interface TokenKey {
  readonly kid: string;
  readonly kind: TokenKind;
  sign(claims: Readonly<Record<string, unknown>>): string;
  /** The claims, or undefined where the signature is not this key's. Says nothing about expiry or life. */
  verify(token: string): Readonly<Record<string, unknown>> | undefined;
}

/** RFC 7515 §7.1: three base64url parts without padding; the signature of HS256 is 43 characters. */
export const COMPACT = /^[A-Za-z0-9_-]{1,1024}\.[A-Za-z0-9_-]{1,8192}\.[A-Za-z0-9_-]{43}$/;

/** Of at least so many tokens that were presented last, a key remembers nearly all that it signed: four MiB. */
const REMEMBERED = 65_536;

/** The key of one kind that one version of the server's key material gives. */
export function tokenKey(material: Buffer, kid: string, kind: TokenKind): TokenKey {
  const secret = createSecretKey(deriveKey(material, `${kind} token`));
  const header = headerOf({ kind, kid });
  // Access tokens are presented many times, refresh tokens once.
  const isSigned = kind === 'access' ? remembering(secret) : (token: string) => isSignedWith(secret, token);
  return {
    kid,
    kind,
    sign: (claims) => signHs256(secret, header, claims),
    verify(token) {
      // Nothing is parsed that was not signed with this key.
      if (!isSigned(token)) return undefined;
      const payload = token.slice(token.indexOf('.') + 1, token.lastIndexOf('.'));
      return objectIn(Buffer.from(payload, 'base64url').toString('utf8'));
    },
  };
}

/** Checks a signature once: a hash of the token's bytes stands for the outcome from then on, which no time changes. */
function remembering(secret: KeyObject): (token: string) => boolean {
  const signed = digestSet(REMEMBERED);
  return (token) => {
    const digest = hash('sha256', token, 'latin1');
    if (signed.has(digest)) return true;
    if (!isSignedWith(secret, token)) return false;
    signed.add(digest);
    return true;
  };
}

function isSignedWith(secret: KeyObject, token: string): boolean {
  if (!COMPACT.test(token)) return false;
  const end = token.lastIndexOf('.');
  // Compared as text: so of all ways to write a signature only the canonical one is taken (RFC 4648 §3.5).
  const [expected, presented] = [Buffer.from(hs256(secret, token.slice(0, end))), Buffer.from(token.slice(end + 1))];
  return presented.length === expected.length && timingSafeEqual(presented, expected);
}

function objectIn(json: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : undefined;
  } catch {
    return undefined;
  }
}

/** The header segment of the tokens that a key signs: always the same text. */
export const headerOf = ({ kind, kid }: Pick<TokenKey, 'kind' | 'kid'>): string =>
  headerSegment({ alg: 'HS256', typ: TOKEN_TYPES[kind], kid });
