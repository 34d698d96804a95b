// store: PostgreSQL, SQLite with --all
/**
 * What is under way while an account is secured: RC-05, AC-08. A route that decides, waits for a hash or a picture, and then
 * commits is held up after the wait; meanwhile something ends what it rested on, and has returned. Nothing may come of it then.
 */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { type Agent, type Answer, agent } from '../support/agent.ts';
import { admin, newUser, PASSWORD, signedIn, type TestUser } from '../support/flow.ts';
import { gate } from '../support/gate.ts';
import { landscape } from '../support/images.ts';
import { startServer } from '../support/server.ts';

/** On PostgreSQL, another node than the one that ends something serves what is under way. */
const nodes = process.env['TESSERA_TEST_POSTGRES'] === undefined ? 1 : 2;
const [checking, hashing, drawing] = [gate(), gate(), gate()];
const server = await startServer({ TESSERA_LIMIT_SIGN_IN_ADDRESS: 'off' }, nodes, undefined, {
  passwords: (own) => ({
    ...own,
    check: async (...attempt) => checking.pass(await own.check(...attempt)),
    hash: async (...attempt) => hashing.pass(await own.hash(...attempt)),
  }),
  pictures: (own) => ({ convert: async (file) => drawing.pass(await own.convert(file)) }),
});
after(() => server.close());

const picture = new File([new Uint8Array(await landscape().png())], 'me.png', { type: 'image/png' });
const NEW_PASSWORD = 'a wholly other password';
const RESET = 'what the operator has set';

/** A browser that the last node serves. */
const lastNode = () => server.nodes.at(-1) ?? server.baseUrl;
function elsewhere(browser?: Agent): Agent {
  const other = agent(server.baseUrl, lastNode);
  for (const name of ['tessera_session', 'tessera_browser']) {
    const value = browser?.cookie(name);
    if (value !== undefined) other.setCookie(name, value);
  }
  return other;
}

interface Ending {
  readonly name: string;
  /** Ends what the person's browser has, by an operator or from another browser of theirs. */
  end(user: TestUser, other: Agent): Promise<unknown>;
  /** The password with which the person signs in afterwards; none where there is no way. */
  readonly password: string | undefined;
}

const operator = async (user: TestUser, method: string, path = '', body?: unknown) => {
  const { status } = await admin(server, method, `/users/${user.id}${path}`, body);
  assert.ok(status === 200 || status === 204, `${method} ${path}: ${status}`);
};
async function onPage(browser: Agent, path: string, action: string, fields: Record<string, string> = {}) {
  const answer = await browser.submit(await browser.get(path), fields, action);
  assert.equal(answer.status, 200, answer.text);
}

const ENDINGS: readonly Ending[] = [
  { name: 'a ban', end: (user) => operator(user, 'PUT', '/ban', {}), password: undefined },
  {
    name: 'a ban that was lifted again',
    async end(user) {
      await operator(user, 'PUT', '/ban', {});
      await operator(user, 'DELETE', '/ban');
    },
    password: PASSWORD,
  },
  { name: 'a suspension', end: (user) => operator(user, 'PUT', '/suspension', {}), password: undefined },
  {
    name: 'a suspension that was lifted again',
    async end(user) {
      await operator(user, 'PUT', '/suspension', {});
      await operator(user, 'DELETE', '/suspension');
    },
    password: PASSWORD,
  },
  { name: 'an operator’s reset', end: (user) => operator(user, 'PATCH', '', { password: RESET }), password: RESET },
  {
    name: 'a password that the person changed elsewhere',
    end: (_user, other) =>
      onPage(other, '/account/security', '/account/password', { current: PASSWORD, password: RESET }),
    password: RESET,
  },
  {
    name: 'signing out everywhere',
    end: (_user, other) => onPage(other, '/account/security', '/account/sign-out-everywhere'),
    password: PASSWORD,
  },
  { name: 'an operator’s sign-out', end: (user) => operator(user, 'DELETE', '/sessions'), password: PASSWORD },
  {
    name: 'ending that session',
    end: (_user, other) => onPage(other, '/account/sessions', '/account/sessions', { session: 'others' }),
    password: PASSWORD,
  },
  { name: 'a deletion', end: (user) => operator(user, 'DELETE'), password: undefined },
];

/** Something that a browser sends, and where it is held up. */
interface Act {
  readonly name: string;
  /** The page with its form. */
  readonly page: string;
  readonly gate: ReturnType<typeof gate>;
  send(browser: Agent, page: Answer): Promise<Answer>;
}

const changePassword: Act['send'] = (browser, page) =>
  browser.submit(page, { current: PASSWORD, password: NEW_PASSWORD }, '/account/password');
