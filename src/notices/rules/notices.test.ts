import assert from 'node:assert/strict';
import { test } from 'node:test';
import { accountNotices, type LogoutNotice, type NotifiedClient, sessionNotices } from './notices.ts';

const client = (clientId: string, sid: string, sessionRequired = false): NotifiedClient => ({
  clientId,
  sid,
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
  ['one notice of all sessions of a person', accountNotices, [client('1', 'a'), client('1', 'b')], [['1', null]]],
  [
    'a notice of each session, where the client requires sid',
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
