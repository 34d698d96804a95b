// store: SQLite, PostgreSQL
/** Revocation beside refreshes and redemptions: RC-03. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import {
  newClient as anotherClient,
  type JsonAnswer,
  newClient,
  newUser,
  redeem,
  refresh,
  signedIn,
  tokensFor,
  userinfo,
} from '../support/flow.ts';
import { SEVERAL, spread, startServer } from '../support/server.ts';
import {
  allRefused,
  codesFor,
  familiesFor,
  noFault,
  PLACES,
  REVOKED,
  race,
  ready,
  refused,
  SIZES,
  won,
} from './crowd.ts';

const server = spread(
  await startServer({ TESSERA_LIMIT_PENDING_ADDRESS: 'off', TESSERA_LIMIT_SIGN_IN_ADDRESS: 'off' }, SEVERAL),
);
after(() => server.close());
const client = await newClient(server);

for (const size of SIZES) {
  for (const [when, place] of Object.entries(PLACES)) {
    test(`contract §3: revoking ${when} of ${size} refreshes and ${size} redemptions leaves no token alive`, async () => {
      const user = await newUser(server);
      const browser = await signedIn(server, user);
      const families = await familiesFor(server, client, user, browser, size);
      const codes = await codesFor(server, client, user, browser, size);
      const other = await anotherClient(server);
      const untouched = await tokensFor(server, other, user, {}, { browser });
      const page = await browser.get('/account/connections');
      const revoke = ready(browser, page, '/account/connections', { client_id: client.clientId });

      const answers: JsonAnswer[] = [];
      const keep = async (answer: Promise<JsonAnswer>) => void answers.push(await answer);
      const crowd = families.flatMap(({ refresh_token }, index) => [
        () => keep(refresh(server, client, refresh_token)),
        () => keep(redeem(server, client, codes[index] ?? '')),
      ]);
      const { event, atOnce } = await race(crowd, place, revoke, () => userinfo(server, families[0]?.access_token));

      assert.equal(event.status, 200);
      refused(atOnce, REVOKED);
      noFault(answers);
      assert.equal(answers.length, 2 * size);
      for (const answer of answers) if (answer.status !== 200) refused(answer, REVOKED);
      await allRefused(server, client, [...families, ...won(answers)], REVOKED, REVOKED);
      for (const code of codes) refused(await redeem(server, client, code), REVOKED);
      // RT-08: the person's other apps are untouched.
      assert.equal((await userinfo(server, untouched.access_token)).status, 200);
      assert.equal((await refresh(server, other, untouched.refresh_token)).status, 200);
    });
  }
}
