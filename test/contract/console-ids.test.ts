// store: PostgreSQL, SQLite with --all
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type Route, startRouted } from '../security/routes.ts';
import { cookiesFor } from '../support/agent.ts';
import { newOperator, open } from '../support/console.ts';
import { admin } from '../support/flow.ts';
import { sampleOf } from '../support/whole.ts';

// What is no ID is not looked up: SQLite finds nothing by it, and PostgreSQL refuses to compare it.

const server = await startRouted({ TESSERA_MAILBOX: 'on', TESSERA_LIMIT_FORM_ACCOUNT: 'off' });
after(() => server.close());
const owner = await newOperator(server, 'owner');
const organization: string = (await admin(server, 'POST', '/organizations', { name: 'ids', domain: 'ids.example' }))
  .body.id;

/** What a page or a form of the console may name. */
const NAMES = ['id', 'user', 'app', 'organization', 'member', 'like', 'held', 'factor', 'session', 'secret', 'seen'];
const OF_LISTS = ['userId', 'clientId', 'after', 'before', 'q', 'period', 'type'];
/** Letters, a character that PostgreSQL stores in no text, what is longer than any ID, and a number above the highest one. */
const BAD = ['abc', 'a\0b', 'x'.repeat(10_000), '9'.repeat(20)];

const routes = (method: string): Route[] =>
  server.routes.filter((route) => route.method === method && route.url.startsWith('/console'));
/** Every value under every name, alone and beside what is right; otherwise a fifth of them, which has each name and each value. */
const named = (names: readonly string[], values: readonly string[], others: readonly Record<string, string>[]) =>
  sampleOf(
    values.flatMap((value) => others.flatMap((beside) => names.map((name) => ({ name, value, beside })))),
    5,
  );
const shown = (value: string): string => JSON.stringify(value.slice(0, 20));

/** The status of a page, or of a stream, which is not read: it goes on until it is closed. */
async function statusOf(address: string): Promise<number> {
  const cookie = cookiesFor(server.baseUrl, owner.browser);
  const { status, body } = await fetch(server.baseUrl + address, { redirect: 'manual', headers: { cookie } });
  await body?.cancel();
  return status;
}

for (const { url } of routes('GET')) {
  test(`the page ${url} is no fault, whatever is named`, async () => {
    // The proof is fresh from here on, and the rest finds the page itself.
    await open(server, owner, '/console/keys/new');
    const names = url.includes(':') ? ['after', 'before'] : [...NAMES, ...OF_LISTS];
    for (const { name, value, beside } of named(names, ['', ...BAD], [{}, { id: organization }])) {
      const address = url.replaceAll(/:[a-zA-Z]+/g, encodeURIComponent(value));
      const status = await statusOf(`${address}?${new URLSearchParams({ ...beside, [name]: value })}`);
      assert.ok(status < 500, `${status}: ${url} with ${shown(value)} as ${name}`);
    }
  });
}

for (const { url } of routes('POST')) {
  test(`the form of ${url} is no fault, whatever is named`, async () => {
    const page = await open(server, owner, '/console/keys/new');
    const token = /name="form_token" value="([^"]+)"/.exec(page.text)?.[1] ?? '';
    assert.notEqual(token, '');
    const others = [{}, { id: organization, user: owner.id, held: 'auditor', role: 'auditor' }];
    for (const { name, value, beside } of named(NAMES, BAD, others)) {
      const { status } = await owner.browser.post(url, { form_token: token, ...beside, [name]: value });
      assert.ok(status < 500, `${status}: ${url} with ${shown(value)} as ${name}`);
    }
  });
}
