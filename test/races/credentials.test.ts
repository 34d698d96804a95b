// store: PostgreSQL, SQLite with --all
/** Parallel uses of one code, and of one refresh token: RC-01, RC-02. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { codeFor, newClient, newUser, redeem, refresh, signedIn, tokensFor, userinfo } from '../support/flow.ts';
import { SEVERAL, spread, startServer } from '../support/server.ts';
import { allRefused, SIZES, tally, times, won } from './crowd.ts';

const server = spread(
  await startServer({ TESSERA_LIMIT_PENDING_ADDRESS: 'off', TESSERA_LIMIT_SIGN_IN_ADDRESS: 'off' }, SEVERAL),
);
after(() => server.close());
const client = await newClient(server);
const user = await newUser(server);
const browser = await signedIn(server, user);

const INVALID_TOKEN = { status: 401, error: 'invalid_token' };
const INVALID_GRANT = { status: 400, error: 'invalid_grant' };

for (const size of SIZES) {
  test(`decisions §3: of ${size} redemptions of one code one answers 200, and its tokens are dead`, async () => {
    const code = await codeFor(server, client, user, {}, { browser });
    const answers = await Promise.all(times(size, () => redeem(server, client, code)));
    assert.deepEqual(tally(answers), { '200': 1, '400 invalid_grant': size - 1 });
    await allRefused(server, client, won(answers), INVALID_TOKEN, INVALID_GRANT);
  });

  test(`decisions §4: ${size} refreshes of one token all carry one refresh token`, async () => {
    const tokens = await tokensFor(server, client, user, {}, { browser });
    const answers = await Promise.all(times(size, () => refresh(server, client, tokens.refresh_token)));
    // Each is either the first, or a retry within the grace window while the successor is unused.
    assert.deepEqual(tally(answers), { '200': size });
    const families = won(answers);
    const [successor, ...others] = new Set(families.map(({ refresh_token }) => refresh_token));
    assert.deepEqual(others, []);
    assert.ok(successor !== undefined && successor !== tokens.refresh_token);
    for (const { access_token } of families) assert.equal((await userinfo(server, access_token)).status, 200);
    assert.equal((await refresh(server, client, successor)).status, 200);
  });

  test(`RFC 9700 §4.14.2: ${size} uses of a retired token beside its live successor leave no two branches`, async () => {
    const first = await tokensFor(server, client, user, {}, { browser });
    const second = await refresh(server, client, first.refresh_token);
    const retired = times(size, () => refresh(server, client, first.refresh_token));
    const live = times(size, () => refresh(server, client, second.body.refresh_token));
    const answers = await Promise.all([...retired, ...live]);
    // Retries that come before the successor's first use get the successor; the first one after it ends the family.
    const { '200': good = 0, '400 invalid_grant': bad = 0 } = tally(answers);
    assert.equal(good + bad, 2 * size);
    const successors = new Set(won(answers).map(({ refresh_token }) => refresh_token));
    successors.delete(second.body.refresh_token);
    assert.ok(successors.size <= 1, `${successors.size} successors of one token`);
    if (bad === 0) return;
    await allRefused(server, client, [first, second.body, ...won(answers)], INVALID_TOKEN, INVALID_GRANT);
  });

  test(`RFC 6749 §4.1.2: ${size} replays beside ${size} refreshes leave nothing alive`, async () => {
    const code = await codeFor(server, client, user, {}, { browser });
    const first = await redeem(server, client, code);
    const refreshes = times(size, () => refresh(server, client, first.body.refresh_token));
    const replays = times(size, () => redeem(server, client, code));
    assert.deepEqual(tally(await Promise.all(replays)), { '400 invalid_grant': size });
    const answers = await Promise.all(refreshes);
    const { '200': good = 0, '400 invalid_grant': bad = 0 } = tally(answers);
    assert.equal(good + bad, size);
    await allRefused(server, client, [first.body, ...won(answers)], INVALID_TOKEN, INVALID_GRANT);
  });
}
