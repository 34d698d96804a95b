// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Agent, agent } from '../support/agent.ts';
import {
  admin,
  authorizeUrl,
  newClient,
  newUser,
  PASSWORD,
  redeem,
  refresh,
  signedIn,
  standard,
  type TestClient,
  type TestUser,
  walk,
} from '../support/flow.ts';
import { query } from '../support/outcome.ts';
import { startServer } from '../support/server.ts';
import { newUpstream, type TestUpstream, throughUpstream } from './people.ts';

const server = await startServer({ TESSERA_LIMIT_SIGN_IN_ADDRESS: 'off' });
let staff: TestUpstream;
let organizationId: string;
let count = 0;
before(async () => {
  staff = await newUpstream(server);
  const { body } = await admin(server, 'POST', '/organizations', { name: 'engines', domain: 'engines.example' });
  organizationId = body.id;
  assert.equal((await only(staff.id)).status, 200);
});
after(async () => {
  await staff.provider[Symbol.asyncDispose]();
  await server.close();
});

const only = (upstreamId: string | null, endSessions = false) =>
  admin(server, 'PUT', `/organizations/${organizationId}/only-upstream`, { upstreamId, endSessions });

/** A member, who has connected the provider. */
async function member(role: string | null = 'MEMBER'): Promise<TestUser & { readonly sub: string }> {
  const username = `member-${++count}`;
  const user = await newUser(server, { username, email: `${username}@engines.example` });
  if (role !== 'none') {
    const path = `/organizations/${organizationId}/members/${user.id}`;
    assert.equal((await admin(server, 'PUT', path, { role })).status, 200);
  }
  await connect(await signedIn(server, user), staff, username);
  return { ...user, sub: username };
}

async function connect(browser: Agent, { provider, name }: TestUpstream, sub: string): Promise<void> {
  provider.person = { sub };
  const left = await browser.get(`/account/security/connect/${name}`);
  const back = await browser.get(provider.authorize(left.location?.href ?? '').href);
  const page = await browser.get(back.location?.href ?? '');
  assert.equal((await browser.submit(page, {}, back.location?.pathname)).status, 200);
}

async function through(user: { readonly sub: string }): Promise<Agent> {
  const browser = agent(server.baseUrl);
  staff.provider.person = { sub: user.sub };
  assert.equal((await throughUpstream(browser, staff)).location?.pathname, '/account');
  return browser;
}

const url = (client: TestClient, more: Readonly<Record<string, string>> = {}) =>
  authorizeUrl(client, { scope: 'openid', ...more });

/** Where an app's request leads first. */
async function ledTo(browser: Agent, client: TestClient): Promise<string | undefined> {
  const stored = await browser.get(url(client));
  const { location } = stored.location?.pathname === '/login' ? await browser.get(stored.location.href) : stored;
  return location?.pathname;
}

const ofOrganization = async () => standard(await newClient(server, { organizationId }));
/** An app that is open to people who are assigned to it. */
async function assignedTo(...subjects: readonly object[]): Promise<TestClient> {
  const client = standard(await newClient(server, { access: 'assigned' }));
  for (const subject of subjects) {
    const { status, body } = await admin(server, 'POST', `/clients/${client.clientId}/assignments`, subject);
    assert.ok(status === 200 || status === 201, JSON.stringify(body));
  }
  return client;
}

