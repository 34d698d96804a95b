import { createPublicKey, generateKeyPair, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import { createSigner, createVerifier } from 'fast-jwt';
import { randomName } from '../platform/crypto/secrets.ts';
import type { AsymmetricAlg } from './algorithms.ts';
import type { IdTokenKey, Keys } from './keys.ts';

type Claims = Readonly<Record<string, unknown>>;

const generate = promisify(generateKeyPair);

/** A key pair of one algorithm, before it is sealed. */
export interface KeyPair {
  readonly kid: string;
  readonly alg: AsymmetricAlg;
  /** PKCS #8, PEM. */
  readonly privateKey: string;
  readonly publicJwk: PublicJwk;
}

/** RFC 7517 §4, and the parameters of the public key alone (RFC 7518 §6, RFC 8037 §2). */
export interface PublicJwk {
  readonly kty: string;
  readonly kid: string;
  readonly use: 'sig';
  readonly alg: AsymmetricAlg;
  readonly [parameter: string]: string;
}

/** The parameters that may be shown; everything else that an export could hold stays here. */
const PUBLIC_PARAMETERS = ['crv', 'x', 'y', 'n', 'e'] as const;

/** Makes a key pair, away from the event loop: an RSA key takes a good part of a second. */
export async function newKeyPair(alg: AsymmetricAlg): Promise<KeyPair> {
  const { publicKey, privateKey } = await pairOf(alg);
  const kid = randomName();
  return { kid, alg, privateKey: pem(privateKey), publicJwk: publicJwk(kid, alg, exportJwk(publicKey)) };
}

function pairOf(alg: AsymmetricAlg): Promise<{ publicKey: KeyObject; privateKey: KeyObject }> {
  switch (alg) {
    case 'RS256':
      // RFC 7518 §3.3: 2048 bits at least.
      return generate('rsa', { modulusLength: 2048 });
    case 'ES256':
      return generate('ec', { namedCurve: 'P-256' });
    case 'EdDSA':
      return generate('ed25519');
  }
}

const exportJwk = (key: KeyObject) => key.export({ format: 'jwk' });

const pem = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' }).toString();

function publicJwk(kid: string, alg: AsymmetricAlg, exported: ReturnType<typeof exportJwk>): PublicJwk {
  const shown = PUBLIC_PARAMETERS.flatMap((name) => {
    const value = exported[name];
    return typeof value === 'string' ? [[name, value] as const] : [];
  });
  return { kty: exported.kty ?? '', kid, use: 'sig', alg, ...Object.fromEntries(shown) };
}

/** Signs claims as a JWT of `typ`. */
export type SignJwt = (claims: Readonly<Record<string, unknown>>, typ: string) => string;

/** @param privateKey PKCS #8, PEM */
export function signWith(alg: AsymmetricAlg, kid: string, privateKey: string): SignJwt {
  const signer = (typ: string) => createSigner({ key: privateKey, algorithm: alg, kid, header: { alg, typ } });
  const signers = new Map<string, ReturnType<typeof signer>>();
  return (claims, typ) => {
    const sign = signers.get(typ) ?? signer(typ);
    signers.set(typ, sign);
    return sign(claims);
  };
}

/** No ID token of ours is longer. */
const MAX_TOKEN_LENGTH = 8192;

/** RFC 7515 §7.1: three base64url parts without padding. */
const COMPACT = /^([A-Za-z0-9_-]{1,1024})\.[A-Za-z0-9_-]{1,8192}\.[A-Za-z0-9_-]{1,1024}$/;

/**
 * The claims of a token that a key pair of ours signed, published still or not, or undefined. Under HS256 nobody can tell: the
 * key is the client's secret, of which only the hash is kept, and whoever has it could have signed.
 *
 * The key set is compared with the database first: a key that another process has dropped must not vouch for anything, and no
 * later step would notice (the verdict on access and refresh tokens reads the version with the token's family).
 */
export async function verifyIdToken(keys: Keys, token: string): Promise<Claims | undefined> {
  if (token.length > MAX_TOKEN_LENGTH) return undefined;
  const header = COMPACT.exec(token)?.[1];
  const named = header === undefined ? undefined : readHeader(header);
  if (named === undefined) return undefined;
  const keySet = await keys.recheck();
  const key = keySet.pair(named.kid);
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
