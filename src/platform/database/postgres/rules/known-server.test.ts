// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareServers, type RecoverySigns, type ServerIdentity, type Standing } from './known-server.ts';

const KNOWN: ServerIdentity = { cluster: '7', timeline: 2, database: '16384', relation: '17000', release: 15 };
const SILENT: RecoverySigns = { target: '', followed: false, history: undefined };
const promotion = (timeline: number) => `${timeline}\t0/3000000\tno recovery target specified\n`;
const recovery = (timeline: number) => `${timeline}\t0/3000000\tbefore 2030-01-31 12:00:00+00\n`;

const cases: [string, Partial<ServerIdentity>, Partial<RecoverySigns>, Standing['kind'], RegExp?][] = [
  ['the same server', {}, {}, 'same'],
  [
    'a server that keeps the target of a recovery that was dealt with',
    {},
    { target: 'recovery_target_xid = 9' },
    'same',
  ],
  ['a standby that took over', { timeline: 3 }, { followed: true, history: promotion(1) + promotion(2) }, 'promoted'],
  ['one whose history may not be read', { timeline: 3 }, { followed: true }, 'promoted'],
  ['one that was restarted since', { timeline: 3 }, { history: promotion(2) }, 'unclear'],
  ['a recovery of all that was archived', { timeline: 3 }, {}, 'unclear'],
  ['a recovery with a target', { timeline: 3 }, { target: 'recovery_target_xid = 9' }, 'earlier', /2.* 3, with .*_xid/],
  [
    'a recovery whose target is no longer set',
    { timeline: 3 },
    { history: recovery(2) },
    'earlier',
    /began before 2030/,
  ],
  ['one before a fail-over', { timeline: 4 }, { followed: true, history: recovery(2) + promotion(3) }, 'earlier'],
  [
    'a recovery before the record',
    { timeline: 3 },
    { followed: true, history: recovery(1) + promotion(2) },
    'promoted',
  ],
  ['a copy in another database', { database: '16999' }, {}, 'earlier', /tables/],
  ['a dump over the tables', { relation: '17999' }, {}, 'earlier', /tables/],
  ['a dump on another server', { cluster: '8', relation: '16400' }, {}, 'earlier', /server 7, and is on 8/],
  ['a dump on a newer server', { cluster: '8', relation: '16400', release: 16 }, {}, 'earlier'],
  ['an upgrade in place', { cluster: '8', timeline: 1, database: '5', release: 16 }, {}, 'upgraded'],
  ['tables alike on a server of the same release', { cluster: '8' }, {}, 'earlier'],
];
for (const [what, server, signs, kind, sign = /./] of cases) {
  test(`${what}: ${kind}`, () => {
    const standing = compareServers(KNOWN, { ...KNOWN, ...server }, { ...SILENT, ...signs });
    assert.equal(standing.kind, kind);
    if (standing.kind === 'earlier') assert.match(standing.sign, sign);
  });
}
