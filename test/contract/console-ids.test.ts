// store: SQLite, PostgreSQL
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type Route, startRouted } from '../security/routes.ts';
import { newOperator, open } from '../support/console.ts';
import { admin } from '../support/flow.ts';

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
const shown = (value: string): string => JSON.stringify(value.slice(0, 20));

for (const { url } of routes('GET')) {
  test(`the page ${url} is no fault, whatever is named`, async () => {
    // The proof is fresh from here on, and the rest finds the page itself.
    await open(server, owner, '/console/keys/new');
    for (const value of ['', ...BAD]) {
      const address = url.replaceAll(/:[a-zA-Z]+/g, encodeURIComponent(value));
      for (const name of url === address ? [...NAMES, ...OF_LISTS] : ['after', 'before']) {
        for (const beside of [{}, { id: organization }]) {
          const query = new URLSearchParams({ ...beside, [name]: value });
          const { status } = await owner.browser.get(`${address}?${query}`);
          assert.ok(status < 500, `${status}: ${url} with ${shown(value)} as ${name}`);
        }
      }
    }
  });
}

for (const { url } of routes('POST')) {
  test(`the form of ${url} is no fault, whatever is named`, async () => {
    const page = await open(server, owner, '/console/keys/new');
    const token = /name="form_token" value="([^"]+)"/.exec(page.text)?.[1] ?? '';
    assert.notEqual(token, '');
    for (const value of BAD) {
      for (const name of NAMES) {
        for (const beside of [{}, { id: organization, user: owner.id, held: 'auditor', role: 'auditor' }]) {
          const { status } = await owner.browser.post(url, { form_token: token, ...beside, [name]: value });
          assert.ok(status < 500, `${status}: ${url} with ${shown(value)} as ${name}`);
        }
      }
    }
  });
}
