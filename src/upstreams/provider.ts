import { hash } from 'node:crypto';
import { compactVerify, decodeProtectedHeader } from 'jose';
import type { AuthorizationServer, Client, ClientAuth } from 'oauth4webapi';
import { ASSERTION_ALGS, type AssertionAlg } from '../keys/rules/jwks.ts';
import type { Clock } from '../platform/clock.ts';
import { digest, randomSecret } from '../platform/crypto/secrets.ts';
import type { Outgoing } from '../platform/http/outgoing.ts';
import { guardedFetch, quoted, reasonOf } from './guarded-fetch.ts';
import type { ProviderDocuments, ProviderMetadata } from './provider-documents.ts';
import { UpstreamRefusal } from './refusal.ts';
import { readIdToken, type UpstreamPerson } from './rules/id-token.ts';
import { readLogoutToken, type UpstreamLogout } from './rules/logout-token.ts';
import type { TokenClaims } from './rules/token-claims.ts';

const LONGEST_TOKEN_RESPONSE = 64 * 1024;
/** Groups and pictures make tokens long. */
const LONGEST_TOKEN = 32 * 1024;

/** How an OpenID Provider knows us. */
export interface ProviderClient {
  readonly issuer: string;
  readonly clientId: string;
  /** Null for a public client. */
  readonly clientSecret: string | null;
  readonly scopes: readonly string[];
  readonly subjectClaim: 'sub' | 'oid';
}

/** What one sign-in takes along, and needs again when the person comes back. */
export interface ProviderAttempt {
  readonly nonce: string;
  /** Of PKCE (RFC 7636). */
  readonly verifier: string;
  /** The `max_age` that was asked for. */
  readonly maxAge: number | null;
  /** Since when the person was to authenticate; null where that was not asked for. */
  readonly notBefore: number | null;
}

/** How a person is to be asked. */
export interface ProviderQuestion {
  readonly redirectUri: string;
  readonly state: string;
  readonly prompt: 'login' | 'select_account' | null;
  readonly loginHint: string | null;
}

interface ProviderServices {
  readonly documents: ProviderDocuments;
  readonly outgoing: Outgoing;
  readonly clock: Clock;
  /** Whether this installation runs on a developer's machine, where `http` is allowed. */
  readonly local: boolean;
}

/**
 * @param maxAge in seconds; null where it does not matter when the person authenticated
 * @param notBefore the instant of a request that asks for another sign-in
 */
export const newAttempt = (maxAge: number | null, notBefore: number | null): ProviderAttempt => ({
  nonce: randomSecret(),
  verifier: randomSecret(),
  maxAge,
  notBefore,
});

/**
 * Where the browser goes to sign in at an OpenID Provider (OpenID Connect Core 1.0 §3.1.2.1), with PKCE.
 * @throws {UpstreamRefusal}
 */
export async function providerSignInUrl(
  { documents }: ProviderServices,
  client: ProviderClient,
  { nonce, verifier, maxAge }: ProviderAttempt,
  { redirectUri, state, prompt, loginHint }: ProviderQuestion,
): Promise<string> {
  const metadata = await documents.metadata(client.issuer);
  const url = new URL(metadata.authorization_endpoint);
  const parameters = {
    response_type: 'code',
    client_id: client.clientId,
    redirect_uri: redirectUri,
    scope: client.scopes.join(' '),
    state,
    nonce,
    // RFC 7636 §4.2: BASE64URL(SHA256(verifier)).
    code_challenge: digest(verifier),
    code_challenge_method: 'S256',
    ...(prompt !== null && takesPrompt(metadata, prompt) && { prompt }),
    ...(maxAge !== null && { max_age: String(maxAge) }),
    ...(loginHint !== null && { login_hint: loginHint }),
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url.href;
}

/** Every provider knows `login`. Some refuse what they do not know, so `select_account` is sent to those that say that they do. */
const takesPrompt = ({ prompt_values_supported: known }: ProviderMetadata, prompt: string): boolean =>
  prompt !== 'select_account' || (Array.isArray(known) && known.includes(prompt));

/**
 * Redeems the code that a browser brought back, and reads who the person is. The tokens are not kept.
 * @param callback all parameters with which the browser came back; its `state` is checked by the caller
 * @throws {UpstreamRefusal}
 */
export async function redeemProviderCode(
  services: ProviderServices,
  client: ProviderClient,
  { nonce, verifier, maxAge, notBefore }: ProviderAttempt,
  { callback, redirectUri, state }: { callback: URLSearchParams; redirectUri: string; state: string },
): Promise<UpstreamPerson> {
  const metadata = await services.documents.metadata(client.issuer);
  const own = await libraryClient(client);
  const checked = await checkResponse(metadata, own, callback, state);
  const tokens = await requestTokens(services, metadata, client, { own, checked, redirectUri, verifier });
  const { claims, alg } = await verifyToken(services, metadata, tokens.idToken);
  const person = readIdToken(
    claims,
    {
      issuer: metadata.issuer,
      clientId: client.clientId,
      nonce,
      maxAge,
      notBefore,
      subjectClaim: client.subjectClaim,
      accessTokenHash: accessTokenHash(tokens.accessToken, alg),
    },
    services.clock(),
  );
  if ('problem' in person) throw new UpstreamRefusal('token', `The ID token is refused: ${person.problem}.`);
  return person;
}

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
  const { claims, type } = await verifyToken(services, metadata, token);
  const logout = readLogoutToken(claims, type, { issuer: metadata.issuer, clientId }, services.clock());
  if ('problem' in logout) throw new UpstreamRefusal('token', `The logout token is refused: ${logout.problem}.`);
  return logout;
}

