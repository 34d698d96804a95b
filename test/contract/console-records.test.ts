// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { agent } from '../support/agent.ts';
import { newOperator } from '../support/console.ts';
import { admin, authorizeUrl, newClient, newUser } from '../support/flow.ts';
import { startServer } from '../support/server.ts';

// What the console reads of refusals and of the audit trail: decisions §13.

const server = await startServer();
after(() => server.close());
const { browser } = await newOperator(server, 'auditor');
const client = await newClient(server, { redirectUris: ['https://notes.example/callback'] });

async function refusal(): Promise<string> {
  const wrong = authorizeUrl(client, { redirect_uri: 'https://notes.example/callbak' });
  const answer = await agent(server.baseUrl).get(wrong);
  assert.equal(answer.status, 400);
  return answer.headers.get('x-request-id') ?? '';
}

test('a correlation ID leads to the steps, the reason and the remedy that the command line prints', async () => {
  const id = await refusal();
  const { body } = await admin(server, 'GET', `/traces/${id}`);
  const page = await browser.get(`/console/explain?id=${id.toUpperCase()}`);
  assert.equal(page.status, 200);
  const shown = page.text.replaceAll('&#39;', "'").replaceAll('&quot;', '"').replaceAll('&amp;', '&');
  const [step] = body.steps;
  assert.ok(step.remedy !== undefined && step.received !== undefined);
  for (const fact of [step.error, step.description, step.received, step.remedy]) assert.ok(shown.includes(fact), fact);
});

test('the newest steps lead to their explanations, of all apps and of one', async () => {
  const id = await refusal();
  const other = await newClient(server);
  assert.ok((await browser.get('/console/explain')).text.includes(`/console/explain?id=${id}`));
  assert.ok((await browser.get(`/console/explain?app=${client.clientId}`)).text.includes(id));
  assert.ok(!(await browser.get(`/console/explain?app=${other.clientId}`)).text.includes(id));
});

test('what is no correlation ID, and what is unknown, is said', async () => {
  const wrong = await browser.get('/console/explain?id=%3Cscript%3E');
  assert.equal(wrong.status, 400);
  assert.ok(!wrong.text.includes('<script>') && wrong.text.includes('Enter a correlation ID'));
  const unknown = await browser.get('/console/explain?id=6f0b6e0e-5a0c-4a39-9f4f-7f1f5c2f8f11');
  assert.equal(unknown.status, 404);
  assert.match(unknown.text, /There is no trace of the request/);
  assert.match(unknown.text, /href="\/console\/events[?]requestId=[0-9a-f-]{36}">Events of this request/);
});

test('events are found by the filters of the address, and the list goes on by the last one', async () => {
  for (let index = 0; index < 30; index++) await newUser(server);
  const first = await browser.get('/console/events?type=account.created');
  const count = ({ text }: { readonly text: string }) =>
    text.split('<strong lang="en">account.created</strong>').length - 1;
  assert.equal(count(first), 25);
  assert.ok(!first.text.includes('<strong lang="en">sign_in.succeeded</strong>'));
  const next = /href="([^"]*after=\d+)"/.exec(first.text)?.[1]?.replaceAll('&amp;', '&') ?? '';
  const second = await browser.get(next);
  assert.ok(count(second) >= 5);
  // The filters are folded, and those that are set are named.
  assert.match(second.text, /Type: <strong>.*account\.created.*<\/strong>/);
});

test('a filter that makes no sense is said at its field, and what was typed stays', async () => {
  const page = await browser.get('/console/events?userId=nobody&since=tomorrow&type=unknown&outcome=failure');
  assert.equal(page.status, 400);
  assert.match(page.text, /value="nobody"/);
  assert.match(page.text, /value="tomorrow"/);
  for (const name of ['userId', 'since', 'type']) assert.ok(page.text.includes(`href="#${name}"`), name);
});

test('a day counts from its beginning, in UTC', async () => {
  const day = new Date(server.now()).toISOString().slice(0, 10);
  assert.match((await browser.get(`/console/events?since=${day}&type=account`)).text, /account\.created/);
  assert.match((await browser.get(`/console/events?until=${day}&type=account`)).text, /No event matches/);
});

test('who may not read traces and events sees neither, and is told the permission', async () => {
  const support = await newOperator(server, 'support');
  assert.doesNotMatch((await support.browser.get('/console/people')).text, /\/console\/(events|explain)"/);
  for (const [address, permission] of [
    ['/console/events', 'events.read'],
    ['/console/explain', 'traces.read'],
  ] as const) {
    const answer = await support.browser.get(address);
    assert.equal(answer.status, 403);
    assert.ok(answer.text.includes(permission));
  }
});
