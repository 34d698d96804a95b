import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConfigError, readConfig } from './config.ts';

test('a limit is its default, what is set, or off', () => {
  assert.deepEqual(readConfig({}).limits.token, { count: 3000, windowMs: 60_000 });
  assert.deepEqual(readConfig({ TESSERA_LIMIT_TOKEN: '5/s' }).limits.token, { count: 5, windowMs: 1000 });
  assert.equal(readConfig({ TESSERA_LIMIT_TOKEN: 'off' }).limits.token, null);
  assert.equal(readConfig({}).limits.userinfo, null);
});

test('the bytes of pending requests are counted by the hour, for which each is kept', () => {
  const read = (value: string) => readConfig({ TESSERA_LIMIT_PENDING_BYTES_ADDRESS: value }).limits.pendingBytesAddress;
  assert.deepEqual(readConfig({}).limits.pendingBytesAddress, { count: 16 * 1024 * 1024, windowMs: 3_600_000 });
  assert.deepEqual(read('5000/h'), { count: 5000, windowMs: 3_600_000 });
  assert.equal(read('off'), null);
  for (const wrong of ['5000/m', '5000/s', '5000', '5KiB/h', '0/h']) {
    const problems = ['TESSERA_LIMIT_PENDING_BYTES_ADDRESS must be <bytes>/h, for example 16777216/h, or off.'];
    assert.throws(
      () => read(wrong),
      (error) => error instanceof ConfigError && error.problems.join() === problems.join(),
    );
  }
});
