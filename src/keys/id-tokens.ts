import { createPrivateKey, generateKeyPair, type KeyObject, sign } from 'node:crypto';
import { promisify } from 'node:util';
import { decodeProtectedHeader } from 'jose/decode/protected_header';
import { compactVerify } from 'jose/jws/compact/verify';
import { randomName } from '../platform/crypto/secrets.ts';
import type { AsymmetricAlg } from './algorithms.ts';
import type { Keys } from './keys.ts';
import { jsonSegment } from './tokens.ts';

type Claims = Readonly<Record<string, unknown>>;

const generate = promisify(generateKeyPair);

/** A new key pair of one algorithm, not sealed yet. */
export interface KeyPair {
  readonly kid: string;
  readonly alg: AsymmetricAlg;
  /** PKCS #8, PEM. */
  readonly privateKey: string;
  readonly publicJwk: PublicJwk;
}

/** RFC 7517 §4, with the parameters of the public key only (RFC 7518 §6, RFC 8037 §2). */
export interface PublicJwk {
  readonly kty: string;
  readonly kid: string;
  readonly use: 'sig';
  readonly alg: AsymmetricAlg;
  readonly [parameter: string]: string;
}

/** The parameters that the JWKS shows. Nothing else of an exported key leaves this file. */
const PUBLIC_PARAMETERS = ['crv', 'x', 'y', 'n', 'e'] as const;

/** Generates a key pair off the event loop: an RSA key takes a good part of a second. */
export async function newKeyPair(alg: AsymmetricAlg): Promise<KeyPair> {
  const { publicKey, privateKey } = await generateFor(alg);
  const kid = randomName();
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  return { kid, alg, privateKey: pem, publicJwk: publicJwk(kid, alg, publicKey) };
}

function generateFor(alg: AsymmetricAlg): Promise<{ publicKey: KeyObject; privateKey: KeyObject }> {
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

function publicJwk(kid: string, alg: AsymmetricAlg, publicKey: KeyObject): PublicJwk {
  const exported = publicKey.export({ format: 'jwk' });
  const shown = PUBLIC_PARAMETERS.flatMap((name) => {
    const value = exported[name];
    return typeof value === 'string' ? [[name, value] as const] : [];
  });
  return { kty: exported.kty ?? '', kid, use: 'sig', alg, ...Object.fromEntries(shown) };
}

/** Signs claims as a JWT with this `typ` in its header. */
export type SignJwt = (claims: Claims, typ: string) => Promise<string>;

/** With a callback, `node:crypto` signs on the threads of the runtime, of which hashing never takes all (`threads.ts`). */
const signOffLoop = promisify(sign);

/** The hash of each signature (RFC 7518 §3.1). Ed25519 has its own (RFC 8032 §5.1). */
const DIGEST: Readonly<Record<AsymmetricAlg, 'sha256' | null>> = { RS256: 'sha256', ES256: 'sha256', EdDSA: null };

/**
 * A JWT in compact form (RFC 7515 §7.1). It is put together here, because a library takes twice as much of the event loop as the rest of
 * the signature (README.md).
 * @param privateKey PKCS #8, PEM
 */
export function signWith(alg: AsymmetricAlg, kid: string, privateKey: string): SignJwt {
  // RFC 7518 §3.4: the two numbers of an ECDSA signature, one after the other. Other keys ignore this.
  const key = { key: createPrivateKey(privateKey), dsaEncoding: 'ieee-p1363' } as const;
  return async (claims, typ) => {
    const input = `${jsonSegment({ alg, typ, kid })}.${jsonSegment(claims)}`;
    const signature = await signOffLoop(DIGEST[alg], Buffer.from(input, 'latin1'), key);
    return `${input}.${signature.toString('base64url')}`;
  };
}

/** No ID token of this server is longer. */
const MAX_TOKEN_LENGTH = 8192;

/** RFC 7515 §7.1: three base64url parts without padding. */
const COMPACT = /^[A-Za-z0-9_-]{1,1024}\.[A-Za-z0-9_-]{1,8192}\.[A-Za-z0-9_-]{1,1024}$/;

/**
 * Verifies an ID token that one of our key pairs signed; its age does not matter, because a hint may be from a past session
 * (OpenID Connect Core 1.0 §3.1.2.1). Undefined for any other token, and for one under HS256: its key is the client's secret, of
 * which we store only the hash.
 *
 * The key set is compared with the database first. Another process may have dropped the key, and no later step would notice:
 * only the verdict on access and refresh tokens reads the version together with the token's family.
 */
export async function verifyIdToken(keys: Keys, token: string): Promise<Claims | undefined> {
  const header = readHeader(token);
  if (header === undefined) return undefined;
  const keySet = await keys.recheck();
  const key = keySet.pair(header.kid);
  // RFC 8725 §3.1: the key determines the algorithm, and the header has to agree.
  if (key === undefined || key.alg !== header.alg) return undefined;
  try {
    const { payload } = await compactVerify(token, key.publicJwk, { algorithms: [key.alg] });
    const claims: unknown = JSON.parse(Buffer.from(payload).toString('utf8'));
    return typeof claims === 'object' && claims !== null ? (claims as Claims) : undefined;
  } catch {
    return undefined;
  }
}

/** The header of a token in the form that we write, with no parameter beside `alg`, `typ` and `kid`. */
function readHeader(token: string): { readonly kid: string; readonly alg: unknown } | undefined {
  if (token.length > MAX_TOKEN_LENGTH || !COMPACT.test(token)) return undefined;
  try {
    const { kid, alg, typ, ...others } = decodeProtectedHeader(token);
    const isOurs = typ === 'JWT' && typeof kid === 'string' && Object.keys(others).length === 0;
    return isOurs ? { kid, alg } : undefined;
  } catch {
    return undefined;
  }
}
