import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { DEVICE_GRANT } from '../../src/clients/rules/registration.ts';
import { ID_TOKEN_ALGS } from '../../src/keys/algorithms.ts';
import { type Agent, formOf } from '../support/agent.ts';
import { call, TOKEN } from '../support/api-call.ts';
import { appKey, keyApp, proofOf } from '../support/assertion.ts';
import { answerDevice, startDevice } from '../support/devices.ts';
import {
  authorizeUrl,
  codeFor,
  newClient,
  newUser,
  PASSWORD,
  signedIn,
  standard,
  type TestClient,
  type TestUser,
  type Tokens,
  tokensFor,
  walk,
} from '../support/flow.ts';
import { startReceiver, tokenOf } from '../support/logout-receiver.ts';
import type { Publisher } from '../support/metadata-publisher.ts';
import { newInitialToken, newSelfRegistered, type SelfRegistered } from '../support/registration.ts';
import { ADMIN_KEY, type TestServer } from '../support/server.ts';
import { asClient } from '../support/token-services.ts';
import type { TestUpstream } from '../upstreams/people.ts';

/**
 * A person in a browser, an app with everything that it holds for that person at both sets of endpoints, and another app with the same.
 * A kind that names no set is of the v2 endpoints.
 */
export interface World {
  readonly server: TestServer;
  readonly user: TestUser;
  readonly browser: Agent;
  readonly client: TestClient;
  readonly tokens: Tokens;
  /** An app that registered itself, whose registration access token is among the credentials. */
  readonly selfRegistered: SelfRegistered;
  /** The issuer of another provider through which people may sign in. */
  readonly provider: string;
  /** Everything that the service or a client takes for a proof of something, by kind. */
  readonly credentials: Readonly<Record<string, string>>;
}

/** Where an app may send people after a sign-out. */
export const GOODBYE = 'https://app.example.com/goodbye';

/** What an app is told when a session has ended. */
async function newLogoutToken(server: TestServer): Promise<string> {
  const receiver = await startReceiver();
  try {
    const fields = { idTokenSignedResponseAlg: 'RS256', backchannelLogoutUri: receiver.uri };
    const [user, app] = [await newUser(server), await newClient(server, fields)];
    const browser = await signedIn(server, user);
    const { id_token } = await tokensFor(server, app, user, {}, { browser });
    await browser.get(`/oidc/logout?id_token_hint=${id_token}`);
    await server.deliverNotices();
    return tokenOf(receiver.received[0]);
  } finally {
    await receiver.close();
  }
}

const VERIFIER = 'v'.repeat(43);
const PKCE = {
  code_challenge: createHash('sha256').update(VERIFIER).digest('base64url'),
  code_challenge_method: 'S256',
};

/** What a public app holds for the person: tokens, and a code that was not redeemed. */
async function heldBy(app: TestClient, server: TestServer, browser: Agent, user: TestUser) {
  const newCode = async (): Promise<string> => {
    const target = await walk(browser, authorizeUrl(app, { scope: 'openid', ...PKCE }), { user });
    return target.searchParams.get('code') ?? '';
  };
  const fields = { grant_type: 'authorization_code', client_id: app.clientId, redirect_uri: app.redirectUri };
  const redeemed = await call(
    server,
    'POST',
    '/oidc/token',
    {},
    new URLSearchParams({ ...fields, code: await newCode(), code_verifier: VERIFIER }),
  );
  assert.equal(redeemed.status, 200, redeemed.text);
  return { accessToken: redeemed.body.access_token, refreshToken: redeemed.body.refresh_token, code: await newCode() };
}

/** The credentials of an app that no operator registered, by the name of its kind. */
const kindsOf = (app: string, held: Awaited<ReturnType<typeof heldBy>>): Readonly<Record<string, string>> => ({
  [`access token of ${app}`]: held.accessToken,
  [`refresh token of ${app}`]: held.refreshToken,
  [`authorization code of ${app}`]: held.code,
});

