import type { AsymmetricAlg } from './algorithms.ts';
import type { PublicJwk, Sign } from './key-pair.ts';
import { publishedAt, type Scheduled, signerAt } from './rules/schedule.ts';
import { headerOf, type TokenKey, type TokenKind, tokenKey } from './token-key.ts';

/** One version of the server's key material. */
export interface KeyMaterial {
  readonly kid: string;
  readonly material: Buffer;
  readonly retiredAt: number | null;
}

/** A key pair, opened: it signs ID tokens, and the JWKS shows its public half. */
export interface IdTokenKey extends Scheduled {
  readonly alg: AsymmetricAlg;
  readonly publicJwk: PublicJwk;
  readonly sign: Sign;
}

/** All keys that are accepted, at one version of the key set. It never changes; another version is another ring. */
export interface KeyRing {
  readonly version: string;
  /** The key that signs. */
  current(kind: TokenKind): TokenKey;
  /** The key with this id, to sign again what it signed before. */
  byKid(kind: TokenKind, kid: string): TokenKey | undefined;
  /** The key that a token's header names, found by the header's exact text. */
  byHeader(kind: TokenKind, header: string): TokenKey | undefined;
  /** The key pair that signs ID tokens with an algorithm at this moment, where there is one. */
  signer(alg: AsymmetricAlg, now: number): IdTokenKey | undefined;
  /** The key pair with this id, to know what it signed before: also one that the JWKS no longer shows. */
  pair(kid: string): IdTokenKey | undefined;
  /** The key pairs of the JWKS at this moment. */
  published(now: number): readonly IdTokenKey[];
}

/**
 * Builds a ring. A token is ours only if its header is, character for character, one that we write: so algorithm, kind
 * and `kid` are compared and never consulted (RFC 8725 §3.1), and nothing in a foreign header is ever parsed.
 * @throws when no key is current
 */
export function keyRing(
  version: string,
  materials: readonly KeyMaterial[],
  pairs: readonly IdTokenKey[] = [],
): KeyRing {
  const current = materials.find((material) => material.retiredAt === null);
  if (current === undefined) throw new Error('the key set has no current key; run: tessera keys rotate');
  const kinds = {
    access: keysOf('access', materials),
    refresh: keysOf('refresh', materials),
  };
  return {
    version,
    current(kind) {
      const key = kinds[kind].byKid.get(current.kid);
      if (key === undefined) throw new Error(`no ${kind} key for ${current.kid}`);
      return key;
    },
    byKid: (kind, kid) => kinds[kind].byKid.get(kid),
    byHeader: (kind, header) => kinds[kind].byHeader.get(header),
    signer: (alg, now) => signerAt(alg, pairs, now),
    pair: (kid) => pairs.find((pair) => pair.kid === kid),
    published: (now) => publishedAt(pairs, now),
  };
}

function keysOf(kind: TokenKind, materials: readonly KeyMaterial[]) {
  const keys = materials.map(({ material, kid }) => tokenKey(material, kid, kind));
  return {
    byKid: new Map(keys.map((key) => [key.kid, key])),
    byHeader: new Map(keys.map((key) => [headerOf(key), key])),
  };
}
