// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { cookiesFor } from '../support/agent.ts';
import { newOperator, type TestOperator } from '../support/console.ts';
import { admin, authorizeUrl, newClient, newUser } from '../support/flow.ts';
import { startServer } from '../support/server.ts';

// The live views of the console: decisions §12 (a live stream checks before each part, and ends) and §13.

const server = await startServer();
after(() => server.close());
const owner = await newOperator(server, 'owner');

const streamOf = (text: string): string =>
  (/data-stream="([^"]*)"/.exec(text)?.[1] ?? assert.fail('the page has no stream')).replaceAll('&amp;', '&');

interface Stream {
  readonly status: number;
  /** The next message; undefined where the stream has ended. */
  next(): Promise<string | undefined>;
  close(): void;
}

/** Opens the stream that a page names, as EventSource does. */
async function openStream({ browser }: TestOperator, address: string): Promise<Stream> {
  const closing = new AbortController();
  const answer = await fetch(server.baseUrl + address, {
    redirect: 'manual',
    signal: closing.signal,
    headers: { accept: 'text/event-stream', cookie: cookiesFor(server.baseUrl, browser) },
  });
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  return {
    status: answer.status,
    async next() {
      for (;;) {
        const found = /^data: (\d+)\n\n/m.exec(text)?.[1];
        if (found !== undefined) {
          text = '';
          return found;
        }
        const part = await reader?.read();
        if (part === undefined || part.done) return undefined;
        text += part.value;
      }
    },
    close: () => closing.abort(),
  };
}

const watched = async (operator: TestOperator, address: string): Promise<Stream> => {
  const page = await operator.browser.get(address);
  assert.equal(page.status, 200, page.text);
  return openStream(operator, streamOf(page.text));
};

test('an event of a person is told to who watches that person, and to nobody else', async () => {
  const [person, other] = [await newUser(server), await newUser(server)];
  const stream = await watched(owner, `/console/events?userId=${person.id}&live=1`);
  const ofOther = await watched(owner, `/console/events?userId=${other.id}&live=1`);
  assert.equal((await admin(server, 'PUT', `/users/${person.id}/suspension`, {})).status, 200);
  assert.ok((await stream.next()) !== undefined);
  assert.equal((await admin(server, 'PUT', `/users/${other.id}/suspension`, {})).status, 200);
  const { body } = await admin(server, 'GET', `/audit-events?userId=${other.id}&type=account.suspended`);
  const told = await ofOther.next();
  assert.ok(told !== undefined && BigInt(told) >= BigInt(body.items[0].id));
  stream.close();
  ofOther.close();
});

test('a refused request of an app is told to who watches its steps', async () => {
  const app = await newClient(server);
  const stream = await watched(owner, `/console/explain?app=${app.clientId}&live=1`);
  await fetch(server.baseUrl + authorizeUrl(app, { redirect_uri: 'https://elsewhere.example/' }));
  assert.ok((await stream.next()) !== undefined);
  stream.close();
});

test('what happened between the page and the stream is told', async () => {
  const person = await newUser(server);
  const page = await owner.browser.get(`/console/events?userId=${person.id}&live=1`);
  await admin(server, 'PUT', `/users/${person.id}/suspension`, {});
  const stream = await openStream(owner, streamOf(page.text));
  assert.ok((await stream.next()) !== undefined);
  stream.close();
});

for (const [what, end] of [
  ['the role is taken away', ({ id }: TestOperator) => admin(server, 'DELETE', `/users/${id}/roles/auditor`)],
  ['the person is suspended', ({ id }: TestOperator) => admin(server, 'PUT', `/users/${id}/suspension`, {})],
  ['the sessions are ended', ({ id }: TestOperator) => admin(server, 'DELETE', `/users/${id}/sessions`)],
] as const) {
  for (const address of ['/console/events?live=1', '/console/explain?live=1']) {
    test(`${address.slice(0, -7)} stops streaming when ${what}, and does not begin again`, async () => {
      const operator = await newOperator(server, 'auditor');
      const page = await operator.browser.get(address);
      const stream = await openStream(operator, streamOf(page.text));
      assert.equal(stream.status, 200);
      const ended = await end(operator);
      assert.ok(ended.status < 300, JSON.stringify(ended.body));
      // What is told meanwhile is that there was something, and nothing of it.
      while ((await stream.next()) !== undefined);
      assert.notEqual((await openStream(operator, streamOf(page.text))).status, 200);
    });
  }
}

test('a role that includes no events is let into no stream of them', async () => {
  const support = await newOperator(server, 'support');
  const events = await openStream(support, '/console/events/live?after=0');
  const page = await support.browser.get('/console/events');
  assert.equal(events.status, page.status);
  events.close();
});

test('one session has four views at most; one that is closed makes room', async () => {
  const { browser } = owner;
  const address = streamOf((await browser.get('/console/explain?live=1')).text);
  const streams = [];
  for (let index = 0; index < 4; index++) streams.push(await openStream(owner, address));
  assert.deepEqual(
    streams.map(({ status }) => status),
    [200, 200, 200, 200],
  );
  const refused = await openStream(owner, address);
  assert.equal(refused.status, 429);
  streams[0]?.close();
  let again = await openStream(owner, address);
  // The server learns of it a moment later.
  while (again.status === 429) again = await openStream(owner, address);
  assert.equal(again.status, 200);
  for (const stream of [...streams, again]) stream.close();
});

test('without scripts, the page is looked at again; only its beginning is watched', async () => {
  const { text } = await owner.browser.get('/console/events?live=1');
  assert.match(text, /href="\/console\/events\?live=1">Look again/);
  assert.match(text, /href="\/console\/events">Stop watching/);
  const older = await owner.browser.get('/console/events?live=1&after=9000000000000000000');
  assert.doesNotMatch(older.text, /data-stream/);
});

test('a stream is no page to come back to after a sign-in', async () => {
  const operator = await newOperator(server, 'auditor');
  await admin(server, 'DELETE', `/users/${operator.id}/sessions`);
  const answer = await operator.browser.get('/console/events/live');
  assert.equal(answer.location?.pathname, '/login');
  assert.notEqual((await operator.browser.get('/console/back')).location?.pathname, '/console/events/live');
});
