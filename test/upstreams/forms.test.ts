// store: SQLite
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Agent, type Answer, agent, formOf } from '../support/agent.ts';
import { admin, newUser as newTestUser, signedIn } from '../support/flow.ts';
import { query } from '../support/outcome.ts';
import { startServer } from '../support/server.ts';
import { newUpstream, type TestUpstream, throughUpstream } from './people.ts';

const server = await startServer({ TESSERA_MAILBOX: 'on' });
let upstream: TestUpstream;
before(async () => {
  upstream = await newUpstream(server, { signUp: 'anyone' });
});
after(async () => {
  await upstream.provider[Symbol.asyncDispose]();
  await server.close();
});

const newUser = () => newTestUser(server, { emailVerified: true });
let count = 0;

/** A form that a browser was shown, and what it would do. */
interface Shown {
  readonly browser: Agent;
  readonly page: Answer;
  readonly action: string;
  readonly fields: Readonly<Record<string, string>>;
  /** Whether it has done that. */
  readonly isDone: () => Promise<boolean>;
}

const connected = async (sub: string): Promise<boolean> =>
  (await query(server, `SELECT id FROM upstream_identity WHERE subject = '${sub}'`)).length > 0;

/** At the question whether a provider is to be connected. */
async function connecting(): Promise<Shown> {
  const sub = `connecting-${++count}`;
  const browser = await signedIn(server, await newUser());
  upstream.provider.person = { sub };
  const left = await browser.get(`/account/security/connect/${upstream.name}`);
  const back = await browser.get(upstream.provider.authorize(left.location?.href ?? '').href);
  const page = await browser.get(back.location?.href ?? '');
  return { browser, page, action: back.location?.pathname ?? '', fields: {}, isDone: () => connected(sub) };
}

async function disconnecting(): Promise<Shown> {
  const { browser, page, action } = await connecting();
  const sub = `connecting-${count}`;
  await browser.submit(page, {}, action);
  const [row] = await query(server, `SELECT id FROM upstream_identity WHERE subject = '${sub}'`);
  const security = await browser.get('/account/security');
  const fields = { id: String(row?.['id']) };
  const isDone = async () => !(await connected(sub));
  return { browser, page: security, action: '/account/security/disconnect', fields, isDone };
}

async function joining(): Promise<Shown> {
  const email = `joining-${++count}@example.com`;
  const browser = agent(server.baseUrl);
  upstream.provider.person = { sub: `joining-${count}` };
  const back = await throughUpstream(browser, upstream);
  const page = await browser.get(back.location?.href ?? '');
  const fields = { displayName: 'A. Person', username: `joining-${count}`, email };
  const isDone = async () => (await query(server, `SELECT hash FROM challenge WHERE address = '${email}'`)).length > 0;
  return { browser, page, action: back.location?.pathname ?? '', fields, isDone };
}

for (const [name, show] of Object.entries({ connecting, disconnecting, joining })) {
  describe(`the form of ${name} (SE-04)`, () => {
    test('is taken', async () => {
      const { browser, page, action, fields, isDone } = await show();
      assert.equal(await isDone(), false);
      await browser.submit(page, fields, action);
      assert.equal(await isDone(), true);
    });

    test('is refused without its token, with another, and from another site', async () => {
      const { browser, page, action, fields, isDone } = await show();
      const { hidden } = formOf(page.text, action);
      const { form_token: token = '', ...others } = hidden;
      assert.ok(token !== '');
      await browser.post(action, { ...others, ...fields });
      await browser.post(action, { ...others, ...fields, form_token: 'x'.repeat(43) });
      const foreign = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
      assert.equal((await browser.post(action, { ...hidden, ...fields }, foreign)).status, 403);
      assert.equal(await isDone(), false);
    });

    test('is refused in another browser', async () => {
      const { page, action, fields, isDone } = await show();
      const other = await signedIn(server, await newUser());
      await other.submit(page, fields, action);
      await agent(server.baseUrl).submit(page, fields, action);
      assert.equal(await isDone(), false);
    });
  });
}

test('an operator reads and changes a registration, and never its secret', async () => {
  const secret = 'another secret at the provider';
  const path = `/upstreams/${upstream.id}`;
  const { status, body } = await admin(server, 'PATCH', path, { clientSecret: secret, position: 3, scopes: ['email'] });
  assert.deepEqual([status, body.position, body.scopes, body.hasClientSecret], [200, 3, ['openid', 'email'], true]);
  assert.equal(body.redirectUri, `${server.baseUrl}/login/with/${upstream.name}/callback`);
  const found = JSON.stringify([
    body,
    (await admin(server, 'GET', path)).body,
    (await admin(server, 'GET', '/upstreams')).body,
  ]);
  assert.ok(!found.includes(secret));
  const [row] = await query(server, `SELECT sealed_secret FROM upstream WHERE id = ${upstream.id}`);
  assert.ok(!String(row?.['sealed_secret']).includes(secret));
  await admin(server, 'PATCH', path, { clientSecret: upstream.provider.clientSecret });
});

describe('a registration is refused', () => {
  const good = { name: 'good', issuer: 'https://provider.example', clientId: 'tessera' };
  const refused: readonly (readonly [string, object, number])[] = [
    ['for a name that is no slug', { name: 'Not A Slug' }, 400],
    ['for an issuer that is no URL', { issuer: 'provider' }, 400],
    ['for an issuer without https', { issuer: 'http://provider.example', name: 'http' }, 201],
    ['for an issuer with a query', { issuer: 'https://provider.example/?a=b' }, 400],
    ['for the address of the metadata', { issuer: 'https://provider.example/.well-known/openid-configuration' }, 400],
    ['for an issuer with a password', { issuer: 'https://a:b@provider.example' }, 400],
    ['for people of personal accounts of Entra', { issuer: 'https://login.microsoftonline.com/consumers/v2.0' }, 400],
    ['for domains without any', { signUp: 'domains' }, 400],
    ['for a domain that is none', { signUp: 'domains', signUpDomains: ['not a domain'] }, 400],
    ['for an unknown mode', { signUp: 'everybody' }, 400],
  ];
  for (const [name, change, expected] of refused) {
    // On a developer's machine http is allowed.
    test(expected === 201 ? `not ${name}, on this machine` : name, async () => {
      assert.equal((await admin(server, 'POST', '/upstreams', { ...good, ...change })).status, expected);
    });
  }

  test('for a name that is taken', async () => {
    assert.equal((await admin(server, 'POST', '/upstreams', { ...good, name: upstream.name })).status, 409);
  });
});
