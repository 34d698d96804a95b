import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';
import { admin, authorizeUrl, signedIn, type TestUser, walk } from './flow.ts';
import type { TestServer } from './server.ts';

export const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

/** A key pair of an app. */
export interface AppKey {
  readonly alg: string;
  readonly kid: string;
  readonly privateKey: CryptoKey;
  readonly jwk: JWK;
}

export async function appKey(alg = 'ES256', kid = `${alg}-${randomUUID().slice(0, 8)}`): Promise<AppKey> {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
  return { alg, kid, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } };
}

/** An app that authenticates with a key. */
export interface KeyApp {
  readonly clientId: string;
  readonly redirectUri: string;
  /** Of which TestClient has one; never sent. */
  readonly clientSecret: string;
}

export const REDIRECT_URI = 'https://service.example.com/callback';

/** Registers an app with `private_key_jwt`. */
export async function keyApp(
  server: Pick<TestServer, 'baseUrl'>,
  fields: Readonly<Record<string, unknown>>,
): Promise<KeyApp> {
  const { status, body } = await admin(server, 'POST', '/clients', {
    name: 'Service',
    redirectUris: [REDIRECT_URI],
    tokenEndpointAuthMethod: 'private_key_jwt',
    ...fields,
  });
  assert.equal(status, 201, JSON.stringify(body));
  assert.equal('clientSecret' in body, false);
  return { clientId: body.clientId, redirectUri: REDIRECT_URI, clientSecret: '' };
}

type Change = Readonly<Record<string, unknown>>;

/** The claims of a good assertion, with some of them changed; undefined takes one out. */
type Addressed = Pick<TestServer, 'baseUrl' | 'now'>;
export function claimsFor(server: Addressed, clientId: string, change: Change = {}): Record<string, unknown> {
  const now = Math.floor(server.now() / 1000);
  const claims = {
    iss: clientId,
    sub: clientId,
    aud: server.baseUrl,
    iat: now,
    exp: now + 60,
    jti: randomUUID(),
    ...change,
  };
  return Object.fromEntries(Object.entries(claims).filter(([, value]) => value !== undefined));
}

/** Signs claims with an app's key, by a library that is not the server's. */
export const signed = (key: AppKey, claims: Change, header: Change = {}): Promise<string> =>
  new SignJWT(claims).setProtectedHeader({ alg: key.alg, kid: key.kid, ...header }).sign(key.privateKey);

/** The parameters of a good assertion. */
export async function proofOf(server: Addressed, clientId: string, key: AppKey, change: Change = {}, header = {}) {
  return {
    client_assertion_type: ASSERTION_TYPE,
    client_assertion: await signed(key, claimsFor(server, clientId, change), header),
  };
}

/** A code for an app, from a person who has signed in. */
export async function codeOfApp(server: TestServer, app: KeyApp, user: TestUser): Promise<string> {
  const target = await walk(await signedIn(server, user), authorizeUrl(app, { scope: 'openid email' }));
  return target.searchParams.get('code') ?? '';
}
