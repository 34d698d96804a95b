// store: PostgreSQL, SQLite with --all
/** A session that is ended from elsewhere, beside everything that its browser does meanwhile. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type Agent, agent, formOf } from '../support/agent.ts';
import {
  admin,
  authorizeUrl,
  newClient,
  newUser,
  PASSWORD,
  redeem,
  refresh,
  signedIn,
  tokensFor,
  userinfo,
} from '../support/flow.ts';
import { startServer } from '../support/server.ts';
import { noFault } from './crowd.ts';

/** On PostgreSQL, another node than the one that ends the session serves the browser. */
const nodes = process.env['TESSERA_TEST_POSTGRES'] === undefined ? 1 : 2;
const ROUNDS = 5;
const CROWD = 4;

const server = await startServer({}, nodes);
after(() => server.close());
const client = await newClient(server);

test('when ending a session has returned, nothing that raced with it works: no page, no code, no token', async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const user = await newUser(server);
    const there = elsewhere(await signedIn(server, user));
    const held = await tokensFor(server, client, user, {}, { browser: there });
    const spare = await codes(there);
    const [session] = (await admin(server, 'GET', `/users/${user.id}/sessions`)).body.items;

    const crowd = [
      codes(there),
      ...spare.map((code) => redeem(server, client, code)),
      refresh(server, client, held.refresh_token),
    ];
    const ended = await admin(server, 'DELETE', `/users/${user.id}/sessions/${session.id}`);
    assert.equal(ended.status, 200);
    assert.equal((await there.get('/account')).location?.pathname, '/login');
    assert.equal((await userinfo(server, held.access_token)).status, 401);
    const [late = [], ...answers] = (await Promise.all(crowd)) as [string[], ...Awaited<ReturnType<typeof redeem>>[]];
    noFault(answers);
    for (const { status, body } of answers) {
      if (status === 200) assert.equal((await userinfo(server, body.access_token)).status, 401, `round ${round}`);
    }
    for (const code of late) assert.equal((await redeem(server, client, code)).status, 400, `round ${round}`);
  }
});

test('nor does it where the person signs in again in that browser in the same moment', async () => {
  for (let round = 0; round < ROUNDS; round++) {
    await Promise.all(Array.from({ length: CROWD * 2 }, () => endBesideSignIn(`round ${round}`)));
  }
});

async function endBesideSignIn(message: string): Promise<void> {
  const user = await newUser(server);
  const browser = await signedIn(server, user);
  const held = await tokensFor(server, client, user, {}, { browser });
  const path = `/users/${user.id}/sessions`;
  const [session] = (await admin(server, 'GET', path)).body.items;
  // As from a page that was opened before the first sign-in.
  const page = agent(server.baseUrl);
  page.setCookie('tessera_browser', browser.cookie('tessera_browser') ?? '');
  const { hidden } = formOf((await page.get('/login')).text, '/login');
  const again = elsewhere(browser).post('/login', { ...hidden, identifier: user.username, password: PASSWORD });
  // As long as the hash of a password takes, and somewhat more.
  for (let read = Math.floor(Math.random() * 4); read > 0; read--) await userinfo(server, held.access_token);
  assert.equal((await admin(server, 'DELETE', `${path}/${session.id}`)).status, 200);
  assert.equal((await userinfo(server, held.access_token)).status, 401, message);
  assert.equal((await again).status, 303);
  const left = (await admin(server, 'GET', path)).body.items as readonly { id: string }[];
  assert.ok(!left.some(({ id }) => id === session.id), message);
}

/** Codes that a browser gets side by side. */
const codes = async (browser: Agent): Promise<string[]> => {
  const answers = await Promise.all(Array.from({ length: CROWD }, () => browser.get(authorizeUrl(client))));
  return answers.flatMap(({ location }) => location?.searchParams.get('code') ?? []);
};

/** The same browser, served by the last node. */
function elsewhere(browser: Agent): Agent {
  const other = agent(server.baseUrl, () => server.nodes.at(-1) ?? server.baseUrl);
  for (const name of ['tessera_session', 'tessera_browser']) other.setCookie(name, browser.cookie(name) ?? '');
  return other;
}
