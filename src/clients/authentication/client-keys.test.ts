import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import { createClientKeys } from './client-keys.ts';

const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const body = Buffer.from(JSON.stringify({ keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'one' }] }));

test('AV-03: of the key sets that were fetched a thousand are kept, the latest ones', async () => {
  const asked: string[] = [];
  const { find } = createClientKeys(
    async ({ url }) => {
      asked.push(url);
      return { status: 200, headers: {}, body };
    },
    () => 0,
  );
  const look = async (n: number): Promise<void> => {
    const found = await find({ jwks: null, jwksUri: `https://a${n}.example.com/jwks` }, { alg: 'ES256', kid: 'one' });
    assert.equal(found?.kid, 'one');
  };
  for (let n = 0; n <= 1000; n++) await look(n);
  assert.equal(asked.length, 1001);
  for (const n of [1, 1000]) await look(n);
  assert.equal(asked.length, 1001, 'these are kept');
  await look(0);
  assert.equal(asked.length, 1002, 'the oldest was let go');
});