/** The apps that no operator registered. */
const UNREGISTERED = ['an app that registered itself', 'an app with a metadata document'] as const;
export const ACCESS_TOKENS_OF_UNREGISTERED = UNREGISTERED.map((app) => `access token of ${app}`);
export const TOKENS_OF_UNREGISTERED = [
  ...ACCESS_TOKENS_OF_UNREGISTERED,
  ...UNREGISTERED.map((app) => `refresh token of ${app}`),
];

let documents = 0;

const ALL_GRANTS = ['authorization_code', 'refresh_token', 'client_credentials', DEVICE_GRANT];

/** What a browser brings back from another provider, and what that says of a session that has ended. */
async function fromProvider(browser: Agent, { name, provider }: TestUpstream) {
  const left = await browser.get(`/login/with/${name}?prompt=login`);
  const state = left.location?.searchParams.get('state') ?? '';
  const code = provider.authorize(left.location?.href ?? '').searchParams.get('code') ?? '';
  const claims = { sub: 'matrix', nonce: 'n', exp: Math.floor(provider.now() / 1000) + 300 };
  return {
    'state at another provider': state,
    'code of another provider': code,
    'ID token of another provider': await provider.sign({ iss: provider.issuer, aud: provider.clientId, ...claims }),
    'logout token of another provider': await provider.sign(provider.logoutClaims({ sid: 'matrix' })),
  };
}

/** @param upstream another provider, which this server knows by that name */
export async function makeWorld(
  server: TestServer,
  publisher: Pick<Publisher, 'app'>,
  upstream: TestUpstream,
): Promise<World> {
  const user = await newUser(server);
  const browser = await signedIn(server, user);
  const client = await newClient(server, { grantTypes: ALL_GRANTS });
  const other = await newClient(server, { grantTypes: ALL_GRANTS });
  const hold = (of: TestClient) => tokensFor(server, of, user, {}, { browser });
  const tokens = await hold(client);
  const foreign = await hold(other);
  const ofStandard = await hold(standard(client));
  const foreignOfStandard = await hold(standard(other));
  const idTokens = new Map<string, string>([['ID token, HS256', tokens.id_token]]);
  for (const alg of ID_TOKEN_ALGS) {
    if (alg === 'HS256') continue;
    const app = await newClient(server, { idTokenSignedResponseAlg: alg, postLogoutRedirectUris: [GOODBYE] });
    idTokens.set(`ID token, ${alg}`, (await hold(app)).id_token);
    if (alg === 'RS256') idTokens.set('ID token, oidc', (await hold(standard(app))).id_token);
  }
  const own = await asClient(server, TOKEN, client, { grant_type: 'client_credentials' });
  assert.equal(own.status, 200, own.text);
  const allowed = async (of: TestClient) => {
    const device = await startDevice(server, of);
    await answerDevice(server, browser, device);
    return device.device_code;
  };
  const selfRegistered = await newSelfRegistered(server);
  const otherRegistered = await newSelfRegistered(server);
  const byDocument = publisher.app(`/matrix-${++documents}.json`);
  const pending = await browser.get(authorizeUrl(client, { prompt: 'consent' }));
  const account = await browser.get('/account/security');
  const key = await appKey();
  const service = await keyApp(server, { grantTypes: ['client_credentials'], jwks: { keys: [key.jwk] } });
  const assertion = (await proofOf(server, service.clientId, key)).client_assertion;
  return {
    server,
    user,
    browser,
    client,
    tokens,
    selfRegistered,
    provider: upstream.provider.issuer,
    credentials: {
      'access token': tokens.access_token,
      'refresh token': tokens.refresh_token,
      'access token, oidc': ofStandard.access_token,
      'refresh token, oidc': ofStandard.refresh_token,
      'authorization code, oidc': await codeFor(server, standard(client), user, {}, { browser }),
      ...Object.fromEntries(idTokens),
      'device code': await allowed(standard(client)),
      'device code of another client': await allowed(standard(other)),
      'user code': (await startDevice(server, standard(client))).user_code,
      'client’s own token': own.body.access_token,
      'authorization code': await codeFor(server, client, user, {}, { browser }),
      'access token of another client': foreign.access_token,
      'refresh token of another client': foreign.refresh_token,
      'access token, oidc, of another client': foreignOfStandard.access_token,
      'refresh token, oidc, of another client': foreignOfStandard.refresh_token,
      'authorization code of another client': await codeFor(server, other, user, {}, { browser }),
      ...kindsOf(UNREGISTERED[0], await heldBy(selfRegistered, server, browser, user)),
      ...kindsOf(UNREGISTERED[1], await heldBy(byDocument, server, browser, user)),
      'registration access token': selfRegistered.registration.registration_access_token,
      'registration access token of another client': otherRegistered.registration.registration_access_token,
      'initial access token': (await newInitialToken(server)).initialAccessToken,
      'logout token': await newLogoutToken(server),
      ...(await fromProvider(browser, upstream)),
      'client assertion': assertion,
      'client secret': client.clientSecret,
      'client secret of another client': other.clientSecret,
      'client id': client.clientId,
      'user id': user.id,
      password: PASSWORD,
      'admin key': ADMIN_KEY,
      'session cookie': browser.cookie('tessera_session') ?? '',
      'browser cookie': browser.cookie('tessera_browser') ?? '',
      'interaction handle': pending.location?.searchParams.get('request') ?? '',
      'form token': formOf(account.text, '/account/password').hidden['form_token'] ?? '',
      'random octets': randomBytes(32).toString('base64url'),
      'three parts of nothing': 'e30.e30.AAAA',
      words: 'not a credential at all',
    },
  };
}

