// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parseIntoClientConfig } from 'pg-connection-string';
import { describeServers, readServerAddress, withoutPassword } from './server-address.ts';

/** The password p#/?@. */
const ENCODED = 'p%23%2F%3F%40';

const read = (url: string): readonly string[] | string => {
  const address = readServerAddress(url);
  return 'problem' in address ? address.problem : address.hosts.map(({ host, port, url }) => `${host} ${port} ${url}`);
};

const accepted: [string, readonly string[]][] = [
  ['postgres://u@a/db', ['a 5432 postgres://u@a/db']],
  ['postgres://u@a/db?target_session_attrs=any', ['a 5432 postgres://u@a/db?target_session_attrs=any']],
  ['postgresql://u:p@a:1,b/db', ['a 1 postgresql://u:p@a:1/db', 'b 5432 postgresql://u:p@b/db']],
  [
    'postgres://u:p%40,@[::1]:1,10.0.0.1:2/db?sslmode=verify-full&target_session_attrs=read-write',
    [
      '::1 1 postgres://u:p%40,@[::1]:1/db?sslmode=verify-full',
      '10.0.0.1 2 postgres://u:p%40,@10.0.0.1:2/db?sslmode=verify-full',
    ],
  ],
  [
    'postgres://u@/db?host=/run/a,b&port=1,2&target_session_attrs=primary',
    ['/run/a 1 postgres://u@localhost/db?host=%2Frun%2Fa&port=1', 'b 2 postgres://u@localhost/db?host=b&port=2'],
  ],
  ['postgres://u@x/db?host=a,b&port=7', ['a 7 postgres://u@x/db?host=a&port=7', 'b 7 postgres://u@x/db?host=b&port=7']],
  ['postgres://u@%2Frun%2Fa,b/db', ['/run/a 5432 postgres://u@%2Frun%2Fa/db', 'b 5432 postgres://u@b/db']],
  ['postgres:///db?host=/var/run/postgresql', ['/var/run/postgresql 5432 postgres:///db?host=/var/run/postgresql']],
  ['postgres://u:p@/db?host=/run/pg&port=1', ['/run/pg 1 postgres://u:p@localhost/db?host=%2Frun%2Fpg&port=1']],
  ['postgres://u:p@/db?host=a', ['a 5432 postgres://u:p@localhost/db?host=a']],
  ['postgres://%2Fvar%2Frun/db', ['/var/run 5432 postgres://%2Fvar%2Frun/db']],
  ['postgres://u:p@%2Fvar%2Frun/db', ['/var/run 5432 postgres://u:p@%2Fvar%2Frun/db']],
  [`postgres://u:${ENCODED}@a/db`, [`a 5432 postgres://u:${ENCODED}@a/db`]],
  ['postgres://u:p@x@a/db', ['a 5432 postgres://u:p@x@a/db']],
];
for (const [url, hosts] of accepted) test(`${url} names its hosts in order`, () => assert.deepEqual(read(url), hosts));

const refused: [string, RegExp][] = [
  ['mysql://a/db', /^must be sqlite:/],
  ['postgres://a,b', /^must be sqlite:/],
  ['postgres://a,b/', /^must be sqlite:/],
  ['postgres://u@a,/db', /^must name each host .* host 2 is not: ""/],
  ['postgres://u@,a/db', /^must name each host .* host 1 is not: ""/],
  ['postgres://u@a:x,b/db', /^must name each host .* host 1 is not: "a:x"/],
  ['postgres://u@a:1,b:65536/db', /host 2 is not: "b:65536"/],
  ['postgres://u@a:0,b/db', /host 1 is not: "a:0"/],
  ['postgres://u@a b,c/db', /host 1 is not: "a b"/],
  ['postgres://u@a:1,a:1/db', /^must name each host once, and has a:1 twice/],
  ['postgres://u@a,b/db?host=c', /^must name its hosts once/],
  ['postgres://u@a,b/db?port=1', /^must name its hosts once/],
  ['postgres://u@/db?host=a,b,c&port=1,2', /^must have one port for all hosts or one for each: port=1,2/],
  ['postgres://u@a,b/db?target_session_attrs=any', /^must have target_session_attrs=read-write or none, not "any"/],
  ['postgres://u@a/db?target_session_attrs=standby', /^must have .* not "standby": .* on the primary alone/],
  ['postgres://u@a,b/db?target_session_attrs=prefer-standby', /not "prefer-standby"/],
  ['postgres://u@a,b/db?target_session_attrs=read-only', /not "read-only"/],
  ['postgres://u@a,b/db?target_session_attrs=', /not ""/],
  ['postgres://u@a,b/db?load_balance_hosts=random', /^must not have load_balance_hosts=random/],
  ...['p#s', '1/s', 'p/s', 'p?s', '1?s/t', 'p@s/t', '#', '1#', '/'].map((password): [string, RegExp] => [
    `postgres://u:${password}@db.example.com:5432/db`,
    /^must have its user name and password percent-encoded, such as %23 for #/,
  ]),
  ['postgres://u@a/db?sslmode=on', /^must have sslmode=disable, require, verify-ca or verify-full, not "on"/],
];
for (const [url, problem] of refused) test(`${url} is refused`, () => assert.match(String(read(url)), problem));

/** What the driver makes of the encryption that an address asks for. */
function tlsOf(query: string): unknown {
  const address = readServerAddress(`postgres://u@a/db?${query}`);
  assert.ok('hosts' in address);
  const { ssl } = parseIntoClientConfig(address.hosts[0]?.url ?? '');
  if (typeof ssl !== 'object') return ssl;
  const { rejectUnauthorized = true, checkServerIdentity, ca } = ssl;
  return {
    certificate: rejectUnauthorized,
    name: rejectUnauthorized && checkServerIdentity === undefined,
    own: ca !== undefined,
  };
}

test('sslmode means what it means to libpq, and never less encryption', () => {
  const authorities = `sslrootcert=${encodeURIComponent(fileURLToPath(import.meta.url))}`;
  const unverified = { certificate: false, name: false, own: false };
  const full = { certificate: true, name: true, own: false };
  for (const [query, expected] of [
    ['', undefined],
    ['sslmode=disable', false],
    ...['allow', 'prefer', 'require', 'no-verify'].map((mode) => [`sslmode=${mode}`, unverified] as const),
    ['sslmode=verify-full', full],
    ['sslmode=verify-ca', full],
    ['sslrootcert=system', full],
    ['sslmode=require&sslrootcert=system', full],
    [`sslmode=require&${authorities}`, { certificate: true, name: false, own: true }],
    [`sslmode=verify-ca&${authorities}`, { certificate: true, name: false, own: true }],
    [`sslmode=verify-full&${authorities}`, { certificate: true, name: true, own: true }],
  ] as const) {
    assert.deepEqual(tlsOf(query), expected, query);
  }
});

test('an address is printed without its password', () => {
  assert.equal(withoutPassword('postgres://u:p@x,y@a:1,b:2/db?sslmode=x'), 'postgres://u@a:1,b:2/db?sslmode=x');
  assert.equal(withoutPassword('postgres://u@a/db?password=p'), 'postgres://u@a/db');
  assert.equal(withoutPassword('sqlite:/x?y'), 'sqlite:/x?y');
  assert.equal(describeServers('postgres://u:p@a,b:2/db?x=y'), 'a:5432,b:2/db');
});
