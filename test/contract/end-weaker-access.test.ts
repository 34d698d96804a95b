// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type Agent, formOf } from '../support/agent.ts';
import {
  admin,
  authorizeUrl,
  codeFor,
  newClient,
  newUser,
  redeem,
  refresh,
  signedIn,
  type TestClient,
  type Tokens,
  tokensFor,
  userinfo,
  walk,
} from '../support/flow.ts';
import { holdCommits } from '../support/held-commits.ts';
import { query } from '../support/outcome.ts';
import { atSecondStep, enroll, totpCode, typeCode } from '../support/second-factor.ts';
import { SEVERAL, startServer } from '../support/server.ts';

// Decisions §11: older families go on where a second factor is required, unless the operator ends them.

const commits = holdCommits();
const server = await startServer({}, SEVERAL, undefined, { database: commits.database });
after(() => server.close());

const end = (of: object) => admin(server, 'POST', '/end-weaker-access', of);

/** A person with a session, what an app got in it, and a code that was not redeemed. */
interface Holder {
  readonly id: string;
  readonly browser: Agent;
  readonly tokens: Tokens;
  readonly code: string;
}

async function holderOf(client: TestClient, isStrong: boolean): Promise<Holder> {
  const user = await newUser(server);
  let browser: Agent;
  if (isStrong) {
    const factor = await enroll(server, user);
    const at = await atSecondStep(server, user);
    ({ browser } = at);
    assert.equal((await typeCode(browser, at.page, totpCode(factor, server.now()))).status, 303);
  } else browser = await signedIn(server, user);
  const tokens = await tokensFor(server, client, user, { scope: 'openid offline_access' }, { browser });
  const code = await codeFor(server, client, user, { scope: 'openid' }, { browser });
  return { id: user.id, browser, tokens, code };
}

/** What of it is still accepted, on every node. */
async function accepted(client: TestClient, { browser, tokens, code }: Holder): Promise<Record<string, boolean>> {
  const session = (await browser.get('/account')).status === 200;
  const access = await Promise.all(server.nodes.map((baseUrl) => userinfo({ baseUrl }, tokens.access_token)));
  return {
    session,
    access: access.some(({ status }) => status === 200),
    code: (await redeem(server, client, code)).status === 200,
    refresh: (await refresh(server, client, tokens.refresh_token)).status === 200,
  };
}

const ALL = { session: true, access: true, code: true, refresh: true };
const NOTHING = { session: false, access: false, code: false, refresh: false };

let organizations = 0;
async function organizationOf(...ids: readonly string[]): Promise<string> {
  const name = `required-${++organizations}`;
  const { body } = await admin(server, 'POST', '/organizations', { name, domain: 'a.example' });
  for (const id of ids) await admin(server, 'PUT', `/organizations/${body.id}/members/${id}`, {});
  return body.id;
}

const targets: [
  title: string,
  of: (client: TestClient, member: Holder) => Promise<object>,
  left: object,
  others: object,
][] = [
  ['an organization', async (_client, { id }) => ({ organizationId: await organizationOf(id) }), NOTHING, ALL],
  ['an app', async ({ clientId }) => ({ clientId }), { ...NOTHING, session: true }, { ...NOTHING, session: true }],
  ['everyone', async () => ({ everyone: true }), NOTHING, NOTHING],
];
for (const [title, of, left, others] of targets) {
  test(`what people got without a second factor is ended, of ${title}; and nothing else`, async () => {
    const client = await newClient(server);
    const elsewhere = await newClient(server);
    const [weak, other, strong] = [
      await holderOf(client, false),
      await holderOf(client, false),
      await holderOf(client, true),
    ];
    const own = await tokensFor(
      server,
      elsewhere,
      { id: weak.id } as never,
      { scope: 'openid' },
      { browser: weak.browser },
    );
    const { status, body } = await end(await of(client, weak));
    assert.equal(status, 200, JSON.stringify(body));
    if (title !== 'everyone') assert.equal(body.users, title === 'an app' ? 2 : 1);
    assert.deepEqual(await accepted(client, weak), left);
    assert.deepEqual(await accepted(client, other), others);
    assert.deepEqual(await accepted(client, strong), ALL);
    const isElsewhere = (await userinfo(server, own.access_token)).status === 200;
    assert.equal(isElsewhere, title === 'an app', 'other apps are not concerned by what one requires');
    const events = await admin(server, 'GET', `/audit-events?userId=${weak.id}&type=account.weaker_access_ended`);
    assert.equal(events.body.items.length, 1);
    assert.deepEqual((await end(await of(client, weak))).body, { users: 0, sessions: 0, authorizations: 0 });
  });
}

const bad: [body: object, status: number][] = [
  [{}, 400],
  [{ everyone: false }, 400],
  [{ everyone: true, clientId: '1' }, 400],
  [{ clientId: '1' }, 404],
  [{ clientId: 'x' }, 400],
  [{ organizationId: '1' }, 404],
];
for (const [body, status] of bad) {
  test(`${JSON.stringify(body)} is answered ${status}`, async () => assert.equal((await end(body)).status, status));
}

test('a consent that is under way while a second factor is required and the rest is ended brings no code', async () => {
  for (const kind of ['app', 'organization'] as const) {
    const client = await newClient(server);
    const user = await newUser(server);
    const organizationId = await organizationOf(user.id);
    const browser = await signedIn(server, user);
    const { location } = await browser.get(authorizeUrl(client));
    const page = await browser.get(location?.href ?? '');
    const { header } = commits.watch(async (commit) => {
      if (commit > 1) return;
      const path = kind === 'app' ? `/clients/${client.clientId}` : `/organizations/${organizationId}`;
      assert.equal((await admin(server, 'PATCH', path, { requireSecondFactor: true })).status, 200);
      assert.equal((await end(kind === 'app' ? { clientId: client.clientId } : { organizationId })).status, 200);
    });
    const { hidden } = formOf(page.text, '/consent');
    const answer = await browser.post('/consent', { ...hidden, decision: 'allow' }, header);
    assert.equal(answer.location?.searchParams.has('code'), false, String(answer.location));
  }
});

test('of authorizations that race with the end, no code or token without a second factor is left', async () => {
  const client = await newClient(server);
  const user = await newUser(server);
  await tokensFor(server, client, user, { scope: 'openid' });
  const browsers = await Promise.all(Array.from({ length: 6 }, () => signedIn(server, user)));
  const flows = browsers.map(async (browser) => {
    for (let round = 0; round < 4; round++) {
      const location = await walk(browser, authorizeUrl(client, { scope: 'openid' })).catch(() => undefined);
      const code = location?.searchParams.get('code');
      if (code) await redeem(server, client, code);
    }
  });
  await admin(server, 'PATCH', `/clients/${client.clientId}`, { requireSecondFactor: true });
  assert.equal((await end({ clientId: client.clientId })).status, 200);
  await Promise.all(flows);
  const left = await query(
    server,
    `SELECT 'family' AS kind FROM token_family WHERE dead_at IS NULL AND client_id = ?
     UNION ALL SELECT 'code' FROM authorization_code WHERE redeemed_at IS NULL AND client_id = ?`,
    client.clientId,
    client.clientId,
  );
  assert.deepEqual(left, []);
});