/** The kinds, in one place: each stands against every place that takes one. */
export const KINDS = [
  ...['access token', 'refresh token', ...ID_TOKEN_ALGS.map((alg) => `ID token, ${alg}`), 'client’s own token'],
  ...['access token, oidc', 'refresh token, oidc', 'authorization code, oidc', 'ID token, oidc'],
  ...['access token, oidc, of another client', 'refresh token, oidc, of another client'],
  ...['authorization code', 'device code', 'user code', 'client assertion', 'logout token'],
  ...['access token', 'refresh token', 'authorization code', 'device code', 'client secret'].map(
    (kind) => `${kind} of another client`,
  ),
  ...TOKENS_OF_UNREGISTERED,
  ...UNREGISTERED.map((app) => `authorization code of ${app}`),
  ...['registration access token', 'registration access token of another client', 'initial access token'],
  'state at another provider',
  ...['code', 'ID token', 'logout token'].map((kind) => `${kind} of another provider`),
  ...['client secret', 'client id', 'user id', 'password', 'admin key', 'session cookie', 'browser cookie'],
  ...['interaction handle', 'form token', 'random octets', 'three parts of nothing', 'words'],
] as const;

/** What keeps a hash of something that can be presented, and the kind that it is. A new one wants a kind above. */
export const HASHED: Readonly<Record<string, string>> = {
  authorization_code: 'authorization code',
  client_secret: 'client secret',
  client_assertion: 'client assertion',
  browser_session: 'session cookie',
  configured_admin_key: 'admin key',
  known_browser: 'browser cookie',
  playground_visit: 'browser cookie',
  interaction: 'interaction handle',
  device_authorization: 'device code',
  admin_key: 'admin key',
  initial_access_token: 'initial access token',
  // Presented to the pages of the sign-in and of the mail that they come from alone, which have tests of their own.
  address_change: 'random octets',
  invitation: 'random octets',
  // Names an answer, which only the caller gets who made it.
  idempotent_request: 'random octets',
  challenge: 'random octets',
  pending_sign_in: 'random octets',
  recovery_code: 'random octets',
  replaced_value: 'random octets',
  setup_link: 'random octets',
  trusted_browser: 'random octets',
  // Names a session, and opens nothing.
  upstream_session: 'random octets',
};
