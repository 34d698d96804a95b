import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addressBucket } from './address-bucket.ts';

// Decisions §9: an IPv4 address counts alone, an IPv6 one with its /64; one address has one bucket, however it is spelled.
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

test('a caller without an address shares the bucket of those whose address is none', () => {
  assert.equal(addressBucket(null), 'unknown');
});
