// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatAdvice } from './developer-advice.ts';
import { explainUnregisteredUri, nearestUri } from './unregistered-uri.ts';

const REGISTERED = 'https://app.example.com/cb';

/** A URI that is sent, a registered one, how they differ, and whether they are two spellings of one URI. */
const pairs: readonly (readonly [string, string, string, boolean])[] = [
  ['https://app.example.com/cb/', REGISTERED, 'slash at the end', true],
  ['https://app.example.com/', 'https://app.example.com', 'slash at the end', true],
  ['https://app.example.com/CB', REGISTERED, 'letter case', true],
  ['HTTPS://APP.example.com/Cb/', REGISTERED, 'letter case, slash at the end', true],
  ['https://app.example.com/%63b', REGISTERED, 'percent-encoding', true],
  ['https%3A%2F%2Fapp.example.com%2Fcb', REGISTERED, 'percent-encoding', true],
  ['https://app.example.com/cb?', REGISTERED, 'query', true],
  ['https://app.example.com/cb#', REGISTERED, 'fragment', true],
  ['https://@app.example.com/cb', REGISTERED, 'user name', true],
  [' https://app.example.com/cb\n', REGISTERED, 'white space', true],
  ['https://app.example.com/c\u200bb', REGISTERED, 'white space', true],
  ['https://app.example.com:443/cb', REGISTERED, 'port', true],
  ['http://app.example.com/cb', REGISTERED, 'scheme', true],
  ['http://localhost:8080/cb', 'http://127.0.0.1:8080/cb', 'host', true],
  ['http://localhost:3000/cb', 'http://localhost:8080/cb', 'port', false],
  ['https://app.example.org/cb', REGISTERED, 'host', false],
  ['https://app.example.com/callback', REGISTERED, 'path', false],
  ['https://app.example.com/cb?x=1', REGISTERED, 'query', false],
  ['https://app.example.com/cb#x', REGISTERED, 'fragment', false],
  ['https://me@app.example.com/cb', REGISTERED, 'user name', false],
  ['https://evil.example/steal', REGISTERED, 'host, path', false],
  ['com.example.app:/cb', 'com.example.ape:/cb', 'scheme', false],
  ['/cb', REGISTERED, 'scheme, host', false],
  ['', REGISTERED, 'scheme, host, path', false],
];
for (const [sent, registered, differences, respelled] of pairs) {
  test(`${JSON.stringify(sent)} beside ${registered}: ${differences}`, () => {
    assert.deepEqual(nearestUri(sent, [registered]), { registered, differences: differences.split(', '), respelled });
  });
}

test('the closest of several URIs is the one that differs in the fewest parts', () => {
  const registered = ['https://other.example/x', 'http://app.example.com:81/cb', 'https://app.example.com/cb/x'];
  assert.equal(nearestUri('https://app.example.com/cb/y', registered)?.registered, 'https://app.example.com/cb/x');
  assert.equal(nearestUri('https://app.example.com:81/CB/', registered)?.registered, 'http://app.example.com:81/cb');
  assert.equal(nearestUri('https://app.example.com/cb', []), undefined);
});

const client = { id: '289236738748416000', name: 'Acme', type: 'confidential' } as const;
const explain = (sent: string, local: boolean, registered: readonly string[] = [REGISTERED]) =>
  explainUnregisteredUri(client, { name: 'redirect_uri', sent, registered, local });

test('decision 13: anyone may see a registered URI that differs only in spelling, and no other', () => {
  for (const [sent, registered, , respelled] of pairs) {
    const { nearest, differences } = explain(sent, false, [registered]);
    assert.equal(nearest?.registered, respelled ? registered : undefined, sent);
    assert.ok((differences?.length ?? 0) > 0, 'the log has them in any case');
    assert.equal(explain(sent, true, [registered]).nearest?.registered, registered);
  }
});

test('decision 13: only on the developer’s own machine the command registers the URI', () => {
  const sent = "https://app.example.com/it's?a=1&b=$(x)";
  const { command } = explain(sent, true);
  const quoted = `'https://app.example.com/it'\\''s?a=1&b=$(x)'`;
  assert.equal(command, `tessera client update ${client.id} --add-redirect-uri ${quoted}`);
  const line = formatAdvice(explain(sent, false));
  assert.ok(!line.includes('$(x)'), line);
  assert.match(line, /tessera client show 289236738748416000$/);
});

test('a URI that cannot be registered is explained, without a command that registers it', () => {
  for (const local of [true, false]) {
    const { remedy, command } = explain('http://app.example.org/cb', local);
    assert.match(remedy, /must use https/);
    assert.equal(command, `tessera client show ${client.id}`);
  }
});

test('a URI that is longer than any registered one is not compared', () => {
  assert.equal(explain(`https://app.example.com/${'/'.repeat(60_000)}x`, true).nearest, undefined);
});
