import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Notice, type NotifiedClient, noticesOfAll, noticesOfSession } from './notices.ts';

const listener = (clientId: string, sid: string, sessionRequired = false): NotifiedClient => ({
  clientId,
  sid,
  sessionRequired,
});
const cases: [
  string,
  (listeners: readonly NotifiedClient[]) => readonly Notice[],
  NotifiedClient[],
  [string, string | null][],
][] = [
  ['nobody listens', noticesOfSession, [], []],
  [
    'a session is named',
    noticesOfSession,
    [listener('1', 'a'), listener('2', 'a', true)],
    [
      ['1', 'a'],
      ['2', 'a'],
    ],
  ],
  [
    'an app with several families is told once',
    noticesOfSession,
    [listener('1', 'a'), listener('1', 'a')],
    [['1', 'a']],
  ],
  ['all of a person’s sessions, in one notice', noticesOfAll, [listener('1', 'a'), listener('1', 'b')], [['1', null]]],
  [
    'each of them, where the session must be named',
    noticesOfAll,
    [listener('1', 'a', true), listener('1', 'b', true), listener('1', 'a', true), listener('2', 'a')],
    [
      ['1', 'a'],
      ['1', 'b'],
      ['2', null],
    ],
  ],
];
for (const [name, decide, listeners, expected] of cases) {
  test(`Back-Channel Logout §2.4: ${name}`, () => {
    assert.deepEqual(
      decide(listeners),
      expected.map(([clientId, sid]) => ({ clientId, sid })),
    );
  });
}
