// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConfigError } from '../platform/config/config-error.ts';
import { readConfig } from './config.ts';

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

test('values that are handed over with a line end are read without it, as those in files', () => {
  const line = (text: string) => `${text}\r\n`;
  const key = 'q3Vb0Xk2Yt7Lr9Wn5Zs1Cd8Fg4Hj6Pm0Aa2Bb4Cc6Dd8E';
  const config = readConfig({ TESSERA_ADMIN_KEY: line(key), TESSERA_DATABASE_URL: line('postgres://u@a/db') });
  assert.deepEqual([config.adminKey, config.databaseUrl], [key, 'postgres://u@a/db']);
  const [secret, previous] = ['q3Vb0Xk2Yt7Lr9Wn5Zs1Cd8Fg4Hj6Pm0Aa2Bb4Cc6Dd8E', 'x'.repeat(43)];
  const given = readConfig({ TESSERA_SECRET: line(secret), TESSERA_SECRET_PREVIOUS: previous });
  assert.deepEqual([given.secret, given.previousSecret], [secret, previous]);
});

test('an IPv6 address to listen on may have the brackets of a URL', () => {
  for (const [host, expected] of [
    ['[::1]', '::1'],
    ['[::]', '::'],
    ['::1', '::1'],
    ['[localhost]', '[localhost]'],
  ] as const) {
    assert.equal(readConfig({ TESSERA_HOST: host }).host, expected);
  }
});

test('the variables of a Kubernetes Service named tessera are no settings', () => {
  const service = (prefix: string) => ({
    [`${prefix}SERVICE_HOST`]: '10.43.7.9',
    [`${prefix}SERVICE_PORT`]: '80',
    [`${prefix}SERVICE_PORT_HTTP`]: '80',
    [`${prefix}PORT`]: 'tcp://10.43.7.9:80',
    [`${prefix}PORT_80_TCP`]: 'tcp://10.43.7.9:80',
    [`${prefix}PORT_80_TCP_PROTO`]: 'tcp',
    [`${prefix}PORT_80_TCP_PORT`]: '80',
    [`${prefix}PORT_80_TCP_ADDR`]: '10.43.7.9',
  });
  assert.equal(readConfig({ ...service('TESSERA_'), ...service('TESSERA_POSTGRES_') }).port, 3000);
  assert.equal(readConfig({ ...service('TESSERA_'), TESSERA_PORT: '4000' }).port, 4000);
  for (const name of ['TESSERA_SERVICES_HOST', 'TESSERA_PORT_TCP', 'TESSERA_SMTP_PORT'])
    assert.throws(() => readConfig({ [name]: '80' }), new RegExp(`${name} is not a setting of Tessera`));
});
