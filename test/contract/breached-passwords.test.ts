// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { agent } from '../support/agent.ts';
import { admin, newSignedInUser, PASSWORD } from '../support/flow.ts';
import { startServer } from '../support/server.ts';

// PW-03: with TESSERA_PASSWORD_BREACHES, passwords of known breaches are refused wherever one is chosen.

const BREACHED = 'quartz lamp river';
const hashOf = (password: string): string => createHash('sha1').update(password).digest('hex').toUpperCase();

const asked: string[] = [];
const service = createServer((request, response) => {
  asked.push(request.url ?? '');
  response.end(`${hashOf(BREACHED).slice(5)}:7\r\n`);
}).listen(0, '127.0.0.1');
await once(service, 'listening');
const url = `http://127.0.0.1:${(service.address() as AddressInfo).port}/range`;
const server = await startServer({ TESSERA_PASSWORD_BREACHES: url });
after(async () => {
  await server.close();
  service.close();
});

async function signUp(username: string, password: string): Promise<{ status: number; text: string }> {
  const browser = agent(server.baseUrl);
  const fields = { displayName: 'B', username, email: `${username}@example.com`, password };
  return browser.submit(await browser.get('/signup'), fields);
}

test('PW-03: a password of a known breach is refused by pages and the admin API', async () => {
  const { user, browser } = await newSignedInUser(server);
  asked.length = 0;
  const edited = await admin(server, 'PATCH', `/users/${user.id}`, { password: BREACHED });
  assert.deepEqual([edited.status, edited.body.error], [400, 'invalid_request']);
  assert.match(
    edited.body.error_description,
    /^password must be harder to guess: this one was published in a data breach/,
  );
  const page = await browser.get('/account/security');
  const changed = await browser.submit(page, { current: PASSWORD, password: BREACHED }, '/account/password');
  const refused = await signUp('breached', BREACHED);
  for (const answer of [changed, refused]) {
    assert.equal(answer.status, 400);
    assert.match(answer.text, /published in a data breach of another service/);
  }
  assert.equal((await signUp('unbreached', 'another quartz lamp')).status, 303);
  // Five digits of the hash, and nothing else.
  const prefixes = [BREACHED, BREACHED, BREACHED, 'another quartz lamp'].map(
    (it) => `/range/${hashOf(it).slice(0, 5)}`,
  );
  assert.deepEqual(asked.slice(0, 4), prefixes);
});

test('PW-03: a common password is refused without asking', async () => {
  asked.length = 0;
  assert.equal((await signUp('common', 'password1')).status, 400);
  assert.deepEqual(asked, []);
});

test('PW-03: passwords are accepted while the service does not answer', async () => {
  service.closeAllConnections();
  await new Promise((done) => service.close(done));
  assert.equal((await signUp('unasked', BREACHED)).status, 303);
});
