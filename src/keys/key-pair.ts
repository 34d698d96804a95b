import { generateKeyPair, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import { createSigner } from 'fast-jwt';
import { randomName } from '../platform/crypto/secrets.ts';
import type { AsymmetricAlg } from './algorithms.ts';

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
export type Sign = (claims: Readonly<Record<string, unknown>>, typ: string) => string;

/** @param privateKey PKCS #8, PEM */
export function signWith(alg: AsymmetricAlg, kid: string, privateKey: string): Sign {
  const signer = (typ: string) => createSigner({ key: privateKey, algorithm: alg, kid, header: { alg, typ } });
  const signers = new Map<string, ReturnType<typeof signer>>();
  return (claims, typ) => {
    const sign = signers.get(typ) ?? signer(typ);
    signers.set(typ, sign);
    return sign(claims);
  };
}
