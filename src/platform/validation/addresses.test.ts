// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addressBucket, canonicalAddress, networkMatcher, parseForwardedEntry } from './origin.ts';

const canonical: readonly (readonly [string, string | undefined])[] = [
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['::FFFF:c000:201', '192.0.2.1'],
  ['0:0:0:0:0:ffff:192.0.2.1', '192.0.2.1'],
  ['2001:0DB8:0:0::1', '2001:db8::1'],
  ['fe80::1%eth0', 'fe80::1'],
  ['fe80::1%<script>', 'fe80::1'],
  ['::', '::'],
  ['', undefined],
  ['unknown', undefined],
  ['192.0.2.1%eth0', undefined],
  ['192.0.2.256', undefined],
  ['0192.0.2.1', undefined],
  ['3221225985', undefined],
  [' 192.0.2.1', undefined],
  ['2001:db8::1::2', undefined],
  ['[2001:db8::1]', undefined],
];
for (const [text, expected] of canonical) {
  test(`the canonical form of "${text}"`, () => assert.equal(canonicalAddress(text), expected));
}

const entries: readonly (readonly [string, string | undefined, boolean?])[] = [
  ['198.51.100.1', '198.51.100.1', false],
  ['198.51.100.1:4711', '198.51.100.1', true],
  ['2001:db8::1', '2001:db8::1', false],
  ['2001:db8::1:4711', '2001:db8::1:4711', false],
  ['[2001:db8::1]', '2001:db8::1', false],
  ['[2001:db8::1]:4711', '2001:db8::1', true],
  ['[fe80::1%12]:4711', 'fe80::1', true],
  ['[::ffff:198.51.100.1]:4711', '198.51.100.1', true],
  ['::ffff:198.51.100.1', '198.51.100.1', false],
  ['', undefined],
  ['unknown', undefined],
  ['_hidden', undefined],
  ['localhost:80', undefined],
  ['198.51.100.1:', undefined],
  ['198.51.100.1:http', undefined],
  ['198.51.100.1:123456', undefined],
  ['[2001:db8::1]4711', undefined],
  ['[2001:db8::1', undefined],
  ['[]:80', undefined],
  ['198.51.100.1, 198.51.100.2', undefined],
];
for (const [entry, address, hasPort] of entries) {
  test(`an entry of X-Forwarded-For: "${entry}"`, () =>
    assert.deepEqual(parseForwardedEntry(entry), address === undefined ? undefined : { address, hasPort }));
}

const networks: readonly (readonly [string, readonly string[], readonly string[]])[] = [
  ['10.0.0.1', ['10.0.0.1'], ['10.0.0.2', '::', '2001:db8::1']],
  ['10.0.0.0/8', ['10.0.0.1', '10.255.0.1'], ['11.0.0.1']],
  ['0.0.0.0/0', ['192.0.2.1'], ['2001:db8::1']],
  ['::/0', ['2001:db8::1'], ['192.0.2.1']],
  ['2001:DB8::/32', ['2001:db8::1'], ['2001:db9::1', '192.0.2.1']],
  ['::ffff:10.0.0.1', ['10.0.0.1'], ['10.0.0.2']],
  ['::ffff:10.0.0.0/104', ['10.1.2.3'], ['11.0.0.1']],
  ['::ffff:10.0.0.0/8', [], ['10.0.0.1', '192.0.2.1']],
];
for (const [network, inside, outside] of networks) {
  test(`addresses in ${network}`, () => {
    const matches = networkMatcher([network]);
    for (const address of inside) assert.equal(matches(address), true, address);
    for (const address of outside) assert.equal(matches(address), false, address);
  });
}

test('addresses in several networks; a text that is not an address is in none', () => {
  const matches = networkMatcher(['10.0.0.1', '2001:db8::/32']);
  for (const address of ['10.0.0.1', '2001:db8::7']) assert.equal(matches(address), true, address);
  for (const text of ['', 'unknown', '10.0.0.1:80', '[2001:db8::7]']) assert.equal(matches(text), false, text);
});

// Decisions §9: an IPv4 address counts alone, an IPv6 address with its /64, whatever its notation.
const buckets: Readonly<Record<string, readonly string[]>> = {
  '192.0.2.1': ['192.0.2.1', '::ffff:192.0.2.1', '::FFFF:192.0.2.1', '::ffff:c000:201', '0:0:0:0:0:ffff:c000:0201'],
  '192.0.2.2': ['192.0.2.2', '::ffff:c000:202'],
  '127.0.0.1': ['127.0.0.1', '::ffff:127.0.0.1', '::ffff:7f00:1'],
  '2001:db8:1:2::/64': [
    '2001:db8:1:2::',
    '2001:db8:1:2::1',
    '2001:DB8:1:2:FFFF:FFFF:FFFF:FFFF',
    '2001:0db8:0001:0002:0000:0000:0000:0001',
    '2001:db8:1:2:0:0:192.0.2.1',
    '2001:db8:1:2::1%eth0',
  ],
  '2001:db8:1:3::/64': ['2001:db8:1:3::1'],
  '2001:db8:0:0::/64': ['2001:db8::', '2001:db8::1', '2001:db8:0:0:1::'],
  '2001:0:0:1::/64': ['2001:0:0:1::', '2001::1:0:0:0:0'],
  '0:0:0:0::/64': ['::', '::1', '::fffe:c000:201'],
  'fe80:0:0:0::/64': ['fe80::1%lo', 'FE80::2'],
  unknown: ['', 'unknown', 'not an address', '192.0.2.1:4711', '192.0.2.999', '2001:db8::1::2', '%eth0'],
};

for (const [bucket, addresses] of Object.entries(buckets)) {
  test(`addresses in the bucket "${bucket}"`, () => {
    for (const address of addresses) assert.equal(addressBucket(address), bucket, address);
  });
}

test('a request without an address shares the bucket of invalid addresses', () => {
  assert.equal(addressBucket(null), 'unknown');
});
