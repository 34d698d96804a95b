import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Database, StoreUnavailable } from '../database/database.ts';
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
