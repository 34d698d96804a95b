// store: PostgreSQL, SQLite with --all
/** Guesses at a password, side by side and over every route that checks one: PW-07, AV-01. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type Answer, agent } from '../support/agent.ts';
import { newUser, PASSWORD, signedIn, type TestUser } from '../support/flow.ts';
import { MINUTE } from '../support/outcome.ts';
import { SEVERAL, spread, startServer } from '../support/server.ts';
import { noFault, ready, times } from './crowd.ts';

const GUESSES = 1000;
/** How many of them are under way at a time: what waits for one row waits no longer than the database may. */
const ABREAST = 50;
const server = spread(
  await startServer(
    // Every guess comes from one address, and enough may wait for their hash that none is turned away for that.
    { TESSERA_LIMIT_SIGN_IN_ADDRESS: 'off', TESSERA_HASHING_CONCURRENCY: '8' },
    SEVERAL,
  ),
);
after(() => server.close());

const newBrowser = () => agent(server.baseUrl, server.nodeInTurn);
const spellings = ({ username }: TestUser) => [
  username,
  username.toUpperCase(),
  `${username}@example.com`,
  `${username}@EXAMPLE.com`,
];

test(`PW-07: of ${GUESSES} guesses at one account, ${ABREAST} side by side, by all of its names and over all nodes, ten are evaluated`, async () => {
  const user = await newUser(server);
  const names = spellings(user);
  const browser = newBrowser();
  const page = await browser.get('/login');
  const guesses = times(GUESSES, (n) =>
    ready(browser, page, '/login', { identifier: names[n % names.length] ?? '', password: `guess ${n}` }),
  );
  const answers: Answer[] = [];
  while (guesses.length > 0) {
    answers.push(...(await Promise.all(guesses.splice(0, ABREAST).map((send) => send()))));
  }
  noFault(answers);
  const counted = (status: number) => answers.filter((answer) => answer.status === status).length;
  // Ten for each of the two names. Ten of all are evaluated; the others are answered as if they were, so that nothing tells that the
  // two names are one account's.
  assert.deepEqual([counted(401), counted(429)], [20, GUESSES - 20]);
  for (const { status, headers } of answers) {
    if (status === 429) assert.match(headers.get('retry-after') ?? '', /^([1-9]|[1-5]\d|60)$/);
  }
  assert.equal((await ready(browser, page, '/login', { identifier: user.username, password: PASSWORD })()).status, 429);
  server.advance(MINUTE);
  await signedIn(server, user);
});

test('PW-07: the sign-in page and the change of the password share the count of a browser', async () => {
  const user = await newUser(server);
  const browser = await signedIn(server, user);
  // The same browser as one that is signed out, so that it gets the form.
  const again = newBrowser();
  for (const name of ['tessera_browser', 'tessera_known']) again.setCookie(name, browser.cookie(name) ?? '');
  const bySignIn = ready(again, await again.get('/login'), '/login', {
    identifier: user.username,
    password: 'a guess',
  });
  const fields = { current: 'a guess', password: 'a new passphrase' };
  const byChange = ready(browser, await browser.get('/account/security'), '/account/password', fields);
  for (let guess = 0; guess < 10; guess++) assert.equal((await bySignIn()).status, 401);
  assert.equal((await byChange()).status, 429);
  server.advance(MINUTE);
  // The other way around the sign-in page does not tell: it answers the right password as a wrong one.
  for (let guess = 0; guess < 10; guess++) assert.equal((await byChange()).status, 400);
  const right = { identifier: user.username, password: PASSWORD };
  assert.equal((await ready(again, await again.get('/login'), '/login', right)()).status, 401);
});
