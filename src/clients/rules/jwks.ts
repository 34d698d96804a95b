import { createPublicKey, type KeyObject } from 'node:crypto';

/**
 * The algorithms of client assertions: what the server's JWT library verifies with a public key, one for each kind of key
 * and RSA with both paddings. Symmetric ones and `none` are none of these.
 */
export const ASSERTION_ALGS = ['RS256', 'PS256', 'ES256', 'EdDSA'] as const;
export type AssertionAlg = (typeof ASSERTION_ALGS)[number];

/** A set of public keys as it is registered and stored (RFC 7517 §5), with the parameters that are looked at alone. */
export interface JwkSet {
  readonly keys: readonly Readonly<Record<string, string>>[];
}

/** A public key of a client, ready to verify with. */
export interface ClientKey {
  readonly kid: string | undefined;
  /** The algorithms that it may be used with: the key says so, never the header of what it is to verify. */
  readonly algs: readonly AssertionAlg[];
  readonly key: KeyObject;
}

const MOST_KEYS = 20;

/** The parameters of public keys (RFC 7518 §6, RFC 8037 §2), and what says what they are for. */
const KEPT = ['kty', 'kid', 'use', 'alg', 'crv', 'x', 'y', 'n', 'e'] as const;
/** What only whoever signs may know. */
const SECRET = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'] as const;

const WEAKEST_RSA = 2048;
/** Larger ones would only make the server work. */
const LARGEST_RSA = 8192;
const SMALLEST_EXPONENT = 65537n;

/** A key, or what is wrong with it, phrased to follow "must". */
type Reading =
  | { readonly key: ClientKey; readonly kept: Readonly<Record<string, string>> }
  | { readonly problem: string };

/**
 * Reads the set that a registration gives. Every key of it must be one that assertions can be verified with.
 * @returns the set with the public parameters alone, or what is wrong, naming the place
 */
export function readRegisteredSet(
  value: unknown,
  field: string,
): { readonly set: JwkSet } | { readonly problem: string } {
  const keys = keysIn(value);
  if (keys === undefined || keys.length === 0 || keys.length > MOST_KEYS) {
    return { problem: `${field} must be {"keys": […]} with 1 to ${MOST_KEYS} public keys` };
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

/** The keys of a set that assertions can be verified with; others may be there for other uses. Undefined: not a set. */
export function usableKeys(value: unknown): readonly ClientKey[] | undefined {
  const keys = keysIn(value);
  if (keys === undefined || keys.length > MOST_KEYS) return undefined;
  return keys.flatMap((jwk) => {
    const reading = readKey(jwk);
    return 'key' in reading ? [reading.key] : [];
  });
}

/**
 * The key that an assertion names. Without a `kid` there must be only one that it can be (OpenID Connect Core 1.0 §10.1),
 * and keys that cannot be told apart are no key.
 */
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

function readKey(jwk: unknown): Reading {
  if (typeof jwk !== 'object' || jwk === null || Array.isArray(jwk)) return { problem: 'be a JSON Web Key' };
  const members: Readonly<Record<string, unknown>> = { ...jwk };
  // RFC 7517 §9.2: whoever has such a member has more than a public key.
  const secret = SECRET.find((name) => Object.hasOwn(members, name));
  if (secret !== undefined) return { problem: `be a public key: take "${secret}" out, and make another key pair` };
  const kept: Record<string, string> = {};
  for (const name of KEPT) {
    const member = members[name];
    if (member === undefined) continue;
    if (typeof member !== 'string' || member === '') return { problem: `have texts in ${KEPT.join(', ')}` };
    kept[name] = member;
  }
  if ((kept['kid']?.length ?? 0) > 256) return { problem: 'have a kid of at most 256 characters' };
  if ((kept['use'] ?? 'sig') !== 'sig') return { problem: 'be for signatures: use must be sig, or left out' };
  const operations = members['key_ops'];
  if (operations !== undefined && !(Array.isArray(operations) && operations.includes('verify'))) {
    return { problem: 'be for signatures: key_ops must have verify, or be left out' };
  }
  const kind = algsOf(kept);
  if (kind === undefined) return { problem: 'be an RSA key, an EC key on P-256 or an OKP key on Ed25519' };
  const { alg } = kept;
  const algs = alg === undefined ? kind : kind.filter((one) => one === alg);
  if (algs.length === 0) return { problem: `have the alg ${kind.join(' or ')}, or none` };
  const imported = importKey(kept);
  const problem = imported === undefined ? 'be a key that can be read' : strengthProblem(imported);
  if (imported === undefined || problem !== undefined) return { problem: problem ?? '' };
  return { kept, key: { kid: kept['kid'], algs, key: imported } };
}

function algsOf({ kty, crv }: Readonly<Record<string, string>>): readonly AssertionAlg[] | undefined {
  if (kty === 'RSA') return ['RS256', 'PS256'];
  if (kty === 'EC' && crv === 'P-256') return ['ES256'];
  if (kty === 'OKP' && crv === 'Ed25519') return ['EdDSA'];
  return undefined;
}

/** Fails also for a point that is not on its curve. */
function importKey(jwk: Readonly<Record<string, string>>): KeyObject | undefined {
  try {
    return createPublicKey({ key: jwk, format: 'jwk' });
  } catch {
    return undefined;
  }
}

/** RFC 7518 §3.3: 2048 bits at least. */
function strengthProblem({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): string | undefined {
  if (asymmetricKeyType !== 'rsa') return undefined;
  const { modulusLength = 0, publicExponent = 0n } = asymmetricKeyDetails ?? {};
  if (modulusLength < WEAKEST_RSA) return `have ${WEAKEST_RSA} bits at least`;
  if (modulusLength > LARGEST_RSA) return `have ${LARGEST_RSA} bits at most`;
  if (publicExponent < SMALLEST_EXPONENT || publicExponent >= 1n << 32n || publicExponent % 2n === 0n) {
    return 'have the public exponent 65537';
  }
  return undefined;
}
