// store: SQLite, PostgreSQL
/** Decisions §13: the page on which an app is tried shows the app's own requests, and these work as they stand. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { after, test } from 'node:test';
import { curl } from '../docs/curl.ts';
import { newOperator } from '../support/console.ts';
import { admin, claimsOf, newClient, newUser, signedIn, type TestClient, walk } from '../support/flow.ts';
import { startServer } from '../support/server.ts';

const server = await startServer();
after(() => server.close());
const owner = await newOperator(server, 'owner');
const addressOf = ({ clientId }: Pick<TestClient, 'clientId'>, query = '') => `/console/apps/${clientId}/try${query}`;

const unescaped = (text: string): string =>
  text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');

/** The address and the commands of the page, as they are copied from it. */
async function requestsOf(app: Pick<TestClient, 'clientId'>, query?: string) {
  const { status, text } = await owner.browser.get(addressOf(app, query));
  assert.equal(status, 200, text);
  const copied = [...text.matchAll(/<pre><bdi><code>([\s\S]*?)<\/code>/g)].map(([, code = '']) => unescaped(code));
  return {
    text,
    authorize: copied.find((code) => code.startsWith('http')) ?? '',
    commands: copied.filter((code) => code.includes('curl')),
  };
}

/** Runs a command of the page in a shell, with values in the place of those that it names. */
async function run(command: string | undefined, values: Readonly<Record<string, string>>) {
  assert.ok(command !== undefined, 'the page has the command');
  let script = command;
  for (const [name, value] of Object.entries(values)) {
    const named = new RegExp(`^${name}='[^']*'$`, 'm');
    assert.match(script, named);
    script = script.replace(named, `${name}='${value}'`);
  }
  const shell = spawnSync('sh', ['-eu', '-c', `curl() { printf '%s\\0' "$@"; }\n${script}`], { encoding: 'utf8' });
  assert.equal(shell.status, 0, shell.stderr);
  const args = shell.stdout.split('\0').slice(0, -1);
  const { out, errors } = await curl({ program: 'curl', args, input: '', environment: {} });
  assert.equal(errors, '');
  return JSON.parse(out);
}

const user = await newUser(server, { displayName: 'Ada Byron' });
const browser = await signedIn(server, user);

async function signInBy(authorize: string): Promise<URL> {
  const { pathname, search } = new URL(authorize);
  return walk(browser, pathname + search, { user });
}

const redirectUris = ['https://app.example/cb', 'https://app.example/other?a=b'];
const KINDS: Readonly<Record<string, object>> = {
  'with a secret': {},
  'with the secret in the body': { tokenEndpointAuthMethod: 'client_secret_post' },
  'without a secret': { type: 'public' },
};
for (const [kind, fields] of Object.entries(KINDS)) {
  for (const endpoints of ['oidc', 'v2']) {
    test(`an app ${kind} is tried at the ${endpoints} endpoints by what its page shows`, async () => {
      const app = await newClient(server, { redirectUris, ...fields });
      const query = new URLSearchParams({ chosen: 'yes', endpoints, redirect: redirectUris[1] ?? '' });
      for (const scope of ['openid', 'profile']) query.append('scope', scope);
      const { text, authorize, commands } = await requestsOf(app, `?${query}`);
      assert.ok(text.includes(`href="${authorize.replaceAll('&', '&amp;')}"`), 'the link is the address that is shown');
      const back = await signInBy(authorize);
      assert.equal(`${back.origin}${back.pathname}`, 'https://app.example/other');
      assert.ok(text.includes(back.searchParams.get('state') ?? 'none'));
      const secret = app.clientSecret === undefined ? {} : { CLIENT_SECRET: app.clientSecret };
      const tokens = await run(commands[0], { CODE: back.searchParams.get('code') ?? '', ...secret });
      assert.equal(typeof tokens.access_token, 'string', JSON.stringify(tokens));
      assert.ok(text.includes(claimsOf(tokens.id_token).nonce));
      const claims = await run(commands[1], { ACCESS_TOKEN: tokens.access_token });
      assert.equal(endpoints === 'oidc' ? claims.name : claims.user.displayName, 'Ada Byron');
      assert.equal('email' in claims, false);
    });
  }
}

test('what is usual is asked for at first, at the first redirect URI, with values that are new each time', async () => {
  const app = await newClient(server, { redirectUris, scopes: ['openid', 'email', 'groups'] });
  const [first, second] = [await requestsOf(app), await requestsOf(app, '?redirect=https://evil.example&scope=phone')];
  for (const { authorize } of [first, second]) {
    const query = new URL(authorize).searchParams;
    assert.equal(query.get('redirect_uri'), redirectUris[0]);
    assert.equal(query.get('scope'), 'openid email');
  }
  assert.notEqual(first.authorize, second.authorize);
  assert.ok(!second.text.includes('evil.example'));
  const none = new URL((await requestsOf(app, '?chosen=yes&scope=phone&scope=groups')).authorize).searchParams;
  assert.equal(none.get('scope'), 'groups');
});

test('an app of its own gets a token, and one that asks for nothing is told so', async () => {
  const register = async (fields: object) => {
    const { status, body } = await admin(server, 'POST', '/clients', { name: 'Nightly', ...fields });
    assert.equal(status, 201, JSON.stringify(body));
    return body;
  };
  const made = await register({ grantTypes: ['client_credentials'] });
  const { commands } = await requestsOf(made);
  assert.equal(commands.length, 1);
  assert.equal(typeof (await run(commands[0], { CLIENT_SECRET: made.clientSecret })).access_token, 'string');
  const grant = 'urn:ietf:params:oauth:grant-type:device_code';
  const device = await requestsOf(await register({ type: 'public', grantTypes: [grant, 'refresh_token'] }));
  assert.deepEqual(device.commands, []);
  assert.match(device.text, /there is nothing to try here/);
});

test('the page of the app leads there; who may not see the app is not shown it', async () => {
  const app = await newClient(server);
  assert.ok((await owner.browser.get(`/console/apps/${app.clientId}`)).text.includes(addressOf(app)));
  const developer = await newOperator(server, 'developer');
  assert.equal((await developer.browser.get(addressOf(app))).status, 404);
  assert.equal((await owner.browser.get(addressOf({ clientId: '1' }))).status, 404);
  await admin(server, 'PATCH', `/clients/${app.clientId}`, { status: 'disabled' });
  assert.match((await requestsOf(app)).text, /The app is disabled/);
});