describe('only through one provider', () => {
  test('a member who signed in with a password is led to it by an app of the organization', async () => {
    const user = await member();
    const browser = await signedIn(server, user);
    const client = await ofOrganization();
    assert.equal(await ledTo(browser, client), `/login/with/${staff.name}`);
    const stored = await browser.get(url(client));
    staff.provider.person = { sub: user.sub };
    const back = await throughUpstream(browser, staff, stored.location?.search);
    assert.ok((await walk(browser, back.location?.href ?? '')).searchParams.has('code'));
  });

  test('one who came through it gets a code at once', async () => {
    const user = await member();
    const browser = await through(user);
    assert.ok((await walk(browser, url(await ofOrganization()))).searchParams.has('code'));
  });

  test('a later sign-in with a password in the same browser does not count', async () => {
    const user = await member();
    const browser = await through(user);
    const client = await ofOrganization();
    const again = await browser.get(url(client, { prompt: 'login' }));
    const page = await browser.get(`${again.location?.pathname}${again.location?.search}&other=1`);
    await browser.submit(page, { identifier: user.username, password: PASSWORD }, '/login');
    assert.equal(await ledTo(browser, client), `/login/with/${staff.name}`);
  });

  test('nor does one through another provider, which also ends with the older sessions', async () => {
    const user = await member();
    const home = await newUpstream(server);
    await connect(await signedIn(server, user), home, user.sub);
    const browser = await through(user);
    const client = await ofOrganization();
    server.advance(1);
    const again = await browser.get(url(client, { prompt: 'login' }));
    home.provider.person = { sub: user.sub };
    const back = await throughUpstream(browser, home, again.location?.search);
    assert.ok(!(await walk(browser, back.location?.href ?? '')).searchParams.has('code'));
    assert.equal(await ledTo(browser, client), `/login/with/${staff.name}`);
    await only(staff.id, true);
    assert.equal((await browser.get('/account')).status, 302);
    await home.provider[Symbol.asyncDispose]();
  });

  test('it is asked for in its apps alone, never for the account', async () => {
    const user = await member();
    const browser = await signedIn(server, user);
    assert.equal((await browser.get('/account')).status, 200);
    assert.equal(await ledTo(browser, standard(await newClient(server))), '/consent');
  });

  test('an assignment of the organization asks for it, and another way to the app does not', async () => {
    const user = await member();
    const browser = await signedIn(server, user);
    assert.equal(await ledTo(browser, await assignedTo({ organizationId })), `/login/with/${staff.name}`);
    assert.equal(await ledTo(browser, await assignedTo({ organizationId }, { userId: user.id })), '/consent');
    const group = await admin(server, 'POST', '/groups', { name: `crew-${count}`, organizationId });
    assert.equal(group.status, 201, JSON.stringify(group.body));
    await admin(server, 'PUT', `/groups/${group.body.id}/members/${user.id}`, {});
    assert.equal(await ledTo(browser, await assignedTo({ groupId: group.body.id })), `/login/with/${staff.name}`);
  });

  test('owners keep a local way in, and people outside are not concerned', async () => {
    const client = await ofOrganization();
    assert.equal(await ledTo(await signedIn(server, await member('OWNER')), client), '/consent');
    assert.equal(await ledTo(await signedIn(server, await member('none')), client), '/consent');
    assert.equal(await ledTo(await signedIn(server, await member('ADMIN')), client), `/login/with/${staff.name}`);
    assert.equal(await ledTo(await signedIn(server, await member(null)), client), `/login/with/${staff.name}`);
  });

  test('prompt=none is told that a page is needed', async () => {
    const browser = await signedIn(server, await member());
    const { location } = await browser.get(url(await ofOrganization(), { prompt: 'none' }));
    assert.equal(location?.searchParams.get('error'), 'login_required');
  });

  test('it counts when a code is issued, also for a page that was open before', async () => {
    const user = await member();
    await only(null);
    const browser = await signedIn(server, user);
    const client = await ofOrganization();
    const stored = await browser.get(url(client));
    const page = await browser.get(stored.location?.href ?? '');
    assert.equal(stored.location?.pathname, '/consent');
    await only(staff.id);
    const decided = await browser.submit(page, { decision: 'allow' }, '/consent');
    assert.equal(decided.location?.searchParams.has('code'), false, decided.text);
    const [row] = await query(server, `SELECT count(*) AS n FROM authorization_code WHERE account_id = '${user.id}'`);
    assert.equal(Number(row?.['n']), 0);
  });

  test('while the provider is disabled, its apps let no member in', async () => {
    const browser = await through(await member());
    const other = await signedIn(server, await member());
    const client = await ofOrganization();
    await admin(server, 'POST', `/upstreams/${staff.id}/disable`, {});
    const refused = await walk(other, url(client));
    assert.equal(refused.searchParams.get('error'), 'access_denied');
    assert.ok((await walk(browser, url(client))).searchParams.has('code'), 'who came through it before');
    await admin(server, 'POST', `/upstreams/${staff.id}/enable`, {});
    server.advance(11_000);
  });

  test('older sessions end if the operator says so, but those of owners and those that began there', async () => {
    const [user, owner] = [await member(), await member('OWNER')];
    const browsers = {
      local: await signedIn(server, user),
      there: await through(user),
      owner: await signedIn(server, owner),
    };
    const { body } = await only(staff.id, true);
    assert.ok(body.ended.sessions >= 1);
    const states = await Promise.all(Object.values(browsers).map(async (one) => (await one.get('/account')).status));
    assert.deepEqual(states, [302, 200, 200]);
  });

  test('what was issued in other sign-ins ends with them, and what came through it lives on', async () => {
    const user = await member();
    const app = standard(await newClient(server));
    const asked = authorizeUrl(app, { scope: 'openid offline_access', prompt: 'consent' });
    const tokensOf = async (browser: Agent): Promise<string> => {
      const code = (await walk(browser, asked)).searchParams.get('code') ?? '';
      return (await redeem(server, app, code)).body.refresh_token;
    };
    const local = await signedIn(server, user);
    const [over, there, left] = [await signedIn(server, user), await through(user), await through(user)];
    const issued = {
      local: await tokensOf(local),
      over: await tokensOf(over),
      there: await tokensOf(there),
      left: await tokensOf(left),
    };
    // This browser goes on in one session, first with a password and then through the provider.
    const continued = await signedIn(server, user);
    const before = await tokensOf(continued);
    const waiting = (await walk(continued, asked)).searchParams.get('code') ?? '';
    server.advance(1);
    const again = await continued.get(url(await ofOrganization()));
    staff.provider.person = { sub: user.sub };
    await throughUpstream(continued, staff, again.location?.search);
    const afterwards = await tokensOf(continued);
    for (const browser of [over, left]) await browser.submit(await browser.get('/account'), {}, '/logout');

    const { body } = await only(staff.id, true);
    assert.ok(body.ended.users >= 1);
    const lives = async (token: string): Promise<boolean> => (await refresh(server, app, token)).status === 200;
    assert.deepEqual(
      [await lives(issued.local), await lives(issued.over), await lives(issued.there), await lives(issued.left)],
      [false, false, true, true],
    );
    assert.deepEqual([await lives(before), await lives(afterwards)], [false, true]);
    assert.equal((await redeem(server, app, waiting)).status, 400, 'a code of the sign-in before');
    assert.equal((await continued.get('/account')).status, 200);
    const events = await admin(server, 'GET', `/audit-events?type=session.ended&userId=${user.id}`);
    const { onlyUpstreamId, sessions } = events.body.items.at(-1).details;
    assert.deepEqual(
      [onlyUpstreamId, sessions],
      [staff.id, 2],
      'the second is that in which the provider was connected',
    );
    assert.deepEqual((await only(staff.id, true)).body.ended, { users: 0, sessions: 0 }, 'nothing is left to end');
  });

  test('the sign-in page of its apps leads there, and lets owners and people outside sign in as they like', async () => {
    const leads = new RegExp(
      `Members of .*engines.* sign in with .*href="/login/with/${staff.name}\\?request=[^"]*">Continue with`,
    );
    const pageOf = async (client: TestClient): Promise<string> => {
      const browser = agent(server.baseUrl);
      const stored = await browser.get(url(client));
      assert.equal(stored.location?.pathname, '/login');
      return (await browser.get(stored.location.href)).text;
    };
    const client = await ofOrganization();
    const page = await pageOf(client);
    assert.match(page, leads);
    assert.match(page, /name="password"/);
    assert.doesNotMatch(await pageOf(standard(await newClient(server))), leads);
    await only(null);
    server.advance(11_000);
    assert.doesNotMatch(await pageOf(client), leads);
    await only(staff.id);
    server.advance(11_000);
  });

  test('an app that names the organization leads there without the sign-in page', async () => {
    const client = standard(await newClient(server));
    const browser = agent(server.baseUrl);
    const led = async (organization: string) => {
      const stored = await browser.get(url(client, { organization }));
      return browser.get(stored.location?.href ?? '');
    };
    assert.equal((await led('engines')).location?.pathname, `/login/with/${staff.name}`);
    const other = await browser.get(
      `${(await browser.get(url(client, { organization: 'engines' }))).location?.href}&other=1`,
    );
    assert.match(other.text, /Members of .*engines/);
    for (const unknown of ['looms', 'Engines', '../engines']) assert.equal((await led(unknown)).status, 200, unknown);
    await admin(server, 'POST', `/upstreams/${staff.id}/disable`, {});
    server.advance(11_000);
    assert.equal((await led('engines')).status, 200, 'a disabled provider');
    await admin(server, 'POST', `/upstreams/${staff.id}/enable`, {});
    server.advance(11_000);
  });

  test('a provider that an organization names is not deleted', async () => {
    const named = await newUpstream(server);
    await only(named.id);
    await admin(server, 'POST', `/upstreams/${named.id}/disable`, {});
    assert.equal((await admin(server, 'DELETE', `/upstreams/${named.id}`)).status, 409);
    await only(staff.id);
    assert.equal((await admin(server, 'DELETE', `/upstreams/${named.id}`)).status, 204);
    const { body } = await admin(server, 'GET', `/organizations/${organizationId}/only-upstream`);
    assert.equal(body.upstreamId, staff.id);
    await named.provider[Symbol.asyncDispose]();
  });

  test('an unknown provider or organization is not found', async () => {
    assert.equal((await only('123456789012345678')).status, 404);
    const path = '/organizations/123456789012345678/only-upstream';
    assert.equal((await admin(server, 'PUT', path, { upstreamId: null })).status, 404);
    assert.equal((await admin(server, 'GET', path)).status, 404);
  });
});
