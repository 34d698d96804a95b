// store: none
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import { createClientKeys } from './client-keys.ts';

const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const body = Buffer.from(JSON.stringify({ keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'one' }] }));

test('AV-03: the last thousand fetched key sets are cached', async () => {
  const requested: string[] = [];
  const { find } = createClientKeys(
    async ({ url }) => {
      requested.push(url);
      return { status: 200, headers: {}, body };
    },
    () => 0,
  );
  const look = async (n: number): Promise<void> => {
    const found = await find({ jwks: null, jwksUri: `https://a${n}.example.com/jwks` }, { alg: 'ES256', kid: 'one' });
    assert.equal(found?.kid, 'one');
  };
  for (let n = 0; n <= 1000; n++) await look(n);
  assert.equal(requested.length, 1001);
  for (const n of [1, 1000]) await look(n);
  assert.equal(requested.length, 1001, 'these are cached');
  await look(0);
  assert.equal(requested.length, 1002, 'the oldest was removed');
});
