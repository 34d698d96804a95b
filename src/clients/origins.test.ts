import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Database, StoreUnavailable } from '../platform/database/database.ts';
import { registeredOrigins } from './origins.ts';

/** A database that answers this, or is away. */
function answering(answer: () => boolean): Pick<Database, 'read'> {
  return { read: async () => answer() as never };
}

test('decisions §4: where the store is away, a page that was let in before can read that it is', async () => {
  let answer = () => true;
  const isRegistered = registeredOrigins(answering(() => answer()));
  assert.equal(await isRegistered('https://spa.example.com'), true);
  answer = () => {
    throw new StoreUnavailable('away');
  };
  assert.equal(await isRegistered('https://spa.example.com'), true);
  assert.equal(await isRegistered('https://other.example.com'), false);
  answer = () => false;
  assert.equal(await isRegistered('https://spa.example.com'), false);
  answer = () => {
    throw new StoreUnavailable('away');
  };
  assert.equal(await isRegistered('https://spa.example.com'), false);
});

test('what is no origin of a web page is not looked up', async () => {
  const isRegistered = registeredOrigins(answering(() => assert.fail('looked up')));
  for (const origin of [
    'null',
    '',
    '*',
    'https://',
    'https://a.example/',
    'com.example:',
    `https://${'a'.repeat(300)}`,
  ]) {
    assert.equal(await isRegistered(origin), false, origin);
  }
});

test('AV-03: of the origins that were let in a thousand are remembered, the latest ones', async () => {
  let isAway = false;
  const isRegistered = registeredOrigins(
    answering(() => {
      if (isAway) throw new StoreUnavailable('away');
      return true;
    }),
  );
  const origin = (n: number) => `https://a${n}.example.com`;
  for (let n = 0; n <= 1000; n++) assert.equal(await isRegistered(origin(n)), true);
  isAway = true;
  assert.equal(await isRegistered(origin(0)), false);
  for (const n of [1, 1000]) assert.equal(await isRegistered(origin(n)), true, String(n));
});
