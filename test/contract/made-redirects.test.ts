// store: SQLite, PostgreSQL
/** What was sent to a redirect URI of a stolen key dies where the key ends with what it made, and the app goes on at its own. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { agent } from '../support/agent.ts';
import { admin, authorizeUrl, newClient, newUser, redeem, refresh, signedIn, userinfo, walk } from '../support/flow.ts';
import { MINUTE } from '../support/outcome.ts';
import { startServer } from '../support/server.ts';

const server = await startServer({});
after(() => server.close());

const call = async (method: string, path: string, body?: object, key?: string) => {
  const answer = await admin(server, method, path, body, key);
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
};
const newKey = (by?: string): Promise<{ id: string; adminKey: string }> =>
  call('POST', '/admin-keys', { name: 'stolen', role: 'admin' }, by);
const OWN = 'https://app.example.com/callback';
const EVIL = 'https://thief.example/callback';
const change = (clientId: string, redirectUris: readonly string[], by?: string) =>
  call('PATCH', `/clients/${clientId}`, { redirectUris }, by);
const urisOf = async (clientId: string): Promise<string[]> => (await call('GET', `/clients/${clientId}`)).redirectUris;
const listed = async (id: string) => (await call('GET', `/admin-keys/${id}`)).made.settings;
const end = (id: string) => call('DELETE', `/admin-keys/${id}?endMade=true`);

test('redirect URIs end that a key added, also with a key of it in several steps, and its own that it removed is only listed', async () => {
  const [key, { clientId }] = [await newKey(), await newClient(server)];
  const helper = await newKey(key.adminKey);
  await change(clientId, [OWN, EVIL], key.adminKey);
  server.advance(MINUTE);
  await change(clientId, [EVIL], helper.adminKey);
  server.advance(MINUTE);
  await change(clientId, [EVIL, 'https://more.example/callback'], key.adminKey);
  await end(key.id);
  assert.deepEqual(await urisOf(clientId), []);
  const [{ fields, left }] = await listed(key.id);
  assert.deepEqual([fields, left], [[], ['redirectUris']]);
});

test('what somebody else added since stays', async () => {
  const [key, { clientId }] = [await newKey(), await newClient(server)];
  await change(clientId, [OWN, EVIL], key.adminKey);
  server.advance(MINUTE);
  await change(clientId, [OWN, EVIL, 'https://later.example/callback']);
  await end(key.id);
  assert.deepEqual(await urisOf(clientId), [OWN, 'https://later.example/callback']);
});

for (const isRemoved of [false, true]) {
  const also = isRemoved ? ', also where somebody took the address away before' : '';
  test(`neither a code that was sent elsewhere nor a token that was got with it is accepted afterwards${also}`, async () => {
    const [key, person] = [await newKey(), await newUser(server)];
    const app = await newClient(server);
    await change(app.clientId, [OWN, EVIL], key.adminKey);
    const caught = { ...app, redirectUri: EVIL };
    const codeAt = async (): Promise<string> =>
      (await walk(await signedIn(server, person), authorizeUrl(caught))).searchParams.get('code') ?? '';
    const { body: tokens } = await redeem(server, caught, await codeAt());
    const code = await codeAt();
    assert.equal((await userinfo(server, tokens.access_token)).status, 200);
    server.advance(1000);
    if (isRemoved) await change(app.clientId, [OWN]);
    await end(key.id);
    assert.equal((await userinfo(server, tokens.access_token)).status, 401);
    assert.equal((await refresh(server, caught, tokens.refresh_token)).body.error, 'invalid_grant');
    assert.equal((await redeem(server, caught, code)).body.error, 'invalid_grant');
    assert.equal((await agent(server.baseUrl).get(authorizeUrl(caught))).status, 400);
    const browser = await signedIn(server, person);
    const asked = await browser.get((await browser.get(authorizeUrl(app))).location?.href ?? '');
    assert.ok(asked.text.includes('value="allow"'), 'the person is asked again');
    const again = await walk(browser, authorizeUrl(app));
    assert.ok(again.searchParams.has('code'), 'the app goes on at its own address');
  });
}

test('a sign-in that waits for an answer since then is not sent elsewhere', async () => {
  const [key, person] = [await newKey(), await newUser(server)];
  const app = await newClient(server);
  await change(app.clientId, [OWN, EVIL], key.adminKey);
  const browser = await signedIn(server, person);
  const consent = await browser.get(authorizeUrl({ ...app, redirectUri: EVIL }));
  const page = consent.location === undefined ? consent : await browser.get(consent.location.href);
  await end(key.id);
  const done = await browser.submit(page, { decision: 'allow' }, '/consent');
  assert.ok(done.location?.origin !== new URL(EVIL).origin || !done.location.searchParams.has('code'), done.text);
});
