// store: PostgreSQL, SQLite with --all
/** Parallel sign-ups: decisions §7, a user name is unique without regard to case. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { agent } from '../support/agent.ts';
import { admin } from '../support/flow.ts';
import { SEVERAL, spread, startServer, type TestServer } from '../support/server.ts';
import { noFault, ready, SIZES, times } from './crowd.ts';

let server: TestServer;
before(async () => {
  const settings = {
    // So many hashes may wait that a hundred sign-ups at once are no overload.
    TESSERA_HASHING_CONCURRENCY: '4',
    // A sign-in is counted until its password has proved right.
    TESSERA_LIMIT_SIGN_IN_ADDRESS: 'off',
    TESSERA_LIMIT_SIGN_IN_ACCOUNT: 'off',
  };
  server = spread(await startServer(settings, SEVERAL));
});
after(() => server.close());

/** Signs people up side by side; the statuses, and the browsers that are signed in after it. */
async function signUp(size: number, fields: (index: number) => Record<string, string>) {
  const people = await Promise.all(
    times(size, async (index) => {
      const browser = agent(server.baseUrl, server.nodeInTurn);
      const form = { displayName: 'A. Person', password: `a password of number ${index}`, ...fields(index) };
      return { browser, send: ready(browser, await browser.get('/signup'), '/signup', form) };
    }),
  );
  const answers = await Promise.all(people.map(({ send }) => send()));
  noFault(answers);
  const open = await Promise.all(people.map(async ({ browser }) => (await browser.get('/account')).status === 200));
  return { statuses: answers.map(({ status }) => status).sort(), open: open.filter(Boolean).length };
}

async function accounts(text: string): Promise<number> {
  return (await admin(server, 'GET', `/users?q=${encodeURIComponent(text)}`)).body.items.length;
}

const oneAndConflicts = (size: number) => [303, ...times(size - 1, () => 409)];

for (const size of SIZES) {
  test(`${size} sign-ups with one user name make one account`, async () => {
    const name = `wanted${size}`;
    const { statuses, open } = await signUp(size, (index) => ({
      username: index % 2 === 0 ? name : name.toUpperCase(),
      email: `own${index}-${size}@example.com`,
    }));
    assert.deepEqual(statuses, oneAndConflicts(size));
    assert.equal(open, 1, 'who did not get the account is not signed in to it');
    assert.equal(await accounts(name), 1);
  });

  test(`${size} sign-ups with one email address make one account`, async () => {
    const email = `shared${size}@example.com`;
    const { statuses, open } = await signUp(size, (index) => ({ username: `own${index}-${size}`, email }));
    assert.deepEqual(statuses, oneAndConflicts(size));
    assert.equal(open, 1);
    assert.equal(await accounts(email), 1);
  });

  test(`${size} submits of one sign-up make one account, and sign in to it, 64 sessions at most`, async () => {
    const name = `again${size}`;
    const same = { username: name, email: `${name}@example.com`, password: 'the same password' };
    const { statuses, open } = await signUp(size, () => same);
    assert.deepEqual(
      statuses,
      times(size, () => 303),
    );
    assert.equal(open, Math.min(size, 64));
    assert.equal(await accounts(name), 1);
  });
}
