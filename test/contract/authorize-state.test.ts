// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { agent } from '../support/agent.ts';
import { anyText } from '../support/any-text.ts';
import { authorizeUrl, claimsOf, newClient, newUser, redeem, signedIn, walk } from '../support/flow.ts';
import { codeOf, countRows, parametersOf, query } from '../support/outcome.ts';
import { startServer } from '../support/server.ts';

// Contract §4.1, AZ-07: `state` comes back unchanged and `nonce` reaches the ID token unchanged, for any content.

const server = await startServer();
after(() => server.close());
const client = await newClient(server);
const user = await newUser(server);
const browser = await signedIn(server, user);
await walk(browser, authorizeUrl(client));

const ASCII = String.fromCharCode(...Array.from({ length: 0x7f - 0x20 }, (_, index) => 0x20 + index));
const states: Record<string, string> = {
  'every printable ASCII character': ASCII,
  '2,000 ASCII characters': 'aZ0-._~'.repeat(286).slice(0, 2000),
  '2,000 characters that all need encoding': '%&#+'.repeat(500),
  'text that looks encoded': '%41%2B%20%%25+%zz',
  'plus and space': 'a+b c%2Bd%20e',
  'parameters of its own': 'x&code=stolen&error=none#fragment?y=1;z=2',
  'CR and LF': 'a\r\nSet-Cookie: evil=1\r\n\r\n<html>',
  'control characters': '\0\x01\x1b[31m\x7f',
  'bidi controls': '\u202eevil\u202c\u2066x\u2069\u200f',
  'combining marks, unnormalised': 'e\u0301 é ﬁ Å K',
  'beyond the basic plane': '😀🏳️‍🌈𝔘𐍈',
  'byte order mark and noncharacters': '\ufeff\ufffe\uffff\u{10ffff}',
  markup: '<script>alert(1)</script>"\'`',
  JSON: '{"a":[1,null,"\\u0000"]}',
  'one space': ' ',
  'a zero': '0',
};

for (const [name, state] of Object.entries(states)) {
  test(`AZ-07: state comes back unchanged: ${name}`, async () => {
    const success = parametersOf((await browser.get(authorizeUrl(client, { state }))).location);
    assert.deepEqual(Object.keys(success), ['code', 'state', 'iss']);
    assert.equal(success['state'], state);
    const failure = parametersOf((await browser.get(authorizeUrl(client, { state, scope: 'bogus' }))).location);
    assert.deepEqual(Object.keys(failure), ['error', 'error_description', 'state', 'iss']);
    assert.equal(failure['state'], state);
  });

  test(`AZ-07: nonce reaches the ID token unchanged: ${name}`, async () => {
    const nonce = state.slice(0, 500);
    const code = codeOf(await browser.get(authorizeUrl(client, { nonce })));
    const tokens = await redeem(server, client, code);
    assert.equal(claimsOf(tokens.body.id_token).nonce, nonce);
  });
}

test('AZ-07: any text of Unicode comes back as state, by way of the pages too', async () => {
  await fc.assert(
    fc.asyncProperty(anyText({ minLength: 1, maxLength: 300 }), async (state) => {
      assert.equal(parametersOf((await browser.get(authorizeUrl(client, { state }))).location)['state'], state);
    }),
    { numRuns: 200, seed: 20261120 },
  );
  for (const state of Object.values(states)) {
    const location = await walk(browser, authorizeUrl(client, { state, prompt: 'consent' }));
    assert.equal(parametersOf(location)['state'], state);
    const denied = await walk(browser, authorizeUrl(client, { state, prompt: 'consent' }), { decision: 'deny' });
    assert.equal(parametersOf(denied)['state'], state);
  }
});

test('AZ-07: any text of Unicode reaches the ID token as nonce', async () => {
  await fc.assert(
    fc.asyncProperty(anyText({ minLength: 64, maxLength: 300 }), async (nonce) => {
      const { body } = await redeem(server, client, codeOf(await browser.get(authorizeUrl(client, { nonce }))));
      assert.equal(claimsOf(body.id_token).nonce, nonce);
    }),
    { numRuns: 60, seed: 20261120 },
  );
});

test('AZ-07: no page shows state or nonce', async () => {
  const secret = { state: 'state-that-stays-unseen', nonce: 'nonce-that-stays-unseen' };
  const cold = agent(server.baseUrl);
  const toLogin = await cold.get(authorizeUrl(client, { ...secret, prompt: 'consent' }));
  assert.doesNotMatch(toLogin.location?.href ?? '', /unseen/);
  const login = await cold.get(toLogin.location?.href ?? '');
  const toConsent = await cold.submit(login, { identifier: user.username, password: 'correct horse battery' });
  const consent = await cold.get(toConsent.location?.href ?? '');
  assert.match(consent.text, /action="\/consent"/);
  for (const page of [login, consent]) assert.doesNotMatch(page.text, /unseen/);
  assert.ok((await countRows(server, 'audit_event')) > 0);
  const events = await query(server, "SELECT * FROM audit_event WHERE details LIKE '%unseen%'");
  assert.deepEqual(events, []);
});
