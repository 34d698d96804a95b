import assert from 'node:assert/strict';
import { agent } from '../support/agent.ts';
import { assertInvalidGrant, assertInvalidToken, assertRefused } from '../support/api-call.ts';
import {
  admin,
  authorizeUrl,
  codeFor,
  newClient,
  newUser,
  PASSWORD,
  redeem,
  refresh,
  signedIn,
  tokenCall,
  tokensFor,
  userinfo,
} from '../support/flow.ts';
import { realKeys } from '../support/forged-token.ts';
import { ADMIN_KEY, type TestServer } from '../support/server.ts';
import { secretsOfPeople } from './secrets-of-people.ts';

/**
 * CD-10, ST-01: what is stored holds nothing that could be presented.
 * @param read gives all that a thief of the database would have
 */
export async function assertNothingPresentable(
  server: TestServer,
  read: (server: TestServer) => Promise<Buffer>,
): Promise<void> {
  const client = await newClient(server);
  const user = await newUser(server);
  const browser = await signedIn(server, user);
  const tokens = await tokensFor(server, client, user, {}, { browser });
  const renewed = (await refresh(server, client, tokens.refresh_token)).body;
  const code = await codeFor(server, client, user, {}, { browser });
  const pending = await browser.get(authorizeUrl(client, { prompt: 'consent' }));
  const keys = await realKeys(server);
  const rotated = (await admin(server, 'POST', `/clients/${client.clientId}/secrets`, {})).body.clientSecret;
  assert.equal((await admin(server, 'GET', '/users')).status, 200);
  const people = await secretsOfPeople(server);

  const dump = await read(server);
  assert.ok(dump.includes(user.username), 'the dump shows what is stored');
  const signature = (token: string) => token.split('.')[2] ?? '';
  const secrets: Readonly<Record<string, string | Buffer>> = {
    code,
    'access token': signature(renewed.access_token),
    'refresh token': signature(renewed.refresh_token),
    'retired refresh token': signature(tokens.refresh_token),
    'ID token': signature(renewed.id_token),
    'client secret': client.clientSecret,
    'second client secret': rotated,
    'client secret, octets': Buffer.from(client.clientSecret, 'base64url'),
    'handle of a pending request': pending.location?.searchParams.get('request') ?? '',
    'browser cookie': browser.cookie('tessera_browser') ?? '',
    'session cookie': browser.cookie('tessera_session') ?? '',
    ...people.secrets,
    password: PASSWORD,
    'admin key': ADMIN_KEY,
    'access key': keys.access,
    'refresh key': keys.refresh,
    'key material': keys.material,
    root: keys.root,
  };
  for (const [name, secret] of Object.entries(secrets)) {
    assert.ok(secret.length > 8, name);
    const forms = Buffer.isBuffer(secret)
      ? [secret, ...(['hex', 'base64', 'base64url'] as const).map((encoding) => secret.toString(encoding))]
      : [secret];
    for (const form of forms) assert.ok(!dump.includes(form), `the database holds the ${name}`);
  }

  // And no text that it does hold opens anything.
  const texts = new Set(dump.toString('latin1').match(/[A-Za-z0-9_-]{22,64}/g) ?? []);
  assert.ok(texts.size > 10);
  for (const text of texts) {
    assertInvalidToken(await userinfo(server, text));
    assertInvalidToken(await admin(server, 'GET', '/users', undefined, text));
    assertInvalidGrant(await redeem(server, client, text));
    assertInvalidGrant(await refresh(server, client, text));
    const thief = agent(server.baseUrl);
    for (const name of ['tessera_session', 'tessera_browser']) thief.setCookie(name, text);
    assert.equal((await thief.get('/account')).location?.pathname, '/login', `${text} opens a session`);
    assert.equal((await thief.get(`/consent?request=${text}`)).status, 400, `${text} opens a pending request`);
    for (const path of people.paths)
      assert.match(String((await thief.get(path(text))).status), /^4(04|10)$/, path(text));
  }
  const guess = { grant_type: 'refresh_token', refresh_token: renewed.refresh_token, client_id: client.clientId };
  for (const text of [...texts].slice(0, 15)) {
    assertRefused(await tokenCall(server, { ...guess, client_secret: text }), 401, 'invalid_client');
  }
  assert.equal((await redeem(server, client, code)).status, 200);
  assert.equal((await refresh(server, client, renewed.refresh_token)).status, 200);
}
