// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type Agent, type Answer, formOf } from '../support/agent.ts';
import {
  admin,
  authorizeUrl,
  claimsOf,
  newClient,
  newUser,
  redeem,
  refresh,
  signedIn,
  standard,
  type TestClient,
  tokensFor,
  walk,
} from '../support/flow.ts';
import { MINUTE } from '../support/outcome.ts';
import { atSecondStep, enroll, totpCode, typeCode } from '../support/second-factor.ts';
import { startServer, type TestServer } from '../support/server.ts';

// Decisions §11: a second factor that the installation or an app requires counts when a code is issued.

type User = Awaited<ReturnType<typeof newUser>>;

const errorOf = ({ location }: Answer) => location?.searchParams.get('error');

const server = await startServer();
const strict = await startServer({ TESSERA_SECOND_FACTOR: 'required' });
const off = await startServer({ TESSERA_SECOND_FACTOR: 'off' });
after(() => Promise.all([server.close(), strict.close(), off.close()]));

/** Proves more in a session that began with the password, and gets tokens. */
async function raise(at: TestServer, browser: Agent, client: TestClient, seed: string) {
  const sent = await browser.get(authorizeUrl(client, { scope: 'openid' }));
  assert.equal(sent.location?.pathname, '/login/verify', sent.text);
  const page = await browser.get(sent.location?.href ?? '');
  at.advance(MINUTE);
  const answer = await typeCode(browser, page, totpCode({ seed }, at.now()));
  const location = await walk(browser, answer.location?.href ?? '');
  return (await redeem(at, client, location?.searchParams.get('code') ?? '')).body;
}

type SetUp = (user: (at: TestServer) => Promise<User>) => Promise<{ at: TestServer; client: TestClient; user: User }>;

/** What requires a second factor of a person, the person, and an app. */
const requiring: Record<string, SetUp> = {
  'the installation': async (user) => ({ at: strict, client: await newClient(strict), user: await user(strict) }),
  'an app': async (user) => ({
    at: server,
    client: await newClient(server, { requireSecondFactor: true }),
    user: await user(server),
  }),
  async 'an organization'(make) {
    const user = await make(server);
    await joinRequiring(user);
    return { at: server, client: await newClient(server), user };
  },
};

let organizations = 0;

/** Makes a person a member of an organization that requires a second factor from then on. */
async function joinRequiring({ id }: User): Promise<string> {
  organizations++;
  const { body } = await admin(server, 'POST', '/organizations', { name: `org-${organizations}`, domain: 'a.example' });
  assert.equal(body.requireSecondFactor, false);
  const member = await admin(server, 'PUT', `/organizations/${body.id}/members/${id}`, { role: 'MEMBER' });
  assert.equal(member.status, 200);
  const changed = await admin(server, 'PATCH', `/organizations/${body.id}`, { requireSecondFactor: true });
  assert.deepEqual([changed.status, changed.body.requireSecondFactor], [200, true]);
  return body.id;
}
for (const [name, setUp] of Object.entries(requiring)) {
  for (const endpointSet of ['v2', 'oidc']) {
    test(`${endpointSet}: what ${name} requires raises a session of a password`, async () => {
      const { at, client: contract, user } = await setUp(newUser);
      const client = endpointSet === 'oidc' ? standard(contract) : contract;
      const browser = await signedIn(at, user);
      const { seed } = await enroll(at, user);
      const silent = await browser.get(authorizeUrl(client, { scope: 'openid', prompt: 'none' }));
      assert.equal(errorOf(silent), 'login_required');
      const { id_token } = await raise(at, browser, client, seed);
      assert.deepEqual([...claimsOf(id_token).amr].sort(), ['mfa', 'otp', 'pwd']);
    });
  }

  test(`who has not set up what ${name} requires is led to set it up, except under prompt=none`, async () => {
    const { at, client, user } = await setUp(newUser);
    const browser = await signedIn(at, user);
    const silent = await browser.get(authorizeUrl(client, { scope: 'openid', prompt: 'none' }));
    assert.equal(errorOf(silent), 'login_required');
    const { location } = await browser.get(authorizeUrl(client, { scope: 'openid' }));
    assert.equal(location?.pathname, '/login/enroll');
  });
}

test('a requirement that is set while the consent page is open counts, and families from before go on', async () => {
  const client = await newClient(server);
  const user = await newUser(server);
  const { refresh_token } = await tokensFor(server, client, await newUser(server), { scope: 'openid' });
  const browser = await signedIn(server, user);
  const sent = await browser.get(authorizeUrl(client));
  const page = await browser.get(sent.location?.href ?? '');
  const { status } = await admin(server, 'PATCH', `/clients/${client.clientId}`, { requireSecondFactor: true });
  assert.equal(status, 200);
  const action = /action="([^"]*\/consent[^"]*)"/.exec(page.text)?.[1];
  const answer = await browser.submit(page, { decision: 'allow' }, action);
  assert.equal(answer.location?.searchParams.has('code') ?? false, false, String(answer.location));
  assert.equal((await refresh(server, client, refresh_token)).status, 200);
});

test('an organization requires it of those who are members when the code is issued, and of nobody else', async () => {
  const client = await newClient(server);
  const [user, other] = [await newUser(server), await newUser(server)];
  const organizationId = await joinRequiring(user);
  assert.equal(await nextOf(other), '/consent');
  assert.equal(await nextOf(user), '/login/enroll');
  assert.equal((await admin(server, 'DELETE', `/organizations/${organizationId}/members/${user.id}`)).status, 204);
  assert.equal(await nextOf(user), '/consent');

  async function nextOf(person: User) {
    const browser = await signedIn(server, person);
    return (await browser.get(authorizeUrl(client, { scope: 'openid' }))).location?.pathname;
  }
});

test('where factors are off, none can be set up, and one that is there is still asked for and can be moved', async () => {
  const [user, owner] = [await newUser(off), await newUser(off)];
  const browser = await signedIn(off, user);
  const page = await browser.get('/account/security');
  assert.doesNotMatch(page.text, /id="(two-step|passkeys)"/);
  assert.equal((await browser.get('/account/security/authenticator')).status, 409);
  const { hidden } = formOf(page.text, '/account/sign-out-everywhere');
  const refused = await browser.post('/account/security/passkeys', { ...hidden, action: 'add', passkey: '{}' });
  assert.match(refused.text, /No more passkeys can be added/);

  const factor = await enroll(off, owner);
  const { browser: second, page: verify } = await atSecondStep(off, owner);
  assert.equal((await typeCode(second, verify, totpCode(factor, off.now()))).status, 303);
  const security = await second.get('/account/security');
  assert.match(security.text, /Replace the authenticator app/);
  assert.match(security.text, /Get new recovery codes/);
  assert.equal((await second.get('/account/security/authenticator')).status, 200);
});
