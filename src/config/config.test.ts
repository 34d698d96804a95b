import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfig } from './config.ts';

test('a limit is its default, what is set, or off', () => {
  assert.deepEqual(readConfig({}).limits.token, { count: 3000, windowMs: 60_000 });
  assert.deepEqual(readConfig({ TESSERA_LIMIT_TOKEN: '5/s' }).limits.token, { count: 5, windowMs: 1000 });
  assert.equal(readConfig({ TESSERA_LIMIT_TOKEN: 'off' }).limits.token, null);
  assert.equal(readConfig({}).limits.userinfo, null);
});
