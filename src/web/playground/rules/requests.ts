import { digest } from '../../../platform/crypto/secrets.ts';
import { shellWord } from '../../../platform/shell.ts';
import type { WireRequest } from '../wire.ts';
import type { PlaygroundVisit } from './progress.ts';

const AUTHORIZE = '/api/v2/oauth/authorize';
const TOKEN = '/api/v2/oauth/token';
const USERINFO = '/api/v2/oauth/userinfo';

/** Where the answers to a visit's authorization requests go, below the base URL. */
export const CALLBACK = '/playground/callback';

const JSON_BODY = { 'Content-Type': 'application/json', Accept: 'application/json' };

/** The parameters of the authorization request, in the order in which they are explained. */
export const authorizationParameters = ({ clientId, attempt }: PlaygroundVisit, baseUrl: string) => ({
  response_type: 'code',
  client_id: clientId,
  redirect_uri: baseUrl + CALLBACK,
  scope: 'openid email details phone',
  state: attempt.state,
  nonce: attempt.nonce,
  // RFC 7636 §4.2: what the request shows of the verifier.
  code_challenge: digest(attempt.verifier),
  code_challenge_method: 'S256',
});

export const authorizationAddress = (visit: PlaygroundVisit, baseUrl: string): string =>
  `${baseUrl}${AUTHORIZE}?${new URLSearchParams(authorizationParameters(visit, baseUrl))}`;

const post = (body: object): WireRequest => ({
  method: 'POST',
  path: TOKEN,
  headers: JSON_BODY,
  body: JSON.stringify(body),
});

/** Contract §4.2, with the verifier of RFC 7636 §4.5. */
export const exchangeRequest = ({ clientId, clientSecret, attempt }: PlaygroundVisit, code: string, baseUrl: string) =>
  post({
    grant_type: 'authorization_code',
    code,
    client_id: clientId,
    client_secret: clientSecret,
    redirect_uri: baseUrl + CALLBACK,
    code_verifier: attempt.verifier,
  });

export const refreshRequest = ({ clientId, clientSecret }: PlaygroundVisit, refreshToken: string) =>
  post({
    grant_type: 'refresh_token',
    refresh_token: refreshToken,
    client_id: clientId,
    client_secret: clientSecret,
  });

export const userInfoRequest = (accessToken: string): WireRequest => ({
  method: 'GET',
  path: USERINFO,
  headers: { Accept: 'application/json', Authorization: `Bearer ${accessToken}` },
});

/** The same request as a command. */
export function curl({ method, path, headers, body }: WireRequest, baseUrl: string): string {
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

/** The first hop of the authorization request: the address of the page that waits for the person. */
export const authorizeCurl = (visit: PlaygroundVisit, baseUrl: string): string =>
  `curl -si ${shellWord(authorizationAddress(visit, baseUrl))}`;

/** What an operator sends to take the access away; the key is theirs to fill in. */
export const disconnectCurl = ({ clientId, accountId }: PlaygroundVisit, baseUrl: string): string =>
  `curl -si -X DELETE ${shellWord(`${baseUrl}/api/v2/admin/users/${accountId}/connections/${clientId}`)} \\\n  -H "Authorization: Bearer $TESSERA_ADMIN_KEY"`;
