import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { after, before, describe, test } from 'node:test';
import { type ApiAnswer, call, codeBody, FORM_TYPE, JSON_TYPE, TOKEN } from '../support/api-call.ts';
import { newClient, type TestClient } from '../support/flow.ts';
import { startServer, type TestServer } from '../support/server.ts';

// The mistakes that developers of apps make, and the words that they need: what is wrong, and what to do.

let server: TestServer;
let client: TestClient;
before(async () => {
  server = await startServer({ TESSERA_LIMIT_CLIENT_AUTH: 'off' });
  client = await newClient(server);
});
after(() => server.close());

/** A mistake, and what the description of the answer must say: the cause first, then the remedy. */
type Mistake = readonly [name: string, make: () => Promise<string>, cause: RegExp, remedy: RegExp];

/** RFC 6749 §5.2 and RFC 6750 §3: the characters of a description. */
const DESCRIPTION = /^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/;

function described({ body, text }: ApiAnswer): string {
  const description = String(body?.error_description ?? text);
  assert.match(description, DESCRIPTION);
  return description;
}

function explained(mistakes: readonly Mistake[]): void {
  for (const [name, make, cause, remedy] of mistakes) {
    test(name, async () => {
      const description = await make();
      assert.match(description, cause);
      assert.match(description, remedy);
    });
  }
}

describe('bodies', () => {
  const post = async (body: string, type = JSON_TYPE): Promise<string> =>
    described(await call(server, 'POST', TOKEN, { ...(type !== '' && { 'content-type': type }) }, body));
  const json = () => JSON.stringify(codeBody(client, 'x'));
  const form = () => new URLSearchParams(codeBody(client, 'x')).toString();

  explained([
    ['a form as JSON', () => post(form()), /looks like a form/, /say application\/x-www-form-urlencoded/],
    ['JSON as a form', () => post(json(), FORM_TYPE), /is JSON/, /say application\/json/],
    ['JSON as text/plain', () => post(json(), 'text/plain'), /is text\/plain/, /reads application\/json or/],
    ['multipart', () => post('x', 'multipart/form-data; boundary=x'), /is multipart/, /send URLSearchParams/],
    ['no body', () => post(''), /body is empty/, /send the parameters/],
    ['a byte order mark', () => post(`\ufeff${json()}`), /line 1, column 1.*byte order mark/, /without a byte/],
    ['a trailing comma', () => post(`${json().slice(0, -1)},}`), /\} after a comma/, /Remove the comma/],
    ['single quotes', () => post(json().replaceAll('"', "'")), /column 2: .*single quote/, /double quotes/],
    ['cut off JSON', () => post(json().slice(0, -4)), /the end of the body/, /cut off/],
    ['an object as text', () => post('[object Object]'), /object Object/, /JSON\.stringify/],
    ['JSON encoded twice', () => post(JSON.stringify(json())), /is a string/, /encoded as JSON twice/],
    ['a number', () => post('{"grant_type":1}'), /grant_type must be a text.*is a number/, /double quotes/],
    ['an undefined', () => post('{"code": undefined}'), /the word undefined/, /true, false and null/],
  ]);

  test('no answer repeats a part of a body that could not be read', async () => {
    for (const body of ["{'client_secret':'tcs_hidden'}", '{"client_secret":tcs_hidden}', 'client_secret=tcs_hidden']) {
      assert.doesNotMatch(await post(body), /tcs_|hidden/);
    }
  });
});

test('outside a clone npx would fetch a stranger’s package: only the command line itself may suggest it', async () => {
  const sources = await readdir(new URL('../../src/', import.meta.url), { recursive: true });
  for (const file of sources.filter((name) => /\.(ts|js)$/.test(name) && !name.startsWith('cli/'))) {
    const text = await readFile(new URL(`../../src/${file}`, import.meta.url), 'utf8');
    assert.doesNotMatch(text, /\bnpx /, file);
  }
});
