import { createHmac, createSecretKey, hash, type KeyObject, timingSafeEqual } from 'node:crypto';
import { deriveKey } from '../platform/crypto/secrets.ts';
import type { KeySet, Keys } from './keys.ts';

/** The kinds of JWT that only this server reads. Each has its own key, `typ` and audience. */
const TOKEN_TYPES = { access: 'at+jwt', refresh: 'rt+jwt' } as const;
export type TokenKind = keyof typeof TOKEN_TYPES;
export const TOKEN_KINDS = Object.keys(TOKEN_TYPES) as readonly TokenKind[];

/** No token of this server is longer. */
const MAX_TOKEN_LENGTH = 8192;

/** RFC 7515 §7.1: three base64url parts without padding; the signature of HS256 is 43 characters. */
const COMPACT = /^[A-Za-z0-9_-]{1,1024}\.[A-Za-z0-9_-]{1,8192}\.[A-Za-z0-9_-]{43}$/;

/** The claims of a token that one of our keys signed. Nothing is known yet about its expiry or whether it was revoked. */
export interface SignedToken {
  readonly kind: TokenKind;
  readonly claims: Readonly<Record<string, unknown>>;
  /** The key set that verified it: the result holds only while the database has the same version. */
  readonly keySet: KeySet;
}

/** Verifies the signature of a token of one kind; undefined where it is not ours. */
export const verifyToken = (keys: Keys, kind: TokenKind, token: string): Promise<SignedToken | undefined> =>
  verify(keys, [kind], token);

/** Verifies the signature of a token of any kind: its header tells which. */
export const verifyAnyToken = (keys: Keys, token: string): Promise<SignedToken | undefined> =>
  verify(keys, TOKEN_KINDS, token);

async function verify(keys: Keys, kinds: readonly TokenKind[], token: string): Promise<SignedToken | undefined> {
  if (token.length > MAX_TOKEN_LENGTH) return undefined;
  const header = token.slice(0, token.indexOf('.'));
  let keySet = keys.keySet();
  let key = keyFor(keySet, kinds, header);
  if (key === undefined && COMPACT.test(token)) {
    // Another node may have rotated the keys since this one read them.
    keySet = await keys.recheck();
    key = keyFor(keySet, kinds, header);
  }
  const claims = key?.verify(token);
  return key && claims && { kind: key.kind, claims, keySet };
}

function keyFor(keySet: KeySet, kinds: readonly TokenKind[], header: string): TokenKey | undefined {
  for (const kind of kinds) {
    const key = keySet.byHeader(kind, header);
    if (key !== undefined) return key;
  }
  return undefined;
}

/** The key for one kind of token. */
export interface TokenKey {
  readonly kid: string;
  readonly kind: TokenKind;
  /** The header segment of every token that it signs. */
  readonly header: string;
  sign(claims: Readonly<Record<string, unknown>>): string;
  /** The claims, or undefined if this key did not sign the token. Expiry and revocation are not checked. */
  verify(token: string): Readonly<Record<string, unknown>> | undefined;
}

/** Derives the key for one kind of token from the key material of a `kid`. */
export function tokenKey(material: Buffer, kid: string, kind: TokenKind): TokenKey {
  const secret = createSecretKey(deriveKey(material, `${kind} token`));
  const header = jsonSegment({ alg: 'HS256', typ: TOKEN_TYPES[kind], kid });
  // Access tokens are presented many times, refresh tokens once.
  const isSigned = kind === 'access' ? cachedCheck(secret) : (token: string) => isSignedWith(secret, token);
  return {
    kid,
    kind,
    header,
    sign: (claims) => signHs256(secret, header, claims),
    verify(token) {
      // The payload is parsed only after its signature was verified.
      if (!isSigned(token)) return undefined;
      const payload = token.slice(token.indexOf('.') + 1, token.lastIndexOf('.'));
      return parseObject(Buffer.from(payload, 'base64url').toString('utf8'));
    },
  };
}

