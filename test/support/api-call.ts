import assert from 'node:assert/strict';
import { type JsonAnswer, refresh, standard, type TestClient, userinfo } from './flow.ts';
import type { TestServer } from './server.ts';

/** What `fetch` takes as a body. */
export type Body = NonNullable<RequestInit['body']>;
type Headers_ = Readonly<Record<string, string>>;
export type Server = Pick<TestServer, 'baseUrl'>;

export const TOKEN = '/api/v2/oauth/token';
export const USERINFO = '/api/v2/oauth/userinfo';
export const STANDARD = '/oidc/userinfo';
export const JSON_TYPE = 'application/json';
export const FORM_TYPE = 'application/x-www-form-urlencoded';

/** An API answer with its text as it came; the body is undefined where the text is empty. */
export interface ApiAnswer extends JsonAnswer {
  readonly text: string;
}

/** Any call of the API; what is sent is sent as it is. */
export async function call(
  { baseUrl }: Server,
  method: string,
  path: string,
  headers: Headers_ = {},
  body?: Body,
): Promise<ApiAnswer> {
  const response = await fetch(baseUrl + path, {
    method,
    headers,
    redirect: 'manual',
    ...(body !== undefined && { body, duplex: 'half' as const }),
  });
  const text = await response.text();
  const isJson = /^application\/json\b/.test(response.headers.get('content-type') ?? '');
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: isJson && text !== '' ? JSON.parse(text) : undefined,
  };
}

/** A call of the token endpoint whose body is these octets. */
export const tokenBytes = (server: Server, body: Body, contentType = JSON_TYPE, headers: Headers_ = {}) =>
  call(server, 'POST', TOKEN, { 'content-type': contentType, ...headers }, body);

/** A call of the token endpoint with a form. */
export const tokenForm = (server: Server, form: Readonly<Record<string, string>>, headers: Headers_ = {}) =>
  tokenBytes(server, new URLSearchParams(form).toString(), FORM_TYPE, headers);

/** RFC 6749 §2.3.1: both parts form-urlencoded, joined by a colon, in base64. */
export function basic(
  clientId: string,
  clientSecret: string,
  encode: (text: string) => string = encodeURIComponent,
): Headers_ {
  const pair = `${encode(clientId)}:${encode(clientSecret)}`;
  return { authorization: `Basic ${Buffer.from(pair).toString('base64')}` };
}

/** The body of a code exchange. */
export const codeBody = (client: TestClient, code: string) => ({
  grant_type: 'authorization_code',
  code,
  client_id: client.clientId,
  client_secret: client.clientSecret,
  redirect_uri: client.redirectUri,
});

/** The body of a refresh. */
export const refreshBody = (client: TestClient, refreshToken: string) => ({
  grant_type: 'refresh_token',
  refresh_token: refreshToken,
  client_id: client.clientId,
  client_secret: client.clientSecret,
});

/** UserInfo with an Authorization header as given. */
export const userinfoWith = (server: Server, authorization: string, path = USERINFO) =>
  call(server, 'GET', path, { authorization });

/** The contract's three messages. */
export const BANNED = 'Account banned';
export const SUSPENDED = 'Account is suspended';
export const REVOKED = 'Access revoked by user';

/** Decisions §4: the one shape of an error, everywhere in the API. */
export function assertRefused(answer: JsonAnswer, status: number, error: string, description?: string): void {
  const shown = `${answer.status} ${JSON.stringify(answer.body)}`;
  assert.equal(answer.status, status, shown);
  assert.deepEqual(Object.keys(answer.body ?? {}).sort(), ['error', 'error_description'], shown);
  assert.equal(answer.body.error, error, shown);
  assert.match(answer.headers.get('content-type') ?? '', /^application\/json(; charset=utf-8)?$/);
  assert.equal(answer.headers.get('cache-control'), 'no-store');
  // RFC 6749 §5.2: printable ASCII without the double quote and the backslash.
  assert.match(answer.body.error_description, /^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/);
  if (description !== undefined) assert.equal(answer.body.error_description, description);
  if (status === 429 || status === 503) assert.match(answer.headers.get('retry-after') ?? '', /^[1-9]\d*$/);
}

/** A 403 with one of the contract's messages, to the letter. */
export const assertForbidden = (answer: JsonAnswer, message: string): void =>
  assertRefused(answer, 403, 'access_denied', message);

/** The token endpoint's 400 for a code or refresh token that is no good. */
export const assertInvalidGrant = (answer: JsonAnswer): void => assertRefused(answer, 400, 'invalid_grant');

/** UserInfo's 401 for a token that is no good, with its challenge (RFC 6750 §3). */
export function assertInvalidToken(answer: JsonAnswer): void {
  assertRefused(answer, 401, 'invalid_token');
  assert.match(answer.headers.get('www-authenticate') ?? '', /^Bearer [a-z]+="[^"\\]*"(, [a-z_]+="[^"\\]*")*$/);
}

/** The two kinds of token that the server reads. */
export const KINDS = ['access', 'refresh'] as const;
export type Kind = (typeof KINDS)[number];

/** Presents tokens where their kind belongs, at both sets of endpoints, a few at a time: each must be refused as any other rubbish is. */
export async function allRefused(
  server: Server,
  client: TestClient,
  kind: Kind,
  forgeries: readonly string[],
): Promise<void> {
  for (let i = 0; i < forgeries.length; i += 64) {
    const batch = forgeries.slice(i, i + 64).map(async (token) => {
      if (kind === 'access') {
        assertInvalidToken(await userinfo(server, token));
        assertInvalidToken(await userinfo(server, token, STANDARD));
      } else {
        assertInvalidGrant(await refresh(server, client, token));
        assertInvalidGrant(await refresh(server, standard(client), token));
      }
    });
    await Promise.all(batch);
  }
}
