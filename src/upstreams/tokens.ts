import { hash } from 'node:crypto';
import { compactVerify, decodeProtectedHeader } from 'jose';
import { ASSERTION_ALGS, type AssertionAlg } from '../keys/rules/jwks.ts';
import type { ProviderClient, ProviderServices } from './kind.ts';
import type { ProviderMetadata } from './provider-documents.ts';
import { UpstreamRefusal } from './refusal.ts';
import { issuerOf } from './rules/issuer.ts';
import { readLogoutToken, type UpstreamLogout } from './rules/logout-token.ts';
import type { TokenClaims } from './rules/token-claims.ts';

/** Groups and pictures make tokens long. */
const LONGEST_TOKEN = 32 * 1024;

/**
 * Reads a logout token of an OpenID Provider.
 * @throws {UpstreamRefusal}
 */
export async function verifyLogoutToken(
  services: ProviderServices,
  { issuer, clientId }: Pick<ProviderClient, 'issuer' | 'clientId'>,
  token: string,
): Promise<UpstreamLogout> {
  const metadata = await services.documents.metadata(issuer);
  const { claims, type } = await verifyProviderToken(services, metadata, token);
  const expected = { issuer: tokenIssuer(metadata, claims), clientId };
  const logout = readLogoutToken(claims, type, expected, services.clock());
  if ('problem' in logout) throw new UpstreamRefusal('token', `The logout token is refused: ${logout.problem}.`);
  return logout;
}

/**
 * The issuer that a token must name.
 * @throws {UpstreamRefusal} where it must name its tenant, and does not
 */
export function tokenIssuer({ issuer }: ProviderMetadata, claims: TokenClaims): string {
  const found = issuerOf(issuer, claims);
  if (found === undefined) throw new UpstreamRefusal('token', 'The token is refused: tid is missing or no tenant.');
  return found;
}

export interface ProviderToken {
  readonly claims: TokenClaims;
  readonly alg: AssertionAlg;
  readonly type: string | undefined;
}

/**
 * Verifies a signature. The key decides which algorithms it may be of, never the token (RFC 8725 §3.1).
 * @throws {UpstreamRefusal}
 */
export async function verifyProviderToken(
  { documents }: Pick<ProviderServices, 'documents'>,
  metadata: ProviderMetadata,
  token: string,
): Promise<ProviderToken> {
  const refuse = (reason: string): UpstreamRefusal => new UpstreamRefusal('token', `The token is refused: ${reason}.`);
  if (token.length > LONGEST_TOKEN) throw refuse(`it is longer than ${LONGEST_TOKEN} characters`);
  const header = readHeader(token);
  const alg = ASSERTION_ALGS.find((one) => one === header?.alg);
  if (header === undefined || alg === undefined) throw refuse(`its alg must be one of ${ASSERTION_ALGS.join(', ')}`);
  const kid = typeof header.kid === 'string' ? header.kid : undefined;
  const key = await documents.key(metadata, alg, kid);
  if (key === undefined) throw refuse('the provider publishes no key that it names');
  try {
    const { payload } = await compactVerify(token, key.key, { algorithms: [alg] });
    return { claims: claimsIn(payload), alg, type: header.typ };
  } catch {
    throw refuse('its signature is wrong, or it is not well-formed');
  }
}

function readHeader(token: string) {
  try {
    return decodeProtectedHeader(token);
  } catch {
    return undefined;
  }
}

function claimsIn(payload: Uint8Array): TokenClaims {
  const claims: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(payload));
  if (typeof claims !== 'object' || claims === null || Array.isArray(claims)) throw new TypeError('no claims');
  return { ...claims };
}

/** OpenID Connect Core 1.0 §3.1.3.6: the left half of the hash of the access token. Ed25519 uses SHA-512. */
export function accessTokenHash(accessToken: string, alg: AssertionAlg): string {
  const bytes = hash(alg === 'EdDSA' ? 'sha512' : 'sha256', accessToken, 'buffer');
  return bytes.subarray(0, bytes.length / 2).toString('base64url');
}