/** In seconds. The library would read the clock of the system: `rules/` check the times, by the clock of the service. */
const ANY_TIME = 1e10;

async function libraryClient({ clientId }: ProviderClient): Promise<Client> {
  const oauth = await import('oauth4webapi');
  return { client_id: clientId, [oauth.clockTolerance]: ANY_TIME };
}

/** RFC 6749 §4.1.2, and `iss` against mix-up (RFC 9207). */
async function checkResponse(metadata: ProviderMetadata, own: Client, callback: URLSearchParams, state: string) {
  const oauth = await import('oauth4webapi');
  try {
    return oauth.validateAuthResponse(metadata, own, callback, state);
  } catch (error) {
    if (error instanceof oauth.AuthorizationResponseError) {
      const about = error.error_description === undefined ? '' : `, ${quoted(error.error_description)}`;
      const kind = error.error === 'access_denied' ? 'cancelled' : 'denied';
      throw new UpstreamRefusal(kind, `The upstream answered with the error ${quoted(error.error)}${about}.`);
    }
    throw new UpstreamRefusal('response', `The response is refused: ${await reasonOf(error)}.`);
  }
}

interface Redemption {
  readonly own: Client;
  /** Validated by the library. */
  readonly checked: URLSearchParams;
  readonly redirectUri: string;
  readonly verifier: string;
}

async function requestTokens(
  { outgoing, local }: ProviderServices,
  metadata: ProviderMetadata,
  client: ProviderClient,
  { own, checked, redirectUri, verifier }: Redemption,
): Promise<{ readonly idToken: string; readonly accessToken: string }> {
  const oauth = await import('oauth4webapi');
  const options = {
    [oauth.customFetch]: guardedFetch(outgoing, LONGEST_TOKEN_RESPONSE),
    [oauth.allowInsecureRequests]: local,
  };
  try {
    const auth = await clientAuthentication(metadata, client);
    const response = await oauth.authorizationCodeGrantRequest(
      ...([metadata, own, auth, checked, redirectUri, verifier, options] as const),
    );
    const tokens = await oauth.processGenericTokenEndpointResponse(metadata, own, response);
    if (tokens.id_token === undefined) {
      throw new UpstreamRefusal('token endpoint', 'The token endpoint: the response has no id_token.');
    }
    return { idToken: tokens.id_token, accessToken: tokens.access_token };
  } catch (error) {
    if (error instanceof UpstreamRefusal) throw error;
    const code = error instanceof oauth.ResponseBodyError ? error.error : undefined;
    throw new UpstreamRefusal('token endpoint', `The token endpoint: ${await reasonOf(error)}.`, code);
  }
}

/** OpenID Connect Core 1.0 §9: Basic, unless the provider says that it does not take that. */
async function clientAuthentication(
  { token_endpoint_auth_methods_supported: methods }: AuthorizationServer,
  { clientSecret }: ProviderClient,
): Promise<ClientAuth> {
  const oauth = await import('oauth4webapi');
  if (clientSecret === null) return oauth.None();
  const takesBasic = methods === undefined || methods.includes('client_secret_basic');
  return takesBasic || !methods.includes('client_secret_post')
    ? oauth.ClientSecretBasic(clientSecret)
    : oauth.ClientSecretPost(clientSecret);
}

interface VerifiedToken {
  readonly claims: TokenClaims;
  readonly alg: AssertionAlg;
  readonly type: string | undefined;
}

/** Verifies a signature. The key decides which algorithms it may be of, never the token (RFC 8725 §3.1). */
async function verifyToken(
  { documents }: ProviderServices,
  metadata: ProviderMetadata,
  token: string,
): Promise<VerifiedToken> {
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
function accessTokenHash(accessToken: string, alg: AssertionAlg): string {
  const bytes = hash(alg === 'EdDSA' ? 'sha512' : 'sha256', accessToken, 'buffer');
  return bytes.subarray(0, bytes.length / 2).toString('base64url');
}
