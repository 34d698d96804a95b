// store: SQLite, PostgreSQL with --all
/** Decisions §15: an operator signs in with the command line, and uses the admin API in the roles that the operator holds. */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { signInAtServer } from '../../src/cli/login.ts';
import { COMMAND_LINE_ID } from '../../src/clients/rules/command-line.ts';
import { commandLine, operatorInBrowser, signInOnCommandLine, toConsent } from '../support/command-line.ts';
import { newDeviceClient, poll, startDevice } from '../support/devices.ts';
import { admin, claimsOf, newClient, newUser, revokeOnPage, signedIn, tokensFor, userinfo } from '../support/flow.ts';
import { settle } from '../support/outcome.ts';
import { startServer } from '../support/server.ts';

const server = await startServer({
  TESSERA_LIMIT_ADMIN_KEY: 'off',
  TESSERA_LIMIT_USER_CODE: 'off',
  TESSERA_LIMIT_USER_CODE_ADDRESS: 'off',
  TESSERA_LIMIT_DEVICE_ADDRESS: 'off',
});
after(() => server.close());

const HOUR = 3_600_000;

async function done(answering: ReturnType<typeof admin>) {
  const { status, body } = await answering;
  assert.ok(status < 300, `${status} ${JSON.stringify(body)}`);
  return body;
}

// Nobody who is banned below is the last owner.
const keeper = await newUser(server, { password: undefined });
await done(admin(server, 'PUT', `/users/${keeper.id}/roles/owner`, {}));

/** An operator with a role, who signed in with the command line. */
async function signedInAs(role: string) {
  const operator = await operatorInBrowser(server);
  await done(admin(server, 'PUT', `/users/${operator.user.id}/roles/${role}`, {}));
  return { ...operator, token: await signInOnCommandLine(server, operator) };
}

const asPerson = (token: string, method: string, path: string, body?: object) =>
  admin(server, method, path, body, token);

function assertRefused({ status, body }: Awaited<ReturnType<typeof admin>>, expected: number, code: string): void {
  assert.deepEqual([status, body?.error], [expected, code], JSON.stringify(body));
}

describe('signing in', () => {
  test('asks for the password and the second factor again, and shows the roles that are handed over', async () => {
    const operator = await operatorInBrowser(server);
    const { id: organizationId, name } = await done(
      admin(server, 'POST', '/organizations', { name: 'acme', domain: 'acme.example' }),
    );
    await done(admin(server, 'PUT', `/users/${operator.user.id}/roles/support`, {}));
    await done(admin(server, 'PUT', `/organizations/${organizationId}/members/${operator.user.id}`, { role: 'ADMIN' }));
    const device = await registered();
    const consent = await toConsent(server, operator, device.user_code);
    assert.match(consent.text, /Tessera command line/);
    assert.match(consent.text, /Can act as an operator with your roles/);
    assert.match(consent.text, /support<\/span> <span class="muted">in the whole installation/);
    assert.match(consent.text, new RegExp(`admin</span> <span class="muted">in .*${name}`));
  });

  test('somebody without a second factor is not let through by the password', async () => {
    const user = await newUser(server);
    const browser = await signedIn(server, user);
    const device = await registered();
    const login = await browser.submit(await browser.get('/device'), { user_code: device.user_code });
    const page = await settle(browser, server, login);
    const answer = await browser.submit(
      page,
      { identifier: user.username, password: 'correct horse battery' },
      '/login',
    );
    assert.doesNotMatch((await settle(browser, server, answer)).text, /Can act as an operator/);
  });

  test('gives a token for eight hours, for the admin API alone, and no refresh token', async () => {
    const { token } = await signedInAs('auditor');
    const claims = claimsOf(token);
    assert.equal(claims.aud, `${server.baseUrl}/api/v2/admin`);
    assert.equal(claims.client_id, COMMAND_LINE_ID);
    assert.equal(claims.exp - claims.iat, 8 * 60 * 60);
    assert.equal((await asPerson(token, 'GET', '/users?limit=1')).status, 200);
    assert.equal((await userinfo({ baseUrl: server.baseUrl }, token, '/oidc/userinfo')).status, 401);
    server.advance(8 * HOUR);
    assertRefused(await asPerson(token, 'GET', '/users?limit=1'), 401, 'invalid_token');
  });

  test('no refresh token is in the answer', async () => {
    const operator = await operatorInBrowser(server);
    const device = await registered();
    const consent = await toConsent(server, operator, device.user_code);
    await operator.browser.submit(consent, { decision: 'allow' }, '/consent');
    server.advance(10_000);
    const { status, body } = await poll(server, commandLine, device);
    assert.equal(status, 200, JSON.stringify(body));
    assert.deepEqual([body.refresh_token, body.expires_in, body.token_type], [undefined, 28_800, 'Bearer']);
  });

  test('declined in the browser: the command says so', async () => {
    const operator = await operatorInBrowser(server);
    let page: Promise<unknown> | undefined;
    const declined = signInAtServer(server.baseUrl, {
      show(text) {
        const code = /code (\S+)$/.exec(text)?.[1] ?? '';
        page = toConsent(server, operator, code).then((consent) =>
          operator.browser.submit(consent, { decision: 'deny' }, '/consent'),
        );
      },
      async wait(seconds) {
        await page;
        server.advance(seconds * 1000);
      },
    });
    await assert.rejects(declined, /The sign-in was declined in the browser/);
  });
});

