// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAY } from '../../../platform/clock.ts';
import type { PostgresFacts, SqliteFacts } from '../../../platform/database/inspection.ts';
import { VERSION } from '../../../platform/version.ts';
import { readConfig } from '../../../settings/config.ts';
import type { Finding } from '../finding.ts';
import type { ProbeResponse, ProbeResult } from '../http-probe.ts';
import type { Online } from '../online.ts';
import type { ProbeReport } from '../probe.ts';
import { judgeAddress } from './address.ts';
import { judgeClocks } from './clock.ts';
import { judgeConfiguration } from './configuration.ts';
import { judgeDatabase, othersWhoRead } from './database.ts';
import { judgeLog } from './log.ts';
import { judgeNodeNumbers } from './node-numbers.ts';
import { judgeProxies, MARKER } from './proxy.ts';
import { judgeProviders, judgeUpstreams } from './upstreams.ts';
import { judgeVersion } from './version.ts';

/** The worst of some findings, as `level: what was found → remedy`. */
function worst(findings: readonly Finding[]): string {
  const ordered = ['problem', 'warning', 'ok'].flatMap((level) => findings.filter((one) => one.level === level));
  const [first] = ordered;
  return first === undefined ? 'nothing' : `${first.level}: ${first.found}${first.remedy ? ` → ${first.remedy}` : ''}`;
}

const proxies: [string, Partial<ProbeReport>, RegExp][] = [
  ['none, and none trusted', {}, /^ok: There is no proxy/],
  ['none, and one trusted', { trustProxy: 1, address: MARKER }, /^problem: Callers can forge.*unset/],
  [
    'one, not trusted',
    { forwardedFor: `${MARKER}, 198.51.100.1` },
    /^problem: There is one proxy.*share.*10\.0\.0\.1\. → .*PROXY=1/,
  ],
  [
    'one, trusted',
    { trustProxy: 1, forwardedFor: `${MARKER}, 198.51.100.1`, address: '198.51.100.1' },
    /^ok: There is one proxy/,
  ],
  [
    'one that replaces the list, trusted',
    { trustProxy: 1, forwardedFor: '198.51.100.1', address: '198.51.100.1' },
    /^ok: There is one proxy/,
  ],
  [
    'two, one trusted',
    { trustProxy: 1, forwardedFor: `${MARKER}, 198.51.100.1, 10.0.0.2`, address: '10.0.0.2' },
    /^problem: There are 2 proxies.*seen as 10\.0\.0\.2.*came from 198\.51\.100\.1\. → .*PROXY=2/,
  ],
  [
    'one, two trusted',
    { trustProxy: 2, forwardedFor: `${MARKER}, 198.51.100.1`, address: MARKER },
    /^problem: Callers can forge.* → Set TESSERA_TRUST_PROXY=1/,
  ],
  [
    'one, named by its address',
    { trustProxy: '10.0.0.1', forwardedFor: `${MARKER}, 198.51.100.1`, address: '198.51.100.1' },
    /^ok: There is one proxy/,
  ],
  [
    'one, another one named',
    { trustProxy: '10.9.9.9', forwardedFor: `${MARKER}, 198.51.100.1` },
    /^problem: There is one proxy.*nearest is 10\.0\.0\.1/,
  ],
  [
    'one that writes ports, named by its address',
    { trustProxy: '10.0.0.1', forwardedFor: `${MARKER}, 198.51.100.1:4711`, address: '198.51.100.1' },
    /^warning: .*a port after the address in X-Forwarded-For: "198\.51\.100\.1:4711".* → Configure the proxy to write only the address/,
  ],
  [
    'one that writes ports, trusted',
    { trustProxy: 1, forwardedFor: `${MARKER}, [2001:db8::1]:4711`, address: '2001:db8::1' },
    /^warning: .*a port after the address in X-Forwarded-For: "\[2001:db8::1\]:4711"/,
  ],
  [
    'one that writes ports, not trusted',
    { forwardedFor: `${MARKER}, 198.51.100.1:4711` },
    /^problem: There is one proxy.*share.*10\.0\.0\.1\. → .*PROXY=1/,
  ],
  [
    'one that writes no address',
    { trustProxy: 1, forwardedFor: `${MARKER}, unknown`, address: null },
    /^warning: A proxy in front writes "unknown" in X-Forwarded-For, which is not an IP address/,
  ],
  [
    'one that writes no address, named by its address',
    { trustProxy: '10.0.0.1', forwardedFor: `${MARKER}, unknown`, address: null },
    /^warning: A proxy in front writes "unknown"/,
  ],
  ['one that removes the list', { forwardedFor: null }, /^problem: A proxy in front removes/],
  [
    'one that ends TLS and says nothing',
    { baseUrl: 'https://login.example.com' },
    /^problem: The proxy in front forwards .* as the caller wrote it/,
  ],
];
for (const [what, changes, expected] of proxies) {
  test(`X-Forwarded-For, proxies in front: ${what}`, () => {
    const seen: ProbeReport = {
      version: VERSION,
      log: { dropped: 0, lasts: false },
      now: 0,
      baseUrl: 'http://localhost:3000',
      trustProxy: false,
      address: '10.0.0.1',
      peer: '::ffff:10.0.0.1',
      host: 'localhost:3000',
      forwardedFor: MARKER,
      ...changes,
    };
    assert.match(worst(judgeProxies(readConfig({}), seen.baseUrl, seen, true)), expected);
  });
}

