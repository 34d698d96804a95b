// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { FORM_TYPE } from '../../src/platform/http/operation.ts';
import { type Call, callExample, fixture, send } from '../openapi/examples.ts';
import { agent } from '../support/agent.ts';
import { newUser, PASSWORD, signedIn } from '../support/flow.ts';
import { Canaries } from './canaries.ts';
import { startRouted } from './routes.ts';

// LG-01, LG-06: what was refused may have been a secret in the wrong place. Logs and screens of clients keep the answer.

const TEXT = 'c4nary-in-the-wrong-field';
const NUMBER = 9182736455.125;
const canaries = new Canaries();
canaries.add('text', TEXT);
canaries.add('number', String(NUMBER));

/** Values that no field of the API takes, or that one takes and another does not. */
const WRONG: readonly unknown[] = [
  TEXT,
  `${TEXT}\u0001`,
  TEXT.repeat(400),
  NUMBER,
  [TEXT],
  { value: TEXT },
  [{ platform: TEXT, url: TEXT, label: TEXT }],
  { keys: [{ kty: TEXT, n: TEXT }] },
];

const server = await startRouted({ TESSERA_LIMIT_CLIENT_AUTH: 'off', TESSERA_LIMIT_SIGN_IN_ADDRESS: 'off' });
after(() => server.close());
// The ids are those of the examples: what is sent is refused before anything is looked for, or nothing is found.
const nobodys = { ...(await fixture(server)), fresh: false };

/** Shown on the error page of the authorization endpoint, for the developer: never sent on, and no secrets. */
const SHOWN = ['client_id', 'redirect_uri'];

let refused = 0;
async function assertSilent(call: Call, about: string): Promise<void> {
  // The tokens of the examples are cut short.
  const ascii = (value: string) => value.replaceAll(/[^ -~]/g, '');
  const headers = Object.fromEntries(Object.entries(call.headers).map(([name, value]) => [name, ascii(value)]));
  const { status, text } = await send(server, { ...call, headers });
  assert.notEqual(status, 500, about);
  if (status < 400) return;
  refused++;
  assert.deepEqual(canaries.foundIn(text), [], `${about}: ${text.slice(0, 500)}`);
  // The parser of JSON would quote the first ten characters.
  assert.ok(!text.includes(TEXT.slice(0, 6)), `${about}: ${text.slice(0, 500)}`);
}

const fieldsOf = (schema: unknown): readonly string[] =>
  Object.keys((schema as { properties?: object } | undefined)?.properties ?? {});

const isShown = (operationId: string, field: string): boolean =>
  operationId.startsWith('authorize') && SHOWN.includes(field);

for (const route of server.described) {
  const { schema, method, url } = route;
  const [example] = schema.examples;
  if (example === undefined) continue;

  test(`LG-06: ${method} ${url} never repeats what it refuses`, async () => {
    const call = await callExample(nobodys, route, example);
    const fields = fieldsOf(schema.body).filter((name) => !isShown(schema.operationId, name));
    for (const field of fields) {
      const sent = WRONG.map(async (value) => {
        const body = { ...example.body, [field]: value };
        const about = `${field}: ${JSON.stringify(value).slice(0, 80)}`;
        await assertSilent(await callExample(nobodys, route, { ...example, body }), about);
      });
      await Promise.all(sent);
      if (!schema.consumes?.includes(FORM_TYPE)) continue;
      const form = new URLSearchParams({ ...(example.body as Record<string, string>), [field]: TEXT });
      const headers = { ...call.headers, 'content-type': FORM_TYPE };
      await assertSilent({ ...call, headers, body: form.toString() }, `${field} in a form`);
    }
    if (schema.body !== undefined) {
      for (const body of [`"${TEXT}"`, `["${TEXT}"]`, `{"x": "${TEXT}`, `{"x":"${TEXT}","x":"${TEXT}"}`, TEXT]) {
        await assertSilent({ ...call, body }, body);
      }
    }
    for (const field of fieldsOf(schema.querystring).filter((name) => !isShown(schema.operationId, name))) {
      for (const value of [TEXT, String(NUMBER), `${TEXT}\u0001`]) {
        const query = { ...example.query, [field]: value };
        await assertSilent(await callExample(nobodys, route, { ...example, query }), `${field}=${value}`);
      }
    }
    for (const authorization of [`Bearer ${TEXT}`, `Basic ${btoa(`${TEXT}:${TEXT}`)}`, TEXT]) {
      await assertSilent({ ...call, headers: { ...call.headers, authorization } }, authorization);
    }
  });
}

test('LG-06: the matrix above was refused more than five hundred times', () => {
  assert.ok(refused > 500, String(refused));
});

test('LG-06: a page never shows a password again, whatever is wrong with the form', async () => {
  const user = await newUser(server);
  const fresh = { displayName: 'Grace', username: 'grace', email: 'grace@example.com' };
  const wrong: readonly Readonly<Record<string, string>>[] = [
    { ...fresh, username: user.username, password: TEXT },
    { ...fresh, email: 'no address', password: TEXT },
    { ...fresh, displayName: '', password: TEXT },
    { ...fresh, password: TEXT.repeat(11) },
    { ...fresh, username: TEXT, password: TEXT },
  ];
  for (const [n, fields] of wrong.entries()) {
    const stranger = agent(server.baseUrl);
    const { status, text } = await stranger.submit(await stranger.get('/signup'), fields);
    assert.ok(status >= 400, `sign-up ${n}: ${status}`);
    const shown = text.replaceAll(`value="${TEXT}"`, n === 4 ? '' : '$&');
    assert.deepEqual(canaries.foundIn(shown), [], `sign-up ${n}`);
  }
  const browser = await signedIn(server, user);
  for (const fields of [
    { current: TEXT, password: 'a new passphrase' },
    { current: PASSWORD, password: TEXT.repeat(11) },
    { current: TEXT, password: TEXT },
  ]) {
    const { status, text } = await browser.submit(await browser.get('/account/security'), fields, '/account/password');
    assert.equal(status, 400);
    assert.deepEqual(canaries.foundIn(text), [], JSON.stringify(fields));
  }
});