const ACTS: readonly Act[] = [
  {
    name: 'a new password, the old one just confirmed',
    page: '/account/security',
    gate: checking,
    send: changePassword,
  },
  { name: 'a new password, just hashed', page: '/account/security', gate: hashing, send: changePassword },
  {
    name: 'a new picture',
    page: '/account',
    gate: drawing,
    send: (browser, page) => browser.upload(page, { picture }, '/account/picture'),
  },
];

const canSignIn = async ({ username }: TestUser, password: string): Promise<boolean> => {
  const browser = agent(server.baseUrl);
  const answer = await browser.submit(await browser.get('/login'), { identifier: username, password });
  return answer.status === 303;
};

for (const ending of ENDINGS) {
  describe(`decisions §5: when ${ending.name} has returned, what was under way comes to nothing`, () => {
    for (const act of ACTS) {
      test(act.name, async () => {
        const user = await newUser(server);
        const browser = elsewhere(await signedIn(server, user));
        const page = await browser.get(act.page);
        const other = await signedIn(server, user);

        act.gate.close();
        const underWay = act.send(browser, page);
        await act.gate.reached;
        await ending.end(user, other);
        act.gate.open();
        const answer = await underWay;

        assert.deepEqual([answer.status, answer.location?.pathname], [303, '/login']);
        // Neither the session from before nor one that the answer gave.
        assert.equal((await browser.get('/account/security')).location?.pathname, '/login');
        assert.equal(await canSignIn(user, NEW_PASSWORD), false, 'the new password');
        if (ending.password !== undefined) assert.equal(await canSignIn(user, ending.password), true);
        const record = (await admin(server, 'GET', `/users/${user.id}`)).body;
        if (ending.name !== 'a deletion') assert.equal(record.hasPicture, false);
      });
    }
  });
}

describe('AC-08: a sign-in that was under way when the account was secured comes to nothing', () => {
  // A session that ends is none of a sign-in that makes another.
  for (const ending of ENDINGS.filter(({ name }) => name !== 'ending that session')) {
    test(ending.name, async () => {
      const user = await newUser(server);
      const other = await signedIn(server, user);
      const browser = elsewhere();
      const page = await browser.get('/login');

      checking.close();
      const underWay = browser.submit(page, { identifier: user.username, password: PASSWORD });
      await checking.reached;
      await ending.end(user, other);
      checking.open();

      assert.notEqual((await underWay).status, 303);
      assert.equal((await browser.get('/account/security')).location?.pathname, '/login');
      if (ending.password !== undefined) assert.equal(await canSignIn(user, ending.password), true);
    });
  }
});

test('a password changed in one commit leaves one session: that of the browser which changed it', async () => {
  const user = await newUser(server);
  const browser = elsewhere(await signedIn(server, user));
  await signedIn(server, user);
  const changed = await changePassword(browser, await browser.get('/account/security'));
  assert.equal(changed.status, 200);
  assert.equal((await browser.get('/account/security')).status, 200);
  assert.equal((await admin(server, 'GET', `/users/${user.id}/sessions`)).body.items.length, 1);
});

test('of two changes of one password side by side one holds, and the other browser signs in again', async () => {
  const user = await newUser(server);
  const [here, there] = [await signedIn(server, user), elsewhere(await signedIn(server, user))];
  hashing.close();
  const slow = changePassword(there, await there.get('/account/security'));
  await hashing.reached;
  await onPage(here, '/account/security', '/account/password', { current: PASSWORD, password: RESET });
  hashing.open();
  assert.equal((await slow).location?.pathname, '/login');
  assert.deepEqual([await canSignIn(user, RESET), await canSignIn(user, NEW_PASSWORD)], [true, false]);
});

test('two presses of “Change password” leave the browser signed in, in the session of the first', async () => {
  const browser = elsewhere(await signedIn(server, await newUser(server)));
  const page = await browser.get('/account/security');
  hashing.close();
  const second = changePassword(browser, page);
  await hashing.reached;
  assert.equal((await changePassword(browser, page)).status, 200);
  hashing.open();
  assert.equal((await second).location?.pathname, '/login');
  assert.equal((await browser.get('/account/security')).status, 200);
});

test('an operator’s new password that is under way lifts no ban', async () => {
  const user = await newUser(server);
  hashing.close();
  const underWay = admin({ baseUrl: lastNode() }, 'PATCH', `/users/${user.id}`, { password: RESET });
  await hashing.reached;
  await operator(user, 'PUT', '/ban', {});
  hashing.open();
  assert.deepEqual([(await underWay).status, (await underWay).body.status], [200, 'banned']);
  assert.equal((await admin(server, 'GET', `/users/${user.id}`)).body.status, 'banned');
});