/** The header or the claims of a JWT as a segment of it (RFC 7515 §7.1). */
export const jsonSegment = (value: Readonly<Record<string, unknown>>): string =>
  Buffer.from(JSON.stringify(value)).toString('base64url');

/**
 * A JWT signed with HS256, in compact form. A token response has up to three of these, so they are signed with `node:crypto`
 * directly (README.md).
 * @param key a string stands for its UTF-8 bytes
 */
export function signHs256(key: KeyObject | string, header: string, claims: Readonly<Record<string, unknown>>): string {
  const input = `${header}.${jsonSegment(claims)}`;
  return `${input}.${hmacSegment(key, input)}`;
}

/** The signature segment of HS256 (RFC 7518 §3.2). */
const hmacSegment = (key: KeyObject | string, input: string): string =>
  createHmac('sha256', key).update(input).digest('base64url');

/**
 * Whether a JWT in compact form has the HS256 signature of this key.
 * @param key a string stands for its UTF-8 bytes, like a client secret (OpenID Connect Core 1.0 §10.1)
 */
export function isSignedWith(key: KeyObject | string, token: string): boolean {
  if (!COMPACT.test(token)) return false;
  const end = token.lastIndexOf('.');
  // Compared as text, so that only the canonical encoding of the signature is accepted (RFC 4648 §3.5).
  const expected = Buffer.from(hmacSegment(key, token.slice(0, end)));
  const presented = Buffer.from(token.slice(end + 1));
  return presented.length === expected.length && timingSafeEqual(presented, expected);
}

function parseObject(json: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : undefined;
  } catch {
    return undefined;
  }
}

/** A key remembers nearly all of the last 65,536 tokens whose signature it verified: four MiB. */
const CACHED_SIGNATURES = 65_536;

/** Verifies a signature once: afterwards the token's hash is enough, because a signature does not expire. */
function cachedCheck(secret: KeyObject): (token: string) => boolean {
  const verified = digestSet(CACHED_SIGNATURES);
  return (token) => {
    const digest = hash('sha256', token, 'latin1');
    if (verified.has(digest)) return true;
    if (!isSignedWith(secret, token)) return false;
    verified.add(digest);
    return true;
  };
}

/** A set of digests of fixed size: a new one replaces an older one where there is no room. */
interface DigestSet {
  /** @param digest a SHA-256 as 32 characters, one for each byte (`latin1`) */
  has(digest: string): boolean;
  add(digest: string): void;
}

/** 128 bits of each digest are kept, as four words: enough that no second input for them can be found. */
const WORDS = 4;
/** A digest is kept in one of four slots, which fill a cache line of the processor: 64 bytes. */
const LINE = 4 * WORDS;

/**
 * A set in one typed array, 16 bytes per digest. A `Set` of strings takes six times as much memory, and the garbage collector
 * walks through it.
 * @param lines the number of lines of four digests, a power of two; a set keeps nearly all of as many digests
 */
export function digestSet(lines: number): DigestSet {
  const words = new Uint32Array(lines * LINE);
  const lineOf = (digest: string) => (wordOf(digest, 4) & (lines - 1)) * LINE;
  const isAt = (slot: number, digest: string) => {
    for (let word = 0; word < WORDS; word++) if (words[slot + word] !== wordOf(digest, word)) return false;
    return true;
  };
  return {
    has(digest) {
      const line = lineOf(digest);
      for (let slot = line; slot < line + LINE; slot += WORDS) if (isAt(slot, digest)) return true;
      return false;
    },
    add(digest) {
      const line = lineOf(digest);
      // The newest goes first, and the last of the line is dropped.
      words.copyWithin(line + WORDS, line, line + LINE - WORDS);
      for (let word = 0; word < WORDS; word++) words[line + word] = wordOf(digest, word);
    },
  };
}

const wordOf = (digest: string, word: number): number =>
  (digest.charCodeAt(4 * word) |
    (digest.charCodeAt(4 * word + 1) << 8) |
    (digest.charCodeAt(4 * word + 2) << 16) |
    (digest.charCodeAt(4 * word + 3) << 24)) >>>
  0;
