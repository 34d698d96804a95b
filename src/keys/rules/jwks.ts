import { createPublicKey, type KeyObject } from 'node:crypto';

/** The algorithms of client assertions: one for each type of key, and RSA with both paddings. None of them is symmetric. */
export const ASSERTION_ALGS = ['RS256', 'PS256', 'ES256', 'EdDSA'] as const;
export type AssertionAlg = (typeof ASSERTION_ALGS)[number];

/** A set of public keys as it is registered and stored (RFC 7517 §5), reduced to the parameters that are used. */
export interface JwkSet {
  readonly keys: readonly Readonly<Record<string, string>>[];
}

/** A public key of a client. */
export interface ClientKey {
  readonly kid: string | undefined;
  /** The algorithms that it may verify. They follow from the key, never from the header of an assertion (RFC 8725 §3.1). */
  readonly algs: readonly AssertionAlg[];
  readonly key: KeyObject;
}

const MAX_KEYS = 20;

/** The parameters of public keys (RFC 7518 §6, RFC 8037 §2) and of their use. */
const PUBLIC_PARAMETERS = ['kty', 'kid', 'use', 'alg', 'crv', 'x', 'y', 'n', 'e'] as const;
/** The parameters of private and symmetric keys. */
const SECRET_PARAMETERS = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'] as const;

/** RFC 7518 §3.3. */
const MIN_RSA_BITS = 2048;
/** Larger keys would only cost the server time. */
const MAX_RSA_BITS = 8192;
const MIN_RSA_EXPONENT = 65537n;

/** A key with its stored form, or what is wrong with it, phrased to follow "must". */
type JwkReading =
  | { readonly key: ClientKey; readonly kept: Readonly<Record<string, string>> }
  | { readonly problem: string };

/**
 * Reads the key set of a registration. Every key has to be one that can verify assertions.
 * @returns the set with only its public parameters, or what is wrong and where
 */
export function readRegisteredSet(
  value: unknown,
  field: string,
): { readonly set: JwkSet } | { readonly problem: string } {
  const keys = keysIn(value);
  if (keys === undefined || keys.length === 0 || keys.length > MAX_KEYS) {
    return { problem: `${field} must be {"keys": […]} with 1 to ${MAX_KEYS} public keys` };
  }
  const kept: Readonly<Record<string, string>>[] = [];
  for (const [index, jwk] of keys.entries()) {
    const reading = readKey(jwk);
    if ('problem' in reading) return { problem: `${field}.keys[${index}] must ${reading.problem}` };
    const { kid } = reading.kept;
    if (keys.length > 1 && (kid === undefined || kept.some((other) => other['kid'] === kid))) {
      return { problem: `${field}.keys[${index}] must have a kid of its own, for there are several keys` };
    }
    kept.push(reading.kept);
  }
  return { set: { keys: kept } };
}

/** The keys of a fetched set that can verify assertions; it may have others. Undefined for what is not a key set. */
export function usableKeys(value: unknown): readonly ClientKey[] | undefined {
  const keys = keysIn(value);
  if (keys === undefined || keys.length > MAX_KEYS) return undefined;
  return keys.flatMap((jwk) => {
    const reading = readKey(jwk);
    return 'key' in reading ? [reading.key] : [];
  });
}

/** The key that an assertion names. Without a `kid`, only one key may fit (OpenID Connect Core 1.0 §10.1). */
export function chooseKey(
  keys: readonly ClientKey[],
  alg: AssertionAlg,
  kid: string | undefined,
): ClientKey | undefined {
  const fitting = keys.filter((key) => key.algs.includes(alg) && (kid === undefined || key.kid === kid));
  return fitting.length === 1 ? fitting[0] : undefined;
}

function keysIn(value: unknown): readonly unknown[] | undefined {
  if (typeof value !== 'object' || value === null || !('keys' in value)) return undefined;
  return Array.isArray(value.keys) ? value.keys : undefined;
}

function readKey(jwk: unknown): JwkReading {
  if (typeof jwk !== 'object' || jwk === null || Array.isArray(jwk)) return { problem: 'be a JSON Web Key' };
  const members: Readonly<Record<string, unknown>> = { ...jwk };
  // RFC 7517 §9.2: a private key must not be disclosed.
  const secret = SECRET_PARAMETERS.find((name) => Object.hasOwn(members, name));
  if (secret !== undefined) return { problem: `be a public key: take "${secret}" out, and make another key pair` };
  const kept: Record<string, string> = {};
  for (const name of PUBLIC_PARAMETERS) {
    const member = members[name];
    if (member === undefined) continue;
    if (typeof member !== 'string' || member === '')
      return { problem: `have texts in ${PUBLIC_PARAMETERS.join(', ')}` };
    kept[name] = member;
  }
  if ((kept['kid']?.length ?? 0) > 256) return { problem: 'have a kid of at most 256 characters' };
  if ((kept['use'] ?? 'sig') !== 'sig') return { problem: 'be for signatures: use must be sig, or left out' };
  const operations = members['key_ops'];
  if (operations !== undefined && !(Array.isArray(operations) && operations.includes('verify'))) {
    return { problem: 'be for signatures: key_ops must have verify, or be left out' };
  }
  const supported = algsOf(kept);
  if (supported === undefined) return { problem: 'be an RSA key, an EC key on P-256 or an OKP key on Ed25519' };
  const { alg } = kept;
  const algs = alg === undefined ? supported : supported.filter((one) => one === alg);
  if (algs.length === 0) return { problem: `have the alg ${supported.join(' or ')}, or none` };
  const key = importKey(kept);
  if (key === undefined) return { problem: 'be a key that can be read' };
  const problem = strengthProblem(key);
  return problem === undefined ? { kept, key: { kid: kept['kid'], algs, key } } : { problem };
}

function algsOf({ kty, crv }: Readonly<Record<string, string>>): readonly AssertionAlg[] | undefined {
  if (kty === 'RSA') return ['RS256', 'PS256'];
  if (kty === 'EC' && crv === 'P-256') return ['ES256'];
  if (kty === 'OKP' && crv === 'Ed25519') return ['EdDSA'];
  return undefined;
}

/** Undefined also for a point that is not on its curve. */
function importKey(jwk: Readonly<Record<string, string>>): KeyObject | undefined {
  try {
    return createPublicKey({ key: jwk, format: 'jwk' });
  } catch {
    return undefined;
  }
}

function strengthProblem({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): string | undefined {
  if (asymmetricKeyType !== 'rsa') return undefined;
  const { modulusLength = 0, publicExponent = 0n } = asymmetricKeyDetails ?? {};
  if (modulusLength < MIN_RSA_BITS) return `have ${MIN_RSA_BITS} bits at least`;
  if (modulusLength > MAX_RSA_BITS) return `have ${MAX_RSA_BITS} bits at most`;
  if (publicExponent < MIN_RSA_EXPONENT || publicExponent >= 1n << 32n || publicExponent % 2n === 0n) {
    return 'have the public exponent 65537';
  }
  return undefined;
}
