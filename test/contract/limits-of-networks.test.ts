// store: SQLite, PostgreSQL with --all
/** A site has 65,536 /64s in its IPv6 /48: what strangers ask for is counted for the whole of it as well, at eight times the limit. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type Agent, agent } from '../support/agent.ts';
import { newUser, PASSWORD } from '../support/flow.ts';
import { countRows, MINUTE } from '../support/outcome.ts';
import { startServer } from '../support/server.ts';

const server = await startServer({
  TESSERA_MAILBOX: 'off',
  TESSERA_SMTP_URL: 'smtp://127.0.0.1:9',
  TESSERA_MAIL_FROM: 'tessera@example.com',
  TESSERA_SIGN_UP: 'open',
  TESSERA_TRUST_PROXY: '1',
  TESSERA_LIMIT_SIGN_UP_ADDRESS: '2/h',
  TESSERA_LIMIT_MAIL_ADDRESS: '2/h',
  TESSERA_LIMIT_MAIL_RECIPIENT: 'off',
  TESSERA_LIMIT_SIGN_IN_ADDRESS: '2/m',
  TESSERA_LIMIT_SIGN_IN_ACCOUNT: 'off',
});
after(() => server.close());

const from = (address: string): Agent => agent(server.baseUrl, undefined, { 'x-forwarded-for': address });
/** A device in each of so many /64s of a /48. */
const site = (network: string, homes: number): readonly Agent[] =>
  Array.from({ length: homes }, (_, home) => from(`${network}:${(home + 1).toString(16)}::1`));

/** How many of two attempts from each are let through. */
async function letThrough(browsers: readonly Agent[], attempt: (browser: Agent) => Promise<boolean>): Promise<number> {
  let count = 0;
  for (const browser of browsers) for (const _ of [1, 2]) if (await attempt(browser)) count++;
  return count;
}

let names = 0;
async function signUp(browser: Agent): Promise<boolean> {
  const username = `person${++names}`;
  const fields = { displayName: 'A Person', username, email: `${username}@elsewhere.example`, password: PASSWORD };
  const { status } = await browser.submit(await browser.get('/signup'), fields, '/signup');
  assert.ok(status === 303 || status === 429, `${status}`);
  return status === 303;
}

test('sign-ups, and the messages that they send', async () => {
  assert.equal(await letThrough(site('2001:db8:1', 9), signUp), 16);
  assert.equal(await letThrough([from('2001:db8:2::1'), from('192.0.2.1'), from('192.0.2.2')], signUp), 6);
});

test('messages of recovery, with an answer that stays the same', async () => {
  const { username } = await newUser(server, { emailVerified: true });
  const email = `${username}@example.com`;
  const recover = async (browser: Agent) => {
    const answer = await browser.submit(await browser.get('/recover'), { identifier: email }, '/recover');
    await server.sendRequestedMail();
    return answer.status === 303;
  };
  const before = await countRows(server, 'mail');
  const sent = async () => (await countRows(server, 'mail')) - before;
  assert.equal(await letThrough(site('2001:db8:3', 9), recover), 18);
  assert.equal(await sent(), 16);
  assert.equal(await letThrough([from('2001:db8:4::1')], recover), 2);
  assert.equal(await sent(), 18);
});

test('failed sign-ins; those that succeed are not counted', async () => {
  const { username } = await newUser(server);
  const signIn = (password: string) => async (browser: Agent) => {
    const { status } = await browser.submit(await browser.get('/login'), { identifier: username, password }, '/login');
    return status !== 429;
  };
  const homes = site('2001:db8:5', 9);
  for (const home of homes) {
    const browser = await home.submit(await home.get('/login'), { identifier: username, password: PASSWORD }, '/login');
    assert.equal(browser.status, 303);
    await home.submit(await home.get('/account'), {}, '/logout');
  }
  assert.equal(await letThrough(homes, signIn('not the password')), 16);
  assert.equal(await letThrough([from('2001:db8:6::1')], signIn('not the password')), 2);
  server.advance(MINUTE);
  assert.equal(await letThrough(homes.slice(0, 1), signIn('not the password')), 2);
});
