// store: none
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import type { OutgoingRequest } from '../../platform/http/outgoing.ts';
import { ClientKeysUnreadable, createClientKeys } from './client-keys.ts';

const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const OPERATORS = { jwks: null, registeredBy: null, acceptedAt: null };
const STRANGERS = { jwks: null, registeredBy: 'open', acceptedAt: null } as const;
const NAMED = { alg: 'ES256', kid: 'one' } as const;
const body = Buffer.from(JSON.stringify({ keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'one' }] }));

test('AV-03: the last thousand fetched key sets are cached', async () => {
  const requested: string[] = [];
  const { find } = createClientKeys(
    async ({ url }) => {
      requested.push(url);
      return { status: 200, headers: {}, body };
    },
    () => 0,
    [],
  );
  const look = async (n: number): Promise<void> => {
    const found = await find({ ...OPERATORS, jwksUri: `https://a${n}.example.com/jwks` }, { alg: 'ES256', kid: 'one' });
    assert.equal(found?.kid, 'one');
  };
  for (let n = 0; n <= 1000; n++) await look(n);
  assert.equal(requested.length, 1001);
  for (const n of [1, 1000]) await look(n);
  assert.equal(requested.length, 1001, 'these are cached');
  await look(0);
  assert.equal(requested.length, 1002, 'the oldest was removed');
});

/** Key sets that are answered when the test says so. */
function heldSets(listed: readonly string[] = []) {
  const asked: OutgoingRequest[] = [];
  const release = Promise.withResolvers<void>();
  const { find } = createClientKeys(
    async (request) => {
      asked.push(request);
      await release.promise;
      return { status: 200, headers: {}, body };
    },
    () => 0,
    listed,
  );
  return { asked, release: () => release.resolve(), find };
}

test('decisions §15: for strangers two requests to a host and sixteen in all are under way at a time; the others are refused', async () => {
  const { asked, release, find } = heldSets();
  const uris = Array.from({ length: 60 }, (_, n) => `https://a${n % 12}.example.com/${n}`);
  const finds = uris.map((jwksUri) => find({ ...STRANGERS, jwksUri }, NAMED));
  const operators = uris.map((jwksUri) => find({ ...OPERATORS, jwksUri }, NAMED));
  assert.equal(asked.filter(({ publicOnly }) => publicOnly).length, 16);
  const hosts = Map.groupBy(
    asked.filter(({ publicOnly }) => publicOnly),
    ({ url }) => new URL(url).hostname,
  );
  assert.equal(Math.max(...[...hosts.values()].map(({ length }) => length)), 2);
  assert.equal(asked.filter(({ publicOnly }) => !publicOnly).length, 60, 'operators have no part in it');
  release();
  const results = await Promise.allSettled(finds);
  assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 16);
  for (const result of results) {
    if (result.status === 'rejected') assert.ok(result.reason instanceof ClientKeysUnreadable);
  }
  assert.equal((await Promise.all(operators)).length, 60);
  // A refusal for want of room is no failure of the host.
  assert.equal((await find({ ...STRANGERS, jwksUri: 'https://late.example.com/' }, NAMED))?.kid, 'one');
});

test('strangers cannot displace the key sets of operators’ apps, nor use those that only operators reach', async () => {
  const { asked, release, find } = heldSets();
  release();
  const jwksUri = 'https://inside.example.com/jwks';
  await find({ ...OPERATORS, jwksUri }, NAMED);
  for (let n = 0; n <= 1000; n++) await find({ ...STRANGERS, jwksUri: `https://a${n}.example.com/` }, NAMED);
  const before = asked.length;
  await find({ ...OPERATORS, jwksUri }, NAMED);
  assert.equal(asked.length, before);
  await find({ ...STRANGERS, jwksUri }, NAMED);
  assert.deepEqual([asked.length, asked.at(-1)?.publicOnly], [before + 1, true]);
});

test('a metadata document leads into the networks of operators only at a domain that they listed', async () => {
  const { asked, release, find } = heldSets(['.corp.example']);
  release();
  const byDocument = { jwks: null, registeredBy: 'metadata', acceptedAt: null } as const;
  for (const host of ['a.corp.example', 'corp.example.evil.example'])
    await find({ ...byDocument, jwksUri: `https://${host}/` }, NAMED);
  await find({ jwks: null, registeredBy: 'token', acceptedAt: 0, jwksUri: 'https://partner.example/' }, NAMED);
  assert.deepEqual(
    asked.map(({ publicOnly }) => publicOnly ?? false),
    [false, true, false],
  );
});

test('so does the app of a developer by the policy alone only once an operator has accepted it', async () => {
  const { asked, release, find } = heldSets();
  release();
  for (const acceptedAt of [null, 0]) {
    await find({ jwks: null, registeredBy: 'developer', acceptedAt, jwksUri: `https://${acceptedAt}.example/` }, NAMED);
  }
  assert.deepEqual(
    asked.map(({ publicOnly }) => publicOnly ?? false),
    [true, false],
  );
});