test('the version of the running service is compared with that of the command', () => {
  assert.match(worst(judgeVersion(undefined)), /^ok: This is Tessera \d/);
  assert.match(worst(judgeVersion({ version: VERSION })), /^ok: This and the running service are/);
  assert.match(worst(judgeVersion({ version: '99.0.0' })), /^warning: .*version 99\.0\.0\. → Restart/);
});

test('a number of trusted proxies on an address that callers can reach directly', () => {
  const at = (host: string, trust: string) =>
    worst(
      judgeProxies(
        readConfig({ TESSERA_HOST: host, TESSERA_TRUST_PROXY: trust }),
        'http://localhost',
        undefined,
        false,
      ),
    );
  assert.match(at('0.0.0.0', '1'), /^warning: .*callers that reach port 3000 without the proxy/);
  assert.equal(at('127.0.0.1', '1'), 'nothing');
  assert.equal(at('0.0.0.0', '10.0.0.1'), 'nothing');
});

const answer = (changes: Partial<ProbeResponse> = {}): ProbeResponse => ({
  kind: 'answer',
  status: 200,
  location: undefined,
  date: undefined,
  setCookies: [],
  text: '{"status":"ok"}',
  tls: undefined,
  ...changes,
});
const silence: ProbeResult = { kind: 'silence', reason: 'ECONNREFUSED' };

const addresses: [string, Partial<Online>, RegExp][] = [
  [
    'a certificate for 13 days',
    { live: answer({ tls: { trouble: undefined, validTo: 13.5 * DAY } }) },
    /^warning: .*only 13 more days/,
  ],
  ['a certificate for 14 days', { live: answer({ tls: { trouble: undefined, validTo: 14 * DAY } }) }, /^ok/],
  [
    'an expired certificate',
    { live: answer({ tls: { trouble: 'CERT_HAS_EXPIRED', validTo: -1 } }) },
    /^problem: .*CERT_HAS_EXPIRED/,
  ],
  ['nothing on http', { plain: silence }, /^ok/],
  ['http that is redirected', { plain: answer({ status: 308, location: 'https://a.example/health/live' }) }, /^ok/],
  [
    'http that is redirected elsewhere',
    { plain: answer({ status: 308, location: 'https://b.example/' }) },
    /^warning: http is not/,
  ],
  ['http that is served', { plain: answer() }, /^problem: http is not redirected/],
  [
    'a redirect of the base URL',
    { live: answer({ status: 301, location: 'https://b.example/' }) },
    /^problem: .*https:\/\/b\.example/,
  ],
  [
    'a start',
    { live: answer({ status: 503, text: '…The service is starting.…' }) },
    /^warning: The service is starting/,
  ],
  ['no database', { ready: answer({ status: 503 }) }, /^problem: The service is running but not ready/],
  [
    'another base URL',
    {
      seen: {
        version: VERSION,
        log: { dropped: 0, lasts: false },
        now: 0,
        baseUrl: 'https://b.example',
        trustProxy: 1,
        address: '',
        peer: '',
        host: null,
        forwardedFor: null,
      },
    },
    /^problem: .*runs with the base URL https:\/\/b\.example/,
  ],
];
for (const [what, changes, expected] of addresses) {
  test(`the base URL: ${what}`, () => {
    const online: Online = {
      baseUrl: 'https://a.example',
      unknownHost: undefined,
      live: answer(),
      plain: undefined,
      ready: answer(),
      seen: undefined,
      signIn: undefined,
      signInAgain: undefined,
      ahead: undefined,
      ...changes,
    };
    assert.match(worst(judgeAddress(online, 0)), expected);
  });
}

