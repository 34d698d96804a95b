import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { test } from 'node:test';
import type { TrustProxy } from '../config/config.ts';
import { callerAddress } from './caller-address.ts';

/** A request over a connection from a peer. */
const from = (peer: string | undefined, forwarded?: string) =>
  ({
    headers: { ...(forwarded !== undefined && { 'x-forwarded-for': forwarded }) },
    socket: { remoteAddress: peer },
  }) as unknown as IncomingMessage;

const PROXIES = '10.0.0.1, 10.0.0.2,2001:db8:ffff::/48';
const CALLER = '198.51.100.7';

const cases: readonly (readonly [string, TrustProxy, string | undefined, string | undefined, string | null])[] = [
  ['no proxy', false, CALLER, undefined, CALLER],
  ['no proxy, on a dual-stack socket', false, `::ffff:${CALLER}`, undefined, CALLER],
  ['no proxy is trusted', false, '10.0.0.1', CALLER, '10.0.0.1'],
  ['the connection is gone', false, undefined, undefined, null],

  ['one proxy', 1, '10.0.0.1', CALLER, CALLER],
  ['one proxy, with a port', 1, '10.0.0.1', `${CALLER}:4711`, CALLER],
  ['one proxy, IPv6 in brackets', 1, '10.0.0.1', '[2001:DB8::1]', '2001:db8::1'],
  ['one proxy, IPv6 with a port', 1, '10.0.0.1', '[2001:DB8::1]:4711', '2001:db8::1'],
  ['one proxy, IPv6 with a zone and a port', 1, '10.0.0.1', '[fe80::1%eth0]:4711', 'fe80::1'],
  ['one proxy, mapped IPv4', 1, '10.0.0.1', `[::ffff:${CALLER}]:4711`, CALLER],
  ['one proxy, no address', 1, '10.0.0.1', 'unknown', null],
  ['one proxy, which adds no address after what a caller wrote', 1, '10.0.0.1', `${CALLER}, unknown`, null],
  ['one proxy, nothing but commas', 1, '10.0.0.1', ' , ,', '10.0.0.1'],
  ['one proxy, after what a caller wrote', 1, '10.0.0.1', `192.0.2.1:80, ${CALLER}:4711`, CALLER],
  ['two proxies', 2, '10.0.0.1', `192.0.2.1, ${CALLER}:4711, 10.0.0.2:80`, CALLER],
  ['two proxies, of which one wrote no address', 2, '10.0.0.1', `192.0.2.1, ${CALLER}, _internal`, CALLER],

  ['known proxies', PROXIES, '10.0.0.1', `${CALLER}, 10.0.0.2`, CALLER],
  ['known proxies that write ports', PROXIES, '10.0.0.1', `192.0.2.1, ${CALLER}:1, 10.0.0.2:4711`, CALLER],
  ['known proxies over IPv6', PROXIES, '2001:db8:ffff::1', `${CALLER}:1, [2001:db8:ffff::2]:4711`, CALLER],
  ['known proxies on a dual-stack socket', PROXIES, '::ffff:10.0.0.1', `${CALLER}, ::ffff:10.0.0.2`, CALLER],
  ['a peer that is no known proxy', PROXIES, CALLER, '10.0.0.1, 192.0.2.1', CALLER],
  // Whatever stands to the left of the first untrusted hop was written by that hop.
  ['a caller that names a proxy', PROXIES, '10.0.0.1', `10.0.0.2, ${CALLER}`, CALLER],
  ['a caller that names a proxy with a port', PROXIES, '10.0.0.1', `192.0.2.1, 10.0.0.2:80, ${CALLER}:1`, CALLER],
  ['a caller that names a proxy in brackets', PROXIES, '10.0.0.1', `192.0.2.1, [10.0.0.2]:80, ${CALLER}`, CALLER],
  ['no address gains no trust', PROXIES, '10.0.0.1', '192.0.2.1, 10.0.0.2:', null],
  ['a longer text that ends like a proxy', PROXIES, '10.0.0.1', '192.0.2.1, x10.0.0.2:80', null],
  ['all are proxies', PROXIES, '10.0.0.1', '10.0.0.2:4711', '10.0.0.2'],
];
for (const [what, trust, peer, forwarded, expected] of cases) {
  test(`SE-08: the address of a caller: ${what}`, () => {
    assert.equal(callerAddress(trust)(from(peer, forwarded)), expected);
  });
}
