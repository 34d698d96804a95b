import type { AuthorizationServer, ClientAuth } from 'oauth4webapi';
import { digest } from '../../platform/crypto/secrets.ts';
import type {
  ProviderAttempt,
  ProviderClient,
  ProviderQuestion,
  ProviderReturn,
  ProviderServices,
  UpstreamKind,
} from '../kind.ts';
import { probeProvider } from '../probe.ts';
import type { ProviderMetadata } from '../provider-documents.ts';
import { redeemAtProvider } from '../redeem.ts';
import { UpstreamRefusal } from '../refusal.ts';
import { mapClaims } from '../rules/claims-map.ts';
import { readIdToken, type UpstreamPerson } from '../rules/id-token.ts';
import { isOfAnyTenant } from '../rules/issuer.ts';
import { accessTokenHash, tokenIssuer, verifyProviderToken } from '../tokens.ts';

/** OpenID Providers with discovery. */
export const oidc: UpstreamKind = { responseMode: 'query', asksAgain: true, begin, finish, probe };

/** OpenID Connect Core 1.0 §3.1.2.1, with PKCE. */
async function begin(
  { documents }: ProviderServices,
  client: ProviderClient,
  { nonce, verifier, maxAge }: ProviderAttempt,
  { redirectUri, state, prompt, loginHint, acrs }: ProviderQuestion,
): Promise<string> {
  const metadata = await documents.metadata(client.issuer);
  const url = new URL(metadata.authorization_endpoint);
  const knownAcrs = acrs.filter((acr) => offersAcr(metadata, acr));
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
    ...(knownAcrs.length > 0 && { acr_values: knownAcrs.join(' ') }),
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url.href;
}

/** Every provider knows `login`. Some refuse what they do not know, so `select_account` is sent to those that say that they do. */
const takesPrompt = ({ prompt_values_supported: known }: ProviderMetadata, prompt: string): boolean =>
  prompt !== 'select_account' || (Array.isArray(known) && known.includes(prompt));

/**
 * A class is asked for at providers that say that they know it: a wish of the app must not end a sign-in. What the provider then says of the
 * class is not read, since only what was proved here meets one (decisions §14).
 */
const offersAcr = ({ acr_values_supported: known }: ProviderMetadata, acr: string): boolean =>
  Array.isArray(known) && known.includes(acr);

async function finish(
  services: ProviderServices,
  client: ProviderClient,
  attempt: ProviderAttempt,
  back: ProviderReturn,
): Promise<UpstreamPerson> {
  return finishWith(services, client, attempt, back, (metadata) => clientAuthentication(metadata, client));
}

/**
 * Redeems a code at an OpenID Provider, and reads the ID token.
 * @param authenticate how the client authenticates there
 * @throws {UpstreamRefusal}
 */
export async function finishWith(
  services: ProviderServices,
  client: ProviderClient,
  { nonce, verifier, maxAge, notBefore }: ProviderAttempt,
  back: ProviderReturn,
  authenticate: (metadata: ProviderMetadata) => Promise<ClientAuth>,
): Promise<UpstreamPerson> {
  const metadata = await services.documents.metadata(client.issuer);
  const authentication = await authenticate(metadata);
  const withheld = withholding(client);
  const redemption = { ...back, client, authentication, verifier, ...withheld };
  const { accessToken, idToken = withheld?.idToken() } = await redeemAtProvider(services, metadata, redemption);
  if (idToken === undefined) {
    throw new UpstreamRefusal('token endpoint', 'The token endpoint: the response has no id_token.');
  }
  const { claims, alg } = await verifyProviderToken(services, metadata, idToken);
  const expected = {
    ...{ issuer: tokenIssuer(metadata, claims), clientId: client.clientId, nonce, maxAge, notBefore },
    ...{ subjectClaim: client.subjectClaim, accessTokenHash: accessTokenHash(accessToken, alg) },
  };
  const person = readIdToken(claims, expected, services.clock());
  if ('problem' in person) throw new UpstreamRefusal('token', `The ID token is refused: ${person.problem}.`);
  const mapped = mapClaims(claims, client.claimsMap);
  if ('problem' in mapped) throw new UpstreamRefusal('token', `The ID token is refused: ${mapped.problem}.`);
  return { ...person, mapped };
}

/** The library compares the issuer of an ID token with the metadata, which have a placeholder for people of any tenant. */
function withholding({ issuer }: ProviderClient) {
  if (!isOfAnyTenant(issuer)) return undefined;
  let kept: string | undefined;
  return {
    rewrite(status: number, { id_token: idToken, ...members }: Readonly<Record<string, unknown>>) {
      if (typeof idToken === 'string') kept = idToken;
      return { status, members };
    },
    idToken: () => kept,
  };
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

function probe(services: ProviderServices, client: ProviderClient, redirectUri: string) {
  return probeProvider(services, client.issuer, (attempt, callback) =>
    finish(services, client, attempt, { callback, redirectUri, state: callback.get('state') ?? '' }),
  );
}
