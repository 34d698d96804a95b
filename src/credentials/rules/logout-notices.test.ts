// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  accountNotices,
  type LogoutNotice,
  MAX_NAMED_SESSIONS,
  type NotifiedClient,
  sessionNotices,
} from './logout-notices.ts';

const client = (clientId: string, sid: string, sessionRequired = false, signedInAt = 0): NotifiedClient => ({
  clientId,
  sid,
  signedInAt,
  sessionRequired,
});
const cases: [
  string,
  (clients: readonly NotifiedClient[]) => readonly LogoutNotice[],
  NotifiedClient[],
  [string, string | null][],
][] = [
  ['no client', sessionNotices, [], []],
  [
    'a notice names the session',
    sessionNotices,
    [client('1', 'a'), client('2', 'a', true)],
    [
      ['1', 'a'],
      ['2', 'a'],
    ],
  ],
  ['one notice to a client with several families', sessionNotices, [client('1', 'a'), client('1', 'a')], [['1', 'a']]],
  [
    'one notice of all sessions of a person, where the client registered that it needs no sid',
    accountNotices,
    [client('1', 'a'), client('1', 'b')],
    [['1', null]],
  ],
  [
    'a notice of each session by default',
    accountNotices,
    [client('1', 'a', true), client('1', 'b', true), client('1', 'a', true), client('2', 'a')],
    [
      ['1', 'a'],
      ['1', 'b'],
      ['2', null],
    ],
  ],
];
for (const [name, decide, clients, expected] of cases) {
  test(`Back-Channel Logout §2.4: ${name}`, () => {
    assert.deepEqual(
      decide(clients),
      expected.map(([clientId, sid]) => ({ clientId, sid })),
    );
  });
}

test('decisions §10: the latest sessions of a person are named, and one notice covers the earlier ones', () => {
  const sessions = Array.from({ length: MAX_NAMED_SESSIONS + 2 }, (_, n) => client('1', `s${n}`, true, n));
  const sids = accountNotices(sessions).map(({ sid }) => sid);
  const latest = sessions.slice(2).map(({ sid }) => sid);
  assert.deepEqual(sids, [...latest.reverse(), null]);
  assert.equal(accountNotices(sessions.slice(2)).length, MAX_NAMED_SESSIONS);
});
