import assert from 'node:assert/strict';
import { type ApiAnswer, call, JSON_TYPE, type Server } from './api-call.ts';
import { admin, type TestClient } from './flow.ts';

const REDIRECT_URI = 'https://app.example.com/callback';

/** The metadata of an honest public app. */
export const METADATA = {
  client_name: 'Calendar agent',
  redirect_uris: [REDIRECT_URI],
  token_endpoint_auth_method: 'none',
  grant_types: ['authorization_code', 'refresh_token'],
} as const;

const headersOf = (token: string | undefined) => ({
  'content-type': JSON_TYPE,
  ...(token !== undefined && { authorization: `Bearer ${token}` }),
});

/** Registers an app: RFC 7591 §3.1. */
export const registerSelf = (
  server: Server,
  change: Readonly<Record<string, unknown>> = {},
  token?: string,
): Promise<ApiAnswer> =>
  call(server, 'POST', '/oidc/register', headersOf(token), JSON.stringify({ ...METADATA, ...change }));

/** An app that registered itself, with what was answered. */
export interface SelfRegistered extends TestClient {
  readonly registration: ApiAnswer['body'];
}

export async function newSelfRegistered(
  server: Server,
  change: Readonly<Record<string, unknown>> = {},
  token?: string,
): Promise<SelfRegistered> {
  const { status, body, text } = await registerSelf(server, change, token);
  assert.equal(status, 201, text);
  return {
    clientId: body.client_id,
    clientSecret: body.client_secret ?? '',
    redirectUri: body.redirect_uris[0],
    endpointSet: 'oidc',
    registration: body,
  };
}

/** A request of an app about its own registration: RFC 7592 §2. */
export const manage = (
  server: Server,
  method: 'GET' | 'PUT' | 'DELETE',
  { clientId, registration }: SelfRegistered,
  metadata?: Readonly<Record<string, unknown>>,
  token: string | undefined = registration.registration_access_token,
): Promise<ApiAnswer> =>
  metadata === undefined
    ? call(server, method, `/oidc/register/${clientId}`, token === '' ? {} : { authorization: `Bearer ${token}` })
    : call(server, method, `/oidc/register/${clientId}`, headersOf(token), JSON.stringify(metadata));

/** A token with which apps may register themselves. */
export async function newInitialToken(
  server: Server,
  change: Readonly<Record<string, unknown>> = {},
  key?: string,
): Promise<{ readonly id: string; readonly initialAccessToken: string }> {
  const { status, body } = await admin(server, 'POST', '/initial-access-tokens', { name: 'partner', ...change }, key);
  assert.equal(status, 201, JSON.stringify(body));
  return body;
}
