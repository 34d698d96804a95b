// store: SQLite
import assert from 'node:assert/strict';
import { after, afterEach, test } from 'node:test';
import { type Agent, agent } from '../support/agent.ts';
import { admin, authorizeUrl, newClient, newUser, standard } from '../support/flow.ts';
import { GithubServer } from '../support/github-server.ts';
import { mailsTo } from '../support/mail.ts';
import { query } from '../support/outcome.ts';
import { newestMail } from '../support/recovery.ts';
import { startServer } from '../support/server.ts';
import { newUpstream } from './people.ts';

const server = await startServer({
  TESSERA_MAILBOX: 'on',
  TESSERA_LIMIT_SIGN_UP_ADDRESS: 'off',
  TESSERA_LIMIT_MAIL_ADDRESS: 'off',
});
const github = await GithubServer.start();
after(async () => {
  await github[Symbol.asyncDispose]();
  await server.close();
});
const created = await admin(server, 'POST', '/upstreams', {
  ...{ name: 'github', preset: 'github', at: github.baseUrl, signUp: 'anyone' },
  ...{ clientId: github.clientId, clientSecret: github.clientSecret },
});
server.advance(11_000);
afterEach(() => {
  github.answer = undefined;
  github.reusesCodes = false;
  github.iss = github.ownIss;
});

const primary = (email: string, verified = true) => [{ email, primary: true, verified }];

async function through(browser: Agent) {
  const left = await browser.get('/login/with/github');
  assert.equal(left.status, 302, left.text.slice(0, 2000));
  return browser.get(github.authorize(left.location?.href ?? '').href);
}

/** Creates an account with the person who signs in at GitHub. */
async function join(username: string): Promise<Agent> {
  const browser = agent(server.baseUrl);
  const back = await through(browser);
  const page = await browser.get(back.location?.href ?? '');
  const email = `${username}@example.com`;
  await browser.submit(page, { displayName: 'Person', username, email }, '/login/with/github/new');
  const { code = '' } = await newestMail(server, email, 'verify address');
  await browser.submit(await browser.get('/signup/verify'), { code }, '/signup/verify');
  return browser;
}

const identities = (subject: string) =>
  query(server, `SELECT issuer FROM upstream_identity WHERE subject = '${subject}'`);

test('the preset has the kind, the name and the scopes', () => {
  const { kind, issuer, displayName, scopes, hasClientSecret } = created.body;
  assert.deepEqual(
    { kind, issuer, displayName, scopes, hasClientSecret },
    {
      kind: 'github',
      issuer: github.baseUrl,
      displayName: 'GitHub',
      scopes: ['read:user', 'user:email'],
      hasClientSecret: true,
    },
  );
});

test('a person is sent with PKCE, and is known by the number of the account', async () => {
  const url = (await agent(server.baseUrl).get('/login/with/github')).location;
  assert.equal(url?.pathname, '/login/oauth/authorize');
  assert.equal(url?.searchParams.get('code_challenge_method'), 'S256');
  assert.equal(url?.searchParams.get('scope'), 'read:user user:email');
  github.user = { id: 1001, login: 'first', name: 'First Person', emails: primary('first@github.example') };
  await join('first-person');
  assert.deepEqual(await identities('1001'), [{ issuer: github.baseUrl }]);
  const browser = agent(server.baseUrl);
  assert.equal((await through(browser)).location?.pathname, '/account');
});

test('GitHub names itself by the URL of its OAuth endpoints, or not at all', async () => {
  github.user = { id: 1009, login: 'names-itself' };
  await join('names-itself');
  for (const [iss, path] of [
    [`${github.baseUrl}/login/oauth`, '/account'],
    [undefined, '/account'],
    [github.baseUrl, undefined],
    ['https://github.com/login/oauth', undefined],
  ] as const) {
    github.iss = iss;
    assert.equal((await through(agent(server.baseUrl))).location?.pathname, path, String(iss));
  }
});