test('clocks: 5 s are ok, more is a warning, more than 30 s a problem, ahead and behind', () => {
  const levels = [5, 5.001, 30, 30.001].flatMap((seconds) =>
    [seconds, -seconds].map((ahead) => worst(judgeClocks([{ whose: 'x', ahead: ahead * 1000 }])).split(':')[0]),
  );
  assert.deepEqual(levels, ['ok', 'ok', 'warning', 'warning', 'warning', 'warning', 'problem', 'problem']);
  assert.match(worst(judgeClocks([{ whose: 'the database', ahead: -40_000 }])), /database is 40 s behind/);
});

const MIB = 1024 * 1024;
const files: [string, Partial<SqliteFacts>, RegExp][] = [
  ['well', {}, /^ok: .*intact, 10 MiB, 100 GiB free/],
  ['damaged', { damage: ['row 3 missing from index x'] }, /^problem: .*row 3 missing.* → .*restore a backup/],
  ['not writable', { writable: false }, /^problem: This user may not write/],
  ['on a network', { network: 'NFS' }, /^problem: .*NFS.* → .*PostgreSQL/],
  ['on a full disk', { free: 63 * MIB }, /^problem: Only 63 MiB are free/],
  ['on a disk that fills', { free: 500 * MIB }, /^warning: 500 MiB are free/],
  ['larger than what is free', { size: 4096 * MIB, free: 3072 * MIB }, /^warning: 3 GiB are free/],
  ['without a write-ahead log', { wal: false }, /^warning: .*no write-ahead log/],
  ['readable by all', { mode: 0o644, folderMode: 0o755 }, /^problem: .*all users.*chmod 600/],
  ['readable by its group', { mode: 0o640, folderMode: 0o750 }, /^warning: .*its group/],
];
for (const [what, changes, expected] of files) {
  test(`a SQLite file: ${what}`, () => {
    const facts: SqliteFacts = {
      kind: 'sqlite',
      journal: 0,
      mark: 'current',
      path: '/data/tessera.db',
      mode: 0o600,
      folderMode: 0o700,
      writable: true,
      size: 10 * MIB,
      free: 100 * 1024 * MIB,
      network: undefined,
      wal: true,
      damage: [],
      ...changes,
    };
    assert.match(worst(judgeDatabase({ kind: 'there', facts })), expected);
  });
}

test('a file in a folder without access is not readable by others', () => {
  assert.equal(othersWhoRead(0o644, 0o700), undefined);
  assert.equal(othersWhoRead(0o644, 0o710), 'its group');
  assert.equal(othersWhoRead(0o604, 0o701), 'all users');
});

