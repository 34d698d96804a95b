import { digest } from '../../../platform/crypto/secrets.ts';
import { shellWord } from '../../../platform/shell.ts';
import type { ExchangeRequest } from '../exchange.ts';
import type { PlaygroundSession } from './progress.ts';

const AUTHORIZE = '/api/v2/oauth/authorize';
const TOKEN = '/api/v2/oauth/token';
const USERINFO = '/api/v2/oauth/userinfo';

/** The redirect URI of the sessions' apps, relative to the base URL. */
export const CALLBACK = '/playground/callback';

const JSON_BODY = { 'Content-Type': 'application/json', Accept: 'application/json' };

/** The parameters of the authorization request, in the order in which they are explained. */
export const authorizationParameters = ({ clientId, attempt }: PlaygroundSession, baseUrl: string) => ({
  response_type: 'code',
  client_id: clientId,
  redirect_uri: baseUrl + CALLBACK,
  scope: 'openid email details phone',
  state: attempt.state,
  nonce: attempt.nonce,
  // RFC 7636 §4.2
  code_challenge: digest(attempt.verifier),
  code_challenge_method: 'S256',
});

export const authorizationUrl = (session: PlaygroundSession, baseUrl: string): string =>
  `${baseUrl}${AUTHORIZE}?${new URLSearchParams(authorizationParameters(session, baseUrl))}`;

const post = (body: object): ExchangeRequest => ({
  method: 'POST',
  path: TOKEN,
  headers: JSON_BODY,
  body: JSON.stringify(body),
});

/** Contract §4.2, with the verifier of RFC 7636 §4.5. */
export const exchangeRequest = (
  { clientId, clientSecret, attempt }: PlaygroundSession,
  code: string,
  baseUrl: string,
) =>
  post({
    grant_type: 'authorization_code',
    code,
    client_id: clientId,
    client_secret: clientSecret,
    redirect_uri: baseUrl + CALLBACK,
    code_verifier: attempt.verifier,
  });

export const refreshRequest = ({ clientId, clientSecret }: PlaygroundSession, refreshToken: string) =>
  post({
    grant_type: 'refresh_token',
    refresh_token: refreshToken,
    client_id: clientId,
    client_secret: clientSecret,
  });

export const userInfoRequest = (accessToken: string): ExchangeRequest => ({
  method: 'GET',
  path: USERINFO,
  headers: { Accept: 'application/json', Authorization: `Bearer ${accessToken}` },
});

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
