// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addressBucket, deviceOf, networkOf } from './origin.ts';

const CHROME = 'AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36';
const devices = [
  [`Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${CHROME}`, 'Chrome', 'Windows'],
  [`Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${CHROME} Edg/141.0.0.0`, 'Microsoft Edge', 'Windows'],
  [
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 Version/18.0 Safari/605.1.15',
    'Safari',
    'macOS',
  ],
  ['Mozilla/5.0 (Android 15; Mobile; rv:140.0) Gecko/140.0 Firefox/140.0', 'Firefox', 'Android'],
  ['curl/8.5.0', null, null],
  [`Mozilla/5.0 ${'('.repeat(20_000)}`, null, null],
  ['', null, null],
  [undefined, null, null],
] as const;
for (const [userAgent, browser, system] of devices) {
  test(`${userAgent?.slice(0, 60)} is ${browser} on ${system}`, () => {
    assert.deepEqual(deviceOf(userAgent, null), { browser, system, network: null });
  });
}

test('a network is an address without the part that distinguishes homes', () => {
  for (const [address, network] of [
    ['203.0.113.7', '203.0.113.x'],
    ['::ffff:203.0.113.7', '203.0.113.x'],
    ['2001:db8:85a3:8d3:1319:8a2e:370:7348', '2001:db8:85a3:x'],
    ['2001:db8::1', '2001:db8:0:x'],
    ['::1', '0:0:0:x'],
    ['', null],
    ['unix', null],
  ] as const) {
    assert.equal(networkOf(addressBucket(address)), network, address);
  }
});
