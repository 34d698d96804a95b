// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Database, StoreUnavailable } from '../platform/database/database.ts';
import { createOriginLookup } from './origins.ts';

/** A database in which an origin is registered or not, or that is unavailable. */
function answering(answer: () => boolean): Pick<Database, 'read'> {
  return { read: async () => (answer() ? { origin: '' } : undefined) as never };
}

test('decisions §4: while the database is unavailable, a page that was allowed before can read the error', async () => {
  let answer = () => true;
  const isRegistered = createOriginLookup(answering(() => answer()));
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

test('RFC 6454 §6.2: anything but the origin of a web page is not looked up', async () => {
  const isRegistered = createOriginLookup(answering(() => assert.fail('looked up')));
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

test('AV-03: the last thousand allowed origins are cached', async () => {
  let isAway = false;
  const isRegistered = createOriginLookup(
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