const pair: Pick<PostgresFacts, 'hosts'> = {
  hosts: [
    { name: 'a:1', role: 'primary', timeline: 2, behind: undefined, reason: undefined },
    { name: 'b:1', role: 'standby', timeline: 2, behind: 0, reason: 'is a standby.' },
  ],
};
const servers: [string, Partial<PostgresFacts>, RegExp][] = [
  ['well', {}, /^ok: PostgreSQL 18\.4.*0\.4 ms.*6 nodes/],
  ['far away', { roundTrip: 42 }, /^warning: A round trip takes 42 ms/],
  ['room for one node', { maxConnections: 31, usedConnections: 1 }, /^warning: The server offers 31 connections/],
  ['hardly a connection left', { usedConnections: 82 }, /^warning: 82 of the 97 connections .* in use/],
  ['no connection left', { usedConnections: 96 }, /^problem: 96 of the 97 connections .* in use/],
  [
    'room for none',
    {
      tooFew: [{ found: 'The server offers 15 connections.', remedy: 'Raise it.' }],
      maxConnections: 15,
      usedConnections: 1,
    },
    /^problem: The server offers 15 connections/,
  ],
  [
    'through a pooler',
    { pooled: true, maxConnections: 15, usedConnections: 14 },
    /^ok: .*connections are not checked, because a pooler/,
  ],
  [
    'through a pooler, in the clear',
    { pooled: true, local: false, encrypted: false },
    /^warning: .*of the pooler.*server_tls_sslmode/,
  ],
  ['in the clear, on another machine', { local: false, encrypted: false }, /^warning: .*not encrypted.*sslmode/],
  [
    'that may lose what it acknowledged',
    { cautions: [{ found: 'fsync is off.', remedy: 'Turn it on.' }] },
    /^warning: fsync is off\. → Turn it on\./,
  ],
  ['a weaker synchronous_commit', { synchronousCommit: 'off' }, /^ok/],
  ['several hosts', { ...pair, standbyNames: '*', standbys: [{ name: 'b', state: 'streaming', sync: 'sync' }] }, /^ok/],
  ['several hosts, asynchronous', pair, /^warning: Commits wait for no standby .* revived.*No standby is connected/],
  [
    'a standby, asynchronous',
    { standbys: [{ name: 'b', state: 'streaming', sync: 'async' }] },
    /b \(async, streaming\)/,
  ],
  [
    'one host, with standbys',
    { standbyNames: '*', standbys: [{ name: 'b', state: 'streaming', sync: 'sync' }] },
    /^warning: TESSERA_DATABASE_URL has one host, .* up to a minute.* → Name the standbys, too/,
  ],
  [
    'several hosts, no synchronous standby',
    { ...pair, standbyNames: 'x' },
    /^problem: .*none that it names is connected/,
  ],
  [
    'several hosts, and a user who may not see',
    { ...pair, standbyNames: '*', standbys: [{ name: 'b', state: undefined, sync: undefined }] },
    /^warning: .*may not see.* → .*GRANT pg_monitor/,
  ],
  [
    'several hosts, one replaced',
    {
      ...{ standbyNames: '*', standbys: [{ name: 'b', state: 'streaming', sync: 'quorum' }] },
      hosts: [...pair.hosts, { name: 'c:1', role: 'other', timeline: 1, behind: undefined, reason: 'was replaced.' }],
    },
    /^warning: c:1 is not used: it was replaced\. → Start it as a standby/,
  ],
  ['in the clear, on this one', { local: true, encrypted: false }, /^ok/],
];
for (const [what, changes, expected] of servers) {
  test(`a PostgreSQL server: ${what}`, () => {
    const facts: PostgresFacts = {
      kind: 'postgres',
      pooled: false,
      release: '18.4',
      roundTrip: 0.42,
      maxConnections: 97,
      tooFew: [],
      usedConnections: 17,
      poolSize: 16,
      cautions: [],
      synchronousCommit: 'on',
      encrypted: true,
      local: false,
      clockAhead: 0,
      ...{ standbyNames: '', standbys: [], hosts: [], migrating: false },
      ...changes,
    };
    assert.match(worst(judgeDatabase({ kind: 'there', facts })), expected);
  });
}

