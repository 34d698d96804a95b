// store: none
import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { test } from 'node:test';
import { clientAddress, type TrustProxy } from './origin.ts';

const from = (forwarded: string | undefined) =>
  ({ headers: { ...(forwarded !== undefined && { 'x-forwarded-for': forwarded }) } }) as IncomingMessage;

const PROXIES = '10.0.0.1, 10.0.0.2,2001:db8:ffff::/48';
const CLIENT = '198.51.100.7';

const cases: readonly (readonly [string, TrustProxy, string | undefined, string | undefined, string | null])[] = [
  ['no proxy', false, CLIENT, undefined, CLIENT],
  ['no proxy, on a dual-stack socket', false, `::ffff:${CLIENT}`, undefined, CLIENT],
  ['no proxy is trusted', false, '10.0.0.1', CLIENT, '10.0.0.1'],
  ['the connection is closed', false, undefined, undefined, null],

  ['one proxy', 1, '10.0.0.1', CLIENT, CLIENT],
  ['one proxy, with a port', 1, '10.0.0.1', `${CLIENT}:4711`, CLIENT],
  ['one proxy, IPv6 in brackets', 1, '10.0.0.1', '[2001:DB8::1]', '2001:db8::1'],
  ['one proxy, IPv6 with a port', 1, '10.0.0.1', '[2001:DB8::1]:4711', '2001:db8::1'],
  ['one proxy, IPv6 with a zone and a port', 1, '10.0.0.1', '[fe80::1%eth0]:4711', 'fe80::1'],
  ['one proxy, mapped IPv4', 1, '10.0.0.1', `[::ffff:${CLIENT}]:4711`, CLIENT],
  ['one proxy, not an address', 1, '10.0.0.1', 'unknown', null],
  [
    'one proxy that appends something other than an address to what the client sent',
    1,
    '10.0.0.1',
    `${CLIENT}, unknown`,
    null,
  ],
  ['one proxy, only commas', 1, '10.0.0.1', ' , ,', '10.0.0.1'],
  ['one proxy that appends to what the client sent', 1, '10.0.0.1', `192.0.2.1:80, ${CLIENT}:4711`, CLIENT],
  ['two proxies', 2, '10.0.0.1', `192.0.2.1, ${CLIENT}:4711, 10.0.0.2:80`, CLIENT],
  [
    'two proxies, one of which appends something other than an address',
    2,
    '10.0.0.1',
    `192.0.2.1, ${CLIENT}, _internal`,
    CLIENT,
  ],

  ['known proxies', PROXIES, '10.0.0.1', `${CLIENT}, 10.0.0.2`, CLIENT],
  ['known proxies that append ports', PROXIES, '10.0.0.1', `192.0.2.1, ${CLIENT}:1, 10.0.0.2:4711`, CLIENT],
  ['known proxies over IPv6', PROXIES, '2001:db8:ffff::1', `${CLIENT}:1, [2001:db8:ffff::2]:4711`, CLIENT],
  ['known proxies on a dual-stack socket', PROXIES, '::ffff:10.0.0.1', `${CLIENT}, ::ffff:10.0.0.2`, CLIENT],
  ['a peer that is not a known proxy', PROXIES, CLIENT, '10.0.0.1, 192.0.2.1', CLIENT],
  // The first untrusted hop wrote everything to its left.
  ['a client that names a proxy', PROXIES, '10.0.0.1', `10.0.0.2, ${CLIENT}`, CLIENT],
  ['a client that names a proxy with a port', PROXIES, '10.0.0.1', `192.0.2.1, 10.0.0.2:80, ${CLIENT}:1`, CLIENT],
  ['a client that names a proxy in brackets', PROXIES, '10.0.0.1', `192.0.2.1, [10.0.0.2]:80, ${CLIENT}`, CLIENT],
  ['something other than an address is not trusted', PROXIES, '10.0.0.1', '192.0.2.1, 10.0.0.2:', null],
  ['a longer text that ends with a proxy', PROXIES, '10.0.0.1', '192.0.2.1, x10.0.0.2:80', null],
  ['every hop is a proxy', PROXIES, '10.0.0.1', '10.0.0.2:4711', '10.0.0.2'],
];
for (const [what, trust, peer, forwarded, expected] of cases) {
  test(`SE-08: the client's address: ${what}`, () => {
    const request = from(forwarded);
    assert.equal(clientAddress(trust)(request, peer), expected);
  });
}
