// store: PostgreSQL, SQLite with --all
/** A decision that takes a scope away, beside everything that gives it: RT-07. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Agent, Answer } from '../support/agent.ts';
import {
  authorizeUrl,
  claimsOf,
  type JsonAnswer,
  newClient,
  newUser,
  redeem,
  refresh,
  signedIn,
  userinfo,
} from '../support/flow.ts';
import { startServer } from '../support/server.ts';
import { codeOf, codesFor, consentPages, familiesFor, noFault, PLACES, race, ready, times, won } from './crowd.ts';

/** On PostgreSQL, the apps ask another node than the one that the person's browser does. */
const nodes = process.env['TESSERA_TEST_POSTGRES'] === undefined ? 1 : 2;
const server = await startServer({ TESSERA_LIMIT_PENDING_ADDRESS: 'off', TESSERA_LIMIT_SIGN_IN_ADDRESS: 'off' }, nodes);
after(() => server.close());
const there = { baseUrl: server.nodes.at(-1) ?? server.baseUrl };
const client = await newClient(server);
const SCOPE = { scope: 'openid email phone' };

/** Whether the app learns what was taken away. */
async function learns(accessToken: string): Promise<boolean> {
  const { status, body } = await userinfo(there, accessToken);
  assert.equal(status, 200);
  assert.ok('phone' in body.user, 'what is still granted is still given');
  return 'email' in body.user;
}

async function silentCode(browser: Agent): Promise<string> {
  const code = codeOf(await browser.get(authorizeUrl(client, SCOPE)));
  assert.ok(code);
  return code;
}

for (const size of [2, 10]) {
  for (const [when, place] of Object.entries(PLACES)) {
    test(`decisions §2: narrowing ${when} of ${size} refreshes, redemptions and authorizations: no answer afterwards gives what was taken away`, async () => {
      const user = await newUser(server);
      const browser = await signedIn(server, user);
      const families = await familiesFor(server, client, user, browser, size, SCOPE);
      const codes = await codesFor(server, client, user, browser, size, SCOPE);
      const asked = await browser.get(authorizeUrl(client, { ...SCOPE, prompt: 'consent' }));
      const page = await browser.get(asked.location?.href ?? '');
      const narrow = ready(browser, page, '/consent', { decision: 'allow', 'allow phone': 'on' });

      const answers: JsonAnswer[] = [];
      const late: string[] = [];
      const keep = async (answer: Promise<JsonAnswer>) => void answers.push(await answer);
      const crowd = families.flatMap(({ access_token, refresh_token }, index) => [
        () => keep(refresh(there, client, refresh_token)),
        () => keep(redeem(there, client, codes[index] ?? '')),
        () => learns(access_token),
        async () => void late.push(await silentCode(browser)),
      ]);
      const { event, atOnce } = await race(crowd, place, narrow, () => userinfo(there, families[0]?.access_token));

      assert.ok(codeOf(event), `${event.status} ${event.text.slice(0, 500)}`);
      assert.deepEqual(['email' in atOnce.body.user, 'phone' in atOnce.body.user], [false, true]);
      noFault(answers);
      const issued = won(answers);
      assert.equal(issued.length, 2 * size, 'nothing was refused');
      issued.push(...won(await Promise.all(late.map((code) => redeem(there, client, code)))));
      assert.equal(issued.length, 3 * size);
      for (const { access_token } of [...families, ...issued]) assert.equal(await learns(access_token), false);
      for (const { refresh_token } of issued) {
        const { status, body } = await refresh(there, client, refresh_token);
        assert.deepEqual([status, claimsOf(body.access_token).scope], [200, 'openid phone']);
      }
    });
  }
}

test('decisions §2: decisions side by side take away what each of them does', async () => {
  for (const size of [2, 10]) {
    const user = await newUser(server);
    const browser = await signedIn(server, user);
    const families = await familiesFor(server, client, user, browser, size, SCOPE);
    const pages = await consentPages(browser, client, size, SCOPE.scope);
    const sends = pages.map((page: Answer, index) =>
      ready(browser, page, '/consent', { decision: 'allow', [index % 2 === 0 ? 'allow email' : 'allow phone']: 'on' }),
    );
    const answers = await Promise.all(sends.map((send) => send()));
    noFault(answers);
    const given = await Promise.all(times(size, (index) => userinfo(there, families[index]?.access_token)));
    // Each of the two was taken away by some of the decisions.
    for (const { status, body } of given) {
      assert.equal(status, 200);
      assert.deepEqual(['email' in body.user, 'phone' in body.user], [false, false]);
    }
  }
});
