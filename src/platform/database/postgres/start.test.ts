// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requireRightToCreate } from './schema-rights.ts';
import {
  certificateWarnings,
  durabilityWarnings,
  explainConnectionError,
  requireDurableSettings,
  type ServerFacts,
  unsuitability,
} from './start.ts';

const good: ServerFacts = {
  version: '180004',
  release: '18.4',
  replica: false,
  readonly: 'off',
  fsync: 'on',
  fullPages: 'on',
  standbys: '',
  encoding: 'UTF8',
  ...{ user: 'tessera', path: '"$user", public', schema: 'public', creates: true },
  started: '1700000000.000001',
};
const cases: [string, ServerFacts | undefined, RegExp | undefined][] = [
  ['18', good, undefined],
  ['the first of 14', { ...good, version: '140000', release: '14.0' }, undefined],
  ['a version that is yet to come', { ...good, version: '260001', release: '26.1' }, undefined],
  [
    'the last of 13',
    { ...good, version: '130023', release: '13.23' },
    /PostgreSQL 13\.23; .* needs 14 or newer\. Upgrade/,
  ],
  ['9.6', { ...good, version: '90624', release: '9.6.24' }, /PostgreSQL 9\.6\.24; .* Upgrade/],
  ['a version that is no number', { ...good, version: 'x', release: 'x' }, /PostgreSQL x; /],
  ['a replica', { ...good, replica: true }, /is a replica.*Name the primary/],
  ['a read-only one', { ...good, readonly: 'on' }, /default_transaction_read_only is on.*Turn it off/],
  ['an old replica', { ...good, version: '130000', replica: true }, /Upgrade/],
  ['that it takes texts as they are', { ...good, encoding: 'SQL_ASCII' }, undefined],
  ['LATIN1', { ...good, encoding: 'LATIN1' }, /has the encoding LATIN1, .*ENCODING 'UTF8'/],
  ['EUC_JP', { ...good, encoding: 'EUC_JP' }, /has the encoding EUC_JP, /],
  [
    'no schema',
    { ...good, schema: null },
    /^The user tessera has no schema for its tables: .*search_path \("\$user", public\).*GRANT USAGE, CREATE ON SCHEMA public TO tessera; or create one: CREATE SCHEMA AUTHORIZATION tessera;$/,
  ],
  ['nothing', undefined, /does not say which it is/],
];
for (const [what, facts, reason] of cases) {
  test(`a server that says ${what} is ${reason === undefined ? 'taken' : 'refused'}`, () => {
    if (reason === undefined) assert.equal(unsuitability(facts), undefined);
    else assert.match(unsuitability(facts) ?? '', reason);
  });
}

test('what a loss of power may undo is told; where others are served, it is refused', () => {
  const told = (facts: ServerFacts) => durabilityWarnings(facts).map(({ found }) => found.split(' ', 1)[0]);
  assert.deepEqual(told(good), []);
  assert.deepEqual(told({ ...good, fsync: 'off' }), ['fsync']);
  assert.deepEqual(told({ ...good, fullPages: 'off' }), ['full_page_writes']);
  requireDurableSettings({ ...good, fullPages: 'off' });
  assert.throws(() => requireDurableSettings({ ...good, fsync: 'off' }), /Turn it on/);
});

const errors: [string, object, RegExp][] = [
  [
    'a server that requires TLS',
    { code: '28000', message: 'no pg_hba.conf entry for host "192.0.2.1", user "x", database "x", no encryption' },
    /not let this user in without encryption\. If it requires TLS, add sslmode=verify-full/,
  ],
  [
    'a socket that a user may not use',
    { code: '28000', message: 'pg_hba.conf rejects connection for host "[local]", user "x", no encryption' },
    /not let this user in\. Check user, database and address/,
  ],
  [
    'a certificate of another host',
    { code: 'ERR_TLS_CERT_ALTNAME_INVALID', message: "Host: db. is not in the cert's altnames: DNS:other" },
    /certificate is that of another host \(.*DNS:other\)\. Name the host in TESSERA_DATABASE_URL as the certificate does/,
  ],
  [
    'a certificate that nobody signed',
    { code: 'DEPTH_ZERO_SELF_SIGNED_CERT', message: 'self-signed certificate' },
    /is not trusted: self-signed certificate\. Name its authority .*sslrootcert=<file>/,
  ],
  [
    'the limit of a role',
    { code: '53300', routine: 'InitializeSessionUserId', message: 'zu viele Verbindungen' },
    /limit allows\. Raise it \(ALTER ROLE/,
  ],
  [
    'the limit of a database',
    { code: '53300', routine: 'CheckMyDatabase', message: 'zu viele Verbindungen' },
    /limit allows\. Raise it \(ALTER DATABASE/,
  ],
  ['the limit of the server', { code: '53300', routine: 'InitProcess', message: 'sorry' }, /Raise its max_connections/],
];
for (const [about, error, remedy] of errors) {
  test(`the remedy for ${about}`, () => {
    assert.match(String(explainConnectionError(Object.assign(new Error(), error))), remedy);
  });
}

test('an empty database is refused where its user may not create tables', () => {
  requireRightToCreate(good);
  assert.throws(
    () => requireRightToCreate({ ...good, creates: false }),
    /The user tessera may not create tables in the schema public\. Run as its owner: GRANT CREATE ON SCHEMA public TO tessera;$/,
  );
});

const modes: [string, boolean][] = [
  ['', false],
  ['?sslmode=disable', false],
  ['?sslmode=require', true],
  ['?sslmode=prefer', true],
  ['?sslmode=no-verify&sslrootcert=/ca.pem', true],
  ['?sslmode=require&sslrootcert=/ca.pem', false],
  ['?sslmode=require&host=/run/postgresql', false],
  ['?sslmode=verify-ca', false],
  ['?sslmode=verify-full', false],
];
for (const [query, told] of modes) {
  test(`an address with "${query}": that the certificate is not verified is ${told ? 'told' : 'no matter'}`, () => {
    const warnings = certificateWarnings(
      `postgres://tessera@db1.example.com:5432,db2.example.com:5432/tessera${query}`,
    );
    assert.deepEqual(
      warnings.map(({ remedy }) => /^Use sslmode=verify-full in TESSERA_DATABASE_URL/.test(remedy)),
      told ? [true] : [],
    );
  });
}
