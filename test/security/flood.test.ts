// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { HASH_COST } from '../../src/platform/crypto/passwords.ts';
import { agent, formOf } from '../support/agent.ts';
import { newClient, newUser, PASSWORD, signedIn, tokensFor, userinfo } from '../support/flow.ts';
import { query } from '../support/outcome.ts';
import { startServer } from '../support/server.ts';

// One hash at a time, so that 32 may wait.
const limits = { TESSERA_LIMIT_SIGN_IN_ACCOUNT: '1000/m', TESSERA_LIMIT_SIGN_IN_ADDRESS: '1000/m' };
const server = await startServer({ TESSERA_HASHING_CONCURRENCY: '1', ...limits }, 1, HASH_COST);
after(() => server.close());

const FLOOD = 120;

test('AV-04: in a flood of sign-ins the rest goes on, what is too much is told so at once, and does not count', async () => {
  const [client, user, victim] = [await newClient(server), await newUser(server), await newUser(server)];
  const tokens = await tokensFor(server, client, user);
  await query(server, 'DELETE FROM rate_count');
  const stranger = agent(server.baseUrl);
  const { hidden } = formOf((await stranger.get('/login')).text);
  const wrong = { ...hidden, identifier: victim.username, password: 'a wrong password' };
  let answered = 0;
  const flood = Array.from({ length: FLOOD }, async () => {
    const answer = await stranger.post('/login', wrong);
    answered++;
    return answer;
  });
  // Each of these waits for the one before: were passwords hashed on the event loop, the flood would be over first.
  for (let n = 0; n < 10; n++) assert.equal((await userinfo(server, tokens.access_token)).status, 200);
  assert.ok(answered < FLOOD, 'UserInfo answered while sign-ins were waiting');

  const answers = await Promise.all(flood);
  const evaluated = answers.filter(({ status }) => status === 401);
  const turnedAway = answers.filter(({ status }) => status === 503);
  assert.equal(evaluated.length + turnedAway.length, FLOOD, `${answers.map(({ status }) => status)}`);
  assert.ok(evaluated.length >= 33, 'one is hashed, 32 wait');
  assert.ok(turnedAway.length > 0, 'the queue has an end');
  for (const { headers, text } of turnedAway) {
    assert.match(headers.get('retry-after') ?? '', /^[1-9]\d*$/);
    assert.ok(text.includes('temporarily_unavailable'));
    assert.equal(
      headers.getSetCookie().some((line) => line.startsWith('tessera_session')),
      false,
    );
  }
  // What was not evaluated does not count against the account or the address.
  const counts = await query(server, `SELECT count FROM rate_count WHERE bucket LIKE 'sign-in %'`);
  assert.deepEqual(
    counts.map(({ count }) => Number(count)),
    // Of the name as typed, the account and the address.
    [evaluated.length, evaluated.length, evaluated.length],
  );
  // The flood over, the owner signs in.
  await signedIn(server, victim, PASSWORD);
});