test('a base URL with a slash at its end leads to the same addresses', async () => {
  const { body } = await admin(server, 'POST', '/upstreams', {
    ...{ name: 'github-slash', kind: 'github', issuer: `${github.baseUrl}/`, signUp: 'anyone' },
    ...{ clientId: github.clientId, clientSecret: github.clientSecret },
  });
  server.advance(11_000);
  github.user = { id: 1010, login: 'slash' };
  const browser = agent(server.baseUrl);
  const left = (await browser.get('/login/with/github-slash')).location;
  assert.equal(left?.pathname, '/login/oauth/authorize');
  const back = await browser.get(github.authorize(left.href).href);
  assert.equal(back.location?.pathname, '/login/with/github-slash/new');
  assert.equal((await admin(server, 'POST', `/upstreams/${body.id}/test`, {})).body.steps[0].level, 'ok');
});

test('a changed login name is still the same person', async () => {
  github.user = { id: 1002, login: 'before', emails: primary('renamed@github.example') };
  await join('renamed');
  github.user = { id: 1002, login: 'afterwards', emails: primary('renamed@github.example') };
  assert.equal((await through(agent(server.baseUrl))).location?.pathname, '/account');
});

test('a login name that another person has taken signs in nowhere', async () => {
  github.user = { id: 1003, login: 'given-up', emails: primary('given-up@github.example') };
  await join('given-up');
  github.user = { id: 1004, login: 'given-up', emails: primary('given-up@github.example') };
  assert.equal((await through(agent(server.baseUrl))).location?.pathname, '/login/with/github/new');
});

test('the verified primary address is proposed, and no other', async () => {
  const proposed = async (emails: readonly { email: string; primary: boolean; verified: boolean }[] | undefined) => {
    github.user = { id: 1005, login: 'proposes', name: null, ...(emails !== undefined && { emails }) };
    const browser = agent(server.baseUrl);
    const page = await browser.get((await through(browser)).location?.href ?? '');
    return /name="email"[^>]* value="([^"]*)"/.exec(page.text)?.[1] ?? '';
  };
  const other = { email: 'other@github.example', primary: false, verified: true };
  assert.equal(await proposed([other, ...primary('primary@github.example')]), 'primary@github.example');
  assert.equal(await proposed([other, ...primary('unverified@github.example', false)]), '');
  assert.equal(await proposed([]), '');
  assert.equal(await proposed(undefined), '', 'an app without the permission');
});

test('an address that another account here has signs in nowhere', async () => {
  const victim = await newUser(server, {
    username: 'github-victim',
    email: 'victim@github.example',
    emailVerified: true,
  });
  github.user = { id: 1006, login: 'attacker', emails: primary('victim@github.example') };
  const browser = agent(server.baseUrl);
  const back = await through(browser);
  assert.equal(back.location?.pathname, '/login/with/github/new');
  const page = await browser.get(back.location.href);
  const fields = { displayName: 'Attacker', username: 'github-attacker', email: 'victim@github.example' };
  const sent = await browser.submit(page, fields, '/login/with/github/new');
  assert.equal(sent.location?.pathname, '/signup/verify', 'the same answer as for any address');
  assert.equal((await mailsTo(server, 'victim@github.example'))[0]?.kind, 'account exists');
  assert.deepEqual(await query(server, `SELECT id FROM upstream_identity WHERE account_id = '${victim.id}'`), []);
});

test('a code that was used is refused, although GitHub answers with the status 200', async () => {
  github.user = { id: 1007, login: 'replayed' };
  const browser = agent(server.baseUrl);
  const callback = github.authorize((await browser.get('/login/with/github')).location?.href ?? '');
  assert.equal((await browser.get(callback.href)).status, 302);
  const again = await browser.get(callback.href);
  assert.equal(again.status, 502);
  assert.match(again.text, /does not answer as it should/);
});

test('a response signs in once, also where GitHub takes its code again', async () => {
  github.user = { id: 1008, login: 'twice' };
  await join('twice');
  github.reusesCodes = true;
  const browser = agent(server.baseUrl);
  const callback = github.authorize((await browser.get('/login/with/github')).location?.href ?? '');
  assert.equal((await browser.get(callback.href)).location?.pathname, '/account');
  assert.notEqual((await browser.get(callback.href)).location?.pathname, '/account');
});

