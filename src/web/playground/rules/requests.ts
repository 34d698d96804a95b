import { ENDPOINT_RULES, type EndpointSet } from '../../../claims/endpoint-set.ts';
import { digest } from '../../../platform/crypto/secrets.ts';
import { shellWord } from '../../../platform/shell.ts';
import { JWKS_PATH } from '../../../protocol/discovery/metadata.ts';
import type { ExchangeRequest } from '../exchange.ts';
import type { PlaygroundSession } from './progress.ts';

/** The redirect URI of the sessions' apps, relative to the base URL. */
export const CALLBACK = '/playground/callback';

/** What the app asks for. */
const SCOPE: Readonly<Record<EndpointSet, string>> = {
  oidc: 'openid profile email phone',
  v2: 'openid email details phone',
};

/** The parameters of the authorization request, in the order in which they are explained. */
export const authorizationParameters = ({ endpoints, clientId, attempt }: PlaygroundSession, baseUrl: string) => ({
  response_type: 'code',
  client_id: clientId,
  redirect_uri: baseUrl + CALLBACK,
  scope: SCOPE[endpoints],
  state: attempt.state,
  nonce: attempt.nonce,
  // RFC 7636 §4.2
  code_challenge: digest(attempt.verifier),
  code_challenge_method: 'S256',
});

export const authorizationUrl = (session: PlaygroundSession, baseUrl: string): string =>
  `${baseUrl}${ENDPOINT_RULES[session.endpoints].authorizationPath}?${new URLSearchParams(authorizationParameters(session, baseUrl))}`;

/**
 * A token request as apps send it: at the OIDC endpoints as libraries do by default, a form with the secret in Basic (RFC 6749 §2.3.1);
 * at the v2 endpoints as the contract shows it (§4.2), JSON with the secret in it.
 */
function tokenRequest(
  { endpoints, clientId, clientSecret }: PlaygroundSession,
  parameters: Readonly<Record<string, string>>,
): ExchangeRequest {
  const [method, path, Accept] = ['POST', ENDPOINT_RULES[endpoints].tokenPath, 'application/json'] as const;
  if (endpoints === 'v2') {
    const body = { ...parameters, client_id: clientId, client_secret: clientSecret };
    return { method, path, headers: { 'Content-Type': 'application/json', Accept }, body: JSON.stringify(body) };
  }
  const Authorization = `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`;
  const headers = { 'Content-Type': 'application/x-www-form-urlencoded', Accept, Authorization };
  return { method, path, headers, body: String(new URLSearchParams(parameters)) };
}

/** RFC 6749 §4.1.3, with the verifier of RFC 7636 §4.5. */
export const exchangeRequest = (session: PlaygroundSession, code: string, baseUrl: string): ExchangeRequest =>
  tokenRequest(session, {
    grant_type: 'authorization_code',
    code,
    redirect_uri: baseUrl + CALLBACK,
    code_verifier: session.attempt.verifier,
  });

/** RFC 6749 §6. */
export const refreshRequest = (session: PlaygroundSession, refreshToken: string): ExchangeRequest =>
  tokenRequest(session, { grant_type: 'refresh_token', refresh_token: refreshToken });

export const userInfoRequest = ({ endpoints }: PlaygroundSession, accessToken: string): ExchangeRequest => ({
  method: 'GET',
  path: ENDPOINT_RULES[endpoints].userinfoPath,
  headers: { Accept: 'application/json', Authorization: `Bearer ${accessToken}` },
});

/** Reads the keys that ID tokens are verified with: OpenID Connect Core 1.0 §10.1.1. */
export const keySetRequest: ExchangeRequest = {
  method: 'GET',
  path: JWKS_PATH,
  headers: { Accept: 'application/json' },
};

/** The request as a curl command. */
export function curl({ method, path, headers, body }: ExchangeRequest, baseUrl: string): string {
  const lines = [
    `curl -s ${shellWord(baseUrl + path)}`,
    ...Object.entries(headers)
      .filter(([name]) => name !== 'Accept')
      .map(([name, value]) => `-H ${shellWord(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : [`-d ${shellWord(body)}`]),
  ];
  if (method !== 'GET' && body === undefined) lines.push(`-X ${method}`);
  return lines.join(' \\\n  ');
}

/** Prints the redirect to the sign-in page. */
export const authorizeCurl = (session: PlaygroundSession, baseUrl: string): string =>
  `curl -si ${shellWord(authorizationUrl(session, baseUrl))}`;

/** Takes the access away by the admin API, with the key in `TESSERA_ADMIN_KEY`. */
export const disconnectCurl = ({ clientId, accountId }: PlaygroundSession, baseUrl: string): string =>
  `curl -si -X DELETE ${shellWord(`${baseUrl}/api/v2/admin/users/${accountId}/connections/${clientId}`)} \\\n  -H "Authorization: Bearer $TESSERA_ADMIN_KEY"`;
