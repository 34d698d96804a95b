// store: SQLite, PostgreSQL
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { assertForbidden, assertInvalidGrant, assertInvalidToken, REVOKED } from '../support/api-call.ts';
import {
  admin,
  codeFor,
  type JsonAnswer,
  newClient,
  newUser,
  redeem,
  refresh,
  signedIn,
  tokensFor,
  userinfo,
} from '../support/flow.ts';
import { startServer } from '../support/server.ts';

const server = await startServer();
after(() => server.close());
const client = await newClient(server);
const user = await newUser(server);
const browser = await signedIn(server, user);

const times = <T>(count: number, make: () => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, make));
const granted = (answers: readonly JsonAnswer[]) => answers.filter(({ status }) => status === 200);

describe('decisions §3: of N parallel redemptions exactly one answers 200 (RC-01)', () => {
  for (const count of [2, 10, 50]) {
    test(`${count} of them`, async () => {
      const code = await codeFor(server, client, user, {}, { browser });
      const answers = await times(count, () => redeem(server, client, code));
      const [winner, ...others] = granted(answers);
      assert.ok(winner);
      assert.equal(others.length, 0);
      for (const answer of answers) if (answer !== winner) assertInvalidGrant(answer);
      // The others were valid second uses, so no live token set is left.
      assertInvalidToken(await userinfo(server, winner.body.access_token));
      assertInvalidGrant(await refresh(server, client, winner.body.refresh_token));
    });
  }
});

describe('decisions §4: of N parallel refreshes all that answer 200 carry one refresh token (RC-02)', () => {
  for (const count of [2, 10, 50]) {
    test(`${count} of them`, async () => {
      const { refresh_token } = await tokensFor(server, client, user, {}, { browser });
      const answers = await times(count, () => refresh(server, client, refresh_token));
      const winners = granted(answers);
      assert.equal(winners.length, count, 'every one of them came inside the grace window');
      assert.equal(new Set(winners.map(({ body }) => body.refresh_token)).size, 1);
      assert.equal(new Set(winners.map(({ body }) => body.access_token)).size, count);
      for (const { body } of winners) assert.equal((await userinfo(server, body.access_token)).status, 200);
      assert.equal((await refresh(server, client, winners[0]?.body.refresh_token)).status, 200);
    });
  }
});

test('RC-03: once a revocation has returned, no token that raced with it works', async () => {
  const person = await newUser(server);
  const tab = await signedIn(server, person);
  const { refresh_token } = await tokensFor(server, client, person, {}, { browser: tab });
  const codes: string[] = [];
  for (let i = 0; i < 10; i++) codes.push(await codeFor(server, client, person, {}, { browser: tab }));
  const racing = [
    ...codes.map((code) => redeem(server, client, code)),
    times(10, () => refresh(server, client, refresh_token)),
  ];
  const revoked = admin(server, 'DELETE', `/users/${person.id}/connections/${client.clientId}`);
  const answers = (await Promise.all(racing)).flat();
  assert.equal((await revoked).status, 204);
  for (const answer of answers) {
    if (answer.status !== 200) assertForbidden(answer, REVOKED);
    else {
      assertForbidden(await userinfo(server, answer.body.access_token), REVOKED);
      assertForbidden(await refresh(server, client, answer.body.refresh_token), REVOKED);
    }
  }
});