/** A sign-in that has begun. */
const registered = () => startDevice(server, commandLine, {});

describe('rights', () => {
  test('are those of the roles: what is within them is done and recorded as the person’s act, the rest names its permission', async () => {
    const { user, token } = await signedInAs('support');
    const person = await newUser(server, { password: undefined });
    await done(asPerson(token, 'PUT', `/users/${person.id}/suspension`, {}));
    const refused = await asPerson(token, 'PUT', `/users/${person.id}/ban`, {});
    assertRefused(refused, 403, 'insufficient_permission');
    assert.match(refused.body.error_description, /Missing permission: users\.ban/);
    const { items } = await done(admin(server, 'GET', `/audit-events?actorId=${user.id}&order=desc&limit=5`));
    const act = items.find(({ type }: { type: string }) => type === 'account.suspended');
    assert.deepEqual([act.actor, act.details.actorRole], [{ type: 'user', id: user.id }, 'support']);
  });

  test('a person without a role may do nothing', async () => {
    const operator = await operatorInBrowser(server);
    const token = await signInOnCommandLine(server, operator);
    assertRefused(await asPerson(token, 'GET', '/users'), 403, 'insufficient_permission');
  });

  test('are read at each call: a role that is given or taken away counts from then on', async () => {
    const { user, token } = await signedInAs('auditor');
    const create = { name: 'An app', redirectUris: ['https://app.example.com/cb'] };
    assertRefused(await asPerson(token, 'POST', '/clients', create), 403, 'insufficient_permission');
    await done(admin(server, 'PUT', `/users/${user.id}/roles/admin`, {}));
    await done(asPerson(token, 'POST', '/clients', create));
    await done(admin(server, 'DELETE', `/users/${user.id}/roles/admin`));
    assertRefused(await asPerson(token, 'POST', '/clients', create), 403, 'insufficient_permission');
    await done(admin(server, 'DELETE', `/users/${user.id}/roles/auditor`));
    assertRefused(await asPerson(token, 'GET', '/clients'), 403, 'insufficient_permission');
  });

  test('a role that has ended counts no more', async () => {
    const operator = await operatorInBrowser(server);
    const expiresAt = new Date(server.now() + 2 * HOUR).toISOString();
    await done(admin(server, 'PUT', `/users/${operator.user.id}/roles/auditor`, { expiresAt }));
    const token = await signInOnCommandLine(server, operator);
    assert.equal((await asPerson(token, 'GET', '/clients')).status, 200);
    server.advance(2 * HOUR);
    assertRefused(await asPerson(token, 'GET', '/clients'), 403, 'insufficient_permission');
  });

  test('nobody gives more than they hold, nor acts on somebody stronger', async () => {
    const { user, token } = await signedInAs('admin');
    const other = await newUser(server, { password: undefined });
    for (const id of [user.id, other.id]) {
      assertRefused(await asPerson(token, 'PUT', `/users/${id}/roles/owner`, {}), 403, 'insufficient_permission');
    }
    assertRefused(await asPerson(token, 'PUT', `/users/${keeper.id}/ban`, {}), 403, 'insufficient_permission');
    assertRefused(
      await asPerson(token, 'POST', '/admin-keys', { name: 'x', role: 'owner' }),
      403,
      'insufficient_permission',
    );
  });

  test('a link that can be used later is made with a key, which ends it', async () => {
    const { token } = await signedInAs('owner');
    const person = await newUser(server, { password: undefined });
    for (const path of ['/invitations', `/users/${person.id}/recovery-link`]) {
      const refused = await asPerson(token, 'POST', path, {});
      assertRefused(refused, 409, 'conflict');
      assert.match(refused.body.error_description, /make it with an admin key/);
    }
  });
});

