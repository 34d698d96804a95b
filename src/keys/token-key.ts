import { createHmac, createSecretKey, hash, type KeyObject, timingSafeEqual } from 'node:crypto';
import { createSigner } from 'fast-jwt';
import { deriveKey } from '../secrets.ts';
import { boundedSet } from './bounded-set.ts';

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

/** Of so many tokens that were presented, a key remembers that it signed them: some ten MiB. */
const REMEMBERED = 131_072;

/** The key of one kind that one version of the server's key material gives. */
export function tokenKey(material: Buffer, kid: string, kind: TokenKind): TokenKey {
  const key = deriveKey(material, `${kind} token`);
  const typ = TOKEN_TYPES[kind];
  const sign = createSigner({ key, algorithm: 'HS256', kid, header: { alg: 'HS256', typ } });
  const secret = createSecretKey(key);
  // Access tokens are presented many times, refresh tokens once.
  const isSigned = kind === 'access' ? remembering(secret) : (token: string) => isSignedWith(secret, token);
  return {
    kid,
    kind,
    sign,
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
  const signed = boundedSet(REMEMBERED);
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
  const mac = createHmac('sha256', secret).update(token.slice(0, end), 'utf8').digest('base64url');
  const [expected, presented] = [Buffer.from(mac), Buffer.from(token.slice(end + 1))];
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
export function headerOf(key: TokenKey): string {
  return Buffer.from(JSON.stringify({ alg: 'HS256', typ: TOKEN_TYPES[key.kind], kid: key.kid })).toString('base64url');
}
