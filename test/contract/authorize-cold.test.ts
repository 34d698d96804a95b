// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { agent } from '../support/agent.ts';
import { authorizeUrl, newClient, newUser, PASSWORD } from '../support/flow.ts';
import { startServer } from '../support/server.ts';

const server = await startServer();
after(() => server.close());

test('decisions §3: two tabs that come to a new browser at the same time do not disturb each other', async () => {
  const client = await newClient(server);
  const user = await newUser(server);
  const browser = agent(server.baseUrl);
  // Both requests leave before either answer has brought a cookie.
  const [first, second] = await Promise.all([
    browser.get(authorizeUrl(client, { state: 'first' })),
    browser.get(authorizeUrl(client, { state: 'second' })),
  ]);
  for (const [state, begun] of [
    ['first', first],
    ['second', second],
  ] as const) {
    let answer = await browser.get(begun.location?.href ?? '');
    if (answer.status === 200) {
      answer = await browser.submit(answer, { identifier: user.username, password: PASSWORD });
      if (answer.location?.pathname === '/consent') {
        answer = await browser.submit(await browser.get(answer.location.href), { decision: 'allow' }, '/consent');
      }
    }
    assert.equal(answer.location?.searchParams.get('state'), state, answer.text);
    assert.ok(answer.location?.searchParams.get('code'));
  }
});

test('AZ-16: another browser has no part in it', async () => {
  const client = await newClient(server);
  const begun = await agent(server.baseUrl).get(authorizeUrl(client));
  const other = await agent(server.baseUrl).get(begun.location?.href ?? '');
  assert.equal(other.status, 400);
});