describe('the token ends at once', () => {
  const endings: readonly (readonly [string, (at: Awaited<ReturnType<typeof signedInAs>>) => Promise<unknown>])[] = [
    ['with its session', ({ user }) => done(admin(server, 'DELETE', `/users/${user.id}/sessions`))],
    [
      'with the password',
      ({ user }) => done(admin(server, 'PATCH', `/users/${user.id}`, { password: 'another fine secret' })),
    ],
    ['with a ban', ({ user }) => done(admin(server, 'PUT', `/users/${user.id}/ban`, {}))],
    ['with a suspension', ({ user }) => done(admin(server, 'PUT', `/users/${user.id}/suspension`, {}))],
    ['with the account', ({ user }) => done(admin(server, 'DELETE', `/users/${user.id}`))],
    ['when the person takes the access away', ({ browser }) => revokeOnPage(browser, commandLine)],
    [
      'when an operator does',
      ({ user }) => done(admin(server, 'DELETE', `/users/${user.id}/connections/${COMMAND_LINE_ID}`)),
    ],
  ];
  for (const [how, end] of endings) {
    test(how, async () => {
      const at = await signedInAs('owner');
      assert.equal((await asPerson(at.token, 'GET', '/clients?limit=1')).status, 200);
      await end(at);
      assertRefused(await asPerson(at.token, 'GET', '/clients?limit=1'), 401, 'invalid_token');
      assertRefused(await asPerson(at.token, 'POST', '/groups', { name: 'late' }), 401, 'invalid_token');
    });
  }
});

describe('nothing else opens the admin API', () => {
  test('the token of another app, of an owner, is refused, whatever it asks for', async () => {
    const { user, browser, factor } = await operatorInBrowser(server);
    await done(admin(server, 'PUT', `/users/${user.id}/roles/owner`, {}));
    assert.ok(factor);
    const client = await newClient(server);
    const tokens = await tokensFor(server, client, user, {}, { browser });
    assertRefused(await asPerson(tokens.access_token, 'GET', '/users'), 401, 'invalid_token');
    assertRefused(await asPerson(tokens.id_token, 'GET', '/users'), 401, 'invalid_token');
    assertRefused(await asPerson(tokens.refresh_token, 'GET', '/users'), 401, 'invalid_token');
    const device = await newDeviceClient(server);
    const resource = `${server.baseUrl}/api/v2/admin`;
    const { status, body } = await admin(server, 'GET', `/clients/${device.clientId}`);
    assert.deepEqual([status, body.resource], [200, null]);
    const asked = await fetch(`${server.baseUrl}/oidc/device_authorization`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ client_id: device.clientId, resource }),
    });
    assert.match(await asked.text(), /"invalid_target"/);
  });

  test('the command line cannot be changed, given a secret, or deleted', async () => {
    await registered();
    const path = `/clients/${COMMAND_LINE_ID}`;
    const acts: readonly (readonly [string, string, object?])[] = [
      ['PATCH', path, { redirectUris: ['https://evil.example/cb'] }],
      ['DELETE', path],
      ['POST', `${path}/secrets`, {}],
      ['POST', `${path}/assignments`, { userId: keeper.id }],
      ['PUT', `${path}/consent-approval`, { scopes: ['openid'] }],
    ];
    for (const [method, to, body] of acts) assertRefused(await admin(server, method, to, body), 409, 'conflict');
  });

  test('TESSERA_COMMAND_LINE_SIGN_IN=off: nobody signs in, and tokens from before are refused', async () => {
    const { token } = await signedInAs('owner');
    const without = await startServer({ ...server.environment, TESSERA_COMMAND_LINE_SIGN_IN: 'off' });
    try {
      const refused = signInAtServer(without.baseUrl, { wait: async () => {}, show: () => {} });
      await assert.rejects(refused, /does not let operators sign in with the command line/);
      assertRefused(await admin(without, 'GET', '/users', undefined, token), 401, 'invalid_token');
    } finally {
      await without.close();
    }
  });
});
