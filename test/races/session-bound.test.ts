// store: PostgreSQL, SQLite with --all
/** A sign-out beside everything that makes tokens which end with the session: decisions §10. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Agent } from '../support/agent.ts';
import {
  authorizeUrl,
  type JsonAnswer,
  newClient,
  newUser,
  redeem,
  refresh,
  signedIn,
  standard,
  userinfo,
} from '../support/flow.ts';
import { startServer } from '../support/server.ts';
import { codeOf, codesFor, familiesFor, noFault, PLACES, race, ready, won } from './crowd.ts';

/** On PostgreSQL, the app asks another node than the one where the person signs out. */
const nodes = process.env['TESSERA_TEST_POSTGRES'] === undefined ? 1 : 2;
const server = await startServer({ TESSERA_LIMIT_PENDING_ADDRESS: 'off', TESSERA_LIMIT_SIGN_IN_ADDRESS: 'off' }, nodes);
after(() => server.close());
const there = { baseUrl: server.nodes.at(-1) ?? server.baseUrl };
const client = standard(await newClient(server));
const SCOPE = { scope: 'openid email' };

const isAccepted = async (token: string): Promise<boolean> =>
  (await userinfo(there, token, '/oidc/userinfo')).status === 200;

async function silentCode(browser: Agent): Promise<string[]> {
  const code = codeOf(await browser.get(authorizeUrl(client, SCOPE)));
  return code === undefined ? [] : [code];
}

for (const size of [2, 10]) {
  for (const [when, place] of Object.entries(PLACES)) {
    test(`signing out ${when} of ${size} refreshes, redemptions and authorizations leaves nothing alive`, async () => {
      const user = await newUser(server);
      const browser = await signedIn(server, user);
      const families = await familiesFor(server, client, user, browser, size, SCOPE);
      const codes = await codesFor(server, client, user, browser, size, SCOPE);
      const signOut = ready(browser, await browser.get('/account'), '/logout', {});

      const answers: JsonAnswer[] = [];
      const late: string[] = [];
      const crowd = families.flatMap(({ refresh_token }, index) => [
        async () => void answers.push(await refresh(there, client, refresh_token)),
        async () => void answers.push(await redeem(there, client, codes[index] ?? '')),
        async () => void late.push(...(await silentCode(browser))),
      ]);
      const look = () => userinfo(there, families[0]?.access_token, '/oidc/userinfo');
      const { event, atOnce } = await race(crowd, place, signOut, look);

      assert.equal(event.location?.pathname, '/login');
      assert.equal(atOnce.status, 401);
      noFault(answers);
      for (const { access_token } of [...families, ...won(answers)])
        assert.equal(await isAccepted(access_token), false);
      for (const { refresh_token } of won(answers)) {
        assert.equal((await refresh(there, client, refresh_token)).body.error, 'invalid_grant');
      }
      for (const code of [...codes, ...late]) {
        assert.equal((await redeem(there, client, code)).body.error, 'invalid_grant');
      }
    });
  }
}