test('a database that a start refuses: place, problem and remedy', () => {
  const problems = ['The database cannot be used: Nothing listens there. Start the server.'];
  const told = (place: string | undefined) => worst(judgeDatabase({ kind: 'unusable', place, problems }));
  assert.equal(
    told('db.example.com/tessera'),
    'problem: db.example.com/tessera: Nothing listens there. → Start the server.',
  );
  assert.equal(told(undefined), 'problem: Nothing listens there. → Start the server.');
});

test('settings that are valid but not suitable for production', () => {
  const judged = (settings: Readonly<Record<string, string>>, baseUrl = 'http://localhost:3000') =>
    worst(judgeConfiguration(readConfig(settings), baseUrl));
  assert.match(judged({}), /^ok: .*this machine only/);
  assert.match(judged({ TESSERA_ALLOW_HTTP: '1' }, 'http://10.0.0.1'), /^warning: .*unencrypted/);
  assert.match(judged({ TESSERA_LIMIT_CLIENT_AUTH: 'off' }), /^warning: .*secret of a client.*default 20\/m/);
  assert.match(judged({ TESSERA_LIMIT_ADMIN_KEY: 'off' }), /^warning: .*admin keys.*default 20\/m/);
  assert.match(judged({ TESSERA_LOG_LEVEL: 'silent' }), /^warning: .*not logged/);
  assert.match(judged({ TESSERA_LIMIT_USERINFO: 'off' }), /^ok/);
});

for (const [held, expected] of [
  [undefined, /^nothing$/],
  [1, /^ok: 1 of 1024 node numbers are leased/],
  [511, /^ok/],
  [512, /^warning: 512 of 1024 .* → Stop nodes .* crash repeatedly/],
  [899, /^warning/],
  [900, /^problem: 900 of 1024 .* → Stop nodes/],
] as const) {
  test(`node numbers: ${held}`, () => assert.match(worst(judgeNodeNumbers(held)), expected));
}

const losses: [string, Pick<ProbeReport, 'log'> | undefined, RegExp][] = [
  ['a service that was not asked', undefined, /^nothing/],
  ['nothing lost', { log: { dropped: 0, lasts: false } }, /^ok: .* every line/],
  ['one line lost', { log: { dropped: 1, lasts: false } }, /^warning: .* 1 line .*writes it again/],
  [
    'more being lost',
    { log: { dropped: 1200, lasts: true } },
    /^problem: .* cannot write .* 1,200 lines .* → Make room/,
  ],
];
for (const [about, seen, expected] of losses) {
  test(`the log of a service: ${about}`, () => assert.match(worst(judgeLog(seen)), expected));
}

test('upstreams: a provider that does not answer is a problem, and what one does not offer is not told', () => {
  const step = (of: string, level: 'ok' | 'warning' | 'problem') => ({ step: of, level, found: 'As it is.' });
  const levels = (...steps: ReturnType<typeof step>[]) =>
    judgeProviders([{ name: 'acme', steps }]).map(({ level }) => level);
  assert.deepEqual(judgeProviders(undefined), []);
  assert.deepEqual(judgeProviders([]), []);
  assert.deepEqual(levels(step('metadata', 'ok'), step('metadata', 'warning'), step('client', 'ok')), ['ok']);
  assert.deepEqual(levels(step('metadata', 'ok'), step('keys', 'problem'), step('client', 'warning')), [
    'problem',
    'warning',
  ]);
});

test('upstreams: a client secret that ends soon is told, and one that has ended is a problem', () => {
  const day = 24 * 60 * 60 * 1000;
  const now = Date.UTC(2026, 0, 1);
  const levels = (...ends: (number | null)[]) =>
    judgeUpstreams(
      ends.map((secretExpiresAt, at) => ({ name: `provider-${at}`, secretExpiresAt })),
      now,
    ).map(({ level, remedy }) => [level, /upstream update (\S+)/.exec(remedy ?? '')?.[1]]);
  assert.deepEqual(levels(), []);
  assert.deepEqual(levels(null, now + 31 * day), [['ok', undefined]]);
  assert.deepEqual(levels(now + 29 * day, null, now), [
    ['warning', 'provider-0'],
    ['problem', 'provider-2'],
  ]);
});