test('a state written in another way is refused, so that it signs in once', async () => {
  github.user = { id: 1011, login: 'written' };
  await join('written');
  github.reusesCodes = true;
  const browser = agent(server.baseUrl);
  const callback = github.authorize((await browser.get('/login/with/github')).location?.href ?? '');
  const state = callback.searchParams.get('state') ?? '';
  assert.equal((await browser.get(callback.href)).location?.pathname, '/account');
  await browser.submit(await browser.get('/account'), {}, '/logout');
  for (const other of [`${state}=`, `${state}~`, `.${state}`, `${state.slice(0, 9)} ${state.slice(9)}`]) {
    callback.searchParams.set('state', other);
    assert.equal((await browser.get(callback.href)).status, 400, other);
  }
});

test('a wrong state, or that of another browser, sends no code anywhere', async () => {
  const browser = agent(server.baseUrl);
  const callback = github.authorize((await browser.get('/login/with/github')).location?.href ?? '');
  github.asked.length = 0;
  assert.equal((await agent(server.baseUrl).get(callback.href)).status, 400);
  callback.searchParams.set('state', `${callback.searchParams.get('state')}x`);
  assert.equal((await browser.get(callback.href)).status, 400);
  assert.deepEqual(github.asked, []);
});

test('the response of GitHub is refused at the address of another provider (mix-up)', async () => {
  const other = await newUpstream(server);
  const browser = agent(server.baseUrl);
  const callback = github.authorize((await browser.get('/login/with/github')).location?.href ?? '');
  assert.equal((await browser.get(callback.href.replace('/github/', `/${other.name}/`))).status, 400);
  assert.deepEqual(other.provider.asked, []);
  await other.provider[Symbol.asyncDispose]();
});

for (const [name, id] of [
  ['text', '1001'],
  ['zero', 0],
  ['negative', -5],
  ['a fraction', 1.5],
  ['missing', undefined],
  ['too large to be exact', 2 ** 60],
] as const) {
  test(`an id that is ${name} identifies nobody`, async () => {
    github.user = { id, login: 'odd' };
    assert.equal((await through(agent(server.baseUrl))).status, 400);
  });
}

test('an API that fails signs in nobody, and gives no token away', async () => {
  github.answer = (path, response) => {
    if (path !== '/api/v3/user') return false;
    response.writeHead(503, { 'content-type': 'application/json' }).end('{}');
    return true;
  };
  github.user = { id: 1001, login: 'first' };
  const answer = await through(agent(server.baseUrl));
  assert.equal(answer.status, 400);
  const event = (await admin(server, 'GET', '/audit-events?type=upstream.refused&limit=200')).body.items.at(-1);
  assert.match(event.details.reason, /GitHub's API: \/user answered with the status 503/);
  assert.doesNotMatch(JSON.stringify(event), /gho_/);
});

test('an app that asks for a new sign-in is not told that GitHub had one', async () => {
  const client = standard(await newClient(server));
  for (const asked of [{ prompt: 'login' }, { max_age: '60' }]) {
    const browser = agent(server.baseUrl);
    const shown = await browser.get(authorizeUrl(client, { scope: 'openid', ...asked }));
    const refused = await browser.get(`/login/with/github${shown.location?.search}`);
    assert.equal(refused.status, 400, refused.text.slice(0, 500));
    assert.match(refused.text, /cannot confirm that you did/);
  }
});

test('a test says whether GitHub knows the client', async () => {
  const steps = async () => (await admin(server, 'POST', `/upstreams/${created.body.id}/test`, {})).body.steps;
  assert.equal((await steps())[0].level, 'ok');
  await admin(server, 'PATCH', `/upstreams/${created.body.id}`, { clientSecret: 'wrong' });
  assert.equal((await steps())[0].level, 'problem');
  await admin(server, 'PATCH', `/upstreams/${created.body.id}`, { clientSecret: github.clientSecret });
});

test('a person gives a fresh proof there, and is shown the accounts to choose from', async () => {
  github.user = { id: 1020, login: 'proves', name: 'Person', emails: primary('proves@github.example') };
  const browser = await join('proves-at-github');
  server.advance(11 * 60_000);
  const left = await browser.get('/account/confirm/with/github?next=export');
  assert.equal(left.location?.searchParams.get('prompt'), 'select_account', left.text.slice(0, 2000));
  await browser.get(github.authorize(left.location.href).href);
  const on = await browser.get('/account/confirm?next=export');
  assert.equal(on.location?.pathname, '/account/data/export');
});
