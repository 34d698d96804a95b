// store: none
/** The checker finds what it is there to find of agents and devices: decisions §15. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { check, type Fault } from './checker.ts';
import type { Asked, Operation, RegisteredBy } from './history.ts';

type Line = readonly [start: number, end: number, asked: Asked, outcome?: string];

const history = (lines: readonly Line[]): Operation[] =>
  lines.map(([start, end, asked, outcome = 'ok'], number) => ({
    ...{ number, node: number % 2, start, end, outcome },
    ...asked,
  }));

const u = { user: 'u' };
const uc = { ...u, client: 'c' };
const GRANT = '400 invalid_grant';
const INVALID = '401 invalid_token';
const CLIENT = '401 invalid_client';
const PENDING = '400 authorization_pending';
const SHOWN = '400 displayed';

const signIn = (user: string, session: string): Asked => ({ kind: 'sign in', user, session });
const register = (by: RegisteredBy, client = 'c', host = 'app.example'): Asked => ({
  kind: 'register',
  ...{ client, by, host },
});
const look = (access = 'a1'): Asked => ({ kind: 'userinfo', at: 'oidc', access });
const refresh = (token = 'r1', to?: string): Asked => ({
  ...{ kind: 'refresh', at: 'oidc', token },
  ...(to !== undefined && { refresh: to, access: `a-${to}` }),
});
const redeem = (name?: string): Asked => ({
  ...{ kind: 'redeem', at: 'oidc', code: 'k' },
  ...(name !== undefined && { access: `a${name}`, refresh: `r${name}` }),
});
const authorize = (code?: string): Asked => ({
  ...{ kind: 'authorize', endpointSet: 'oidc', ...uc, session: 's' },
  ...(code !== undefined && { code }),
});
const remove: Asked = { kind: 'delete', client: 'c' };
const block = (host = 'app.example'): Asked => ({ kind: 'block', host });
const unblock: Asked = { kind: 'unblock', host: 'app.example' };
const revokeAll = (user = 'u', session = 's'): Asked => ({ kind: 'revoke all', user, session });

const poll = (name?: string, device = 'd'): Asked => ({
  ...{ kind: 'poll', at: 'oidc', device },
  ...(name !== undefined && { access: `a${name}`, refresh: `r${name}` }),
});
const answer = (decision: 'allow' | 'deny' = 'allow', user = 'u', session = 's', device = 'd'): Asked => ({
  ...{ kind: 'answer device', decision, device, client: 'c' },
  ...{ user, session, shown: { start: 3, end: 3.5 } },
});

/** An app that no operator registered signs a person in; all of that is over at 10. */
const agent = (by: RegisteredBy): readonly Line[] => [
  [-2, -1, register(by)],
  [0, 1, signIn('u', 's')],
  [2, 3, authorize(), 'consent'],
  [
    4,
    5,
    {
      ...{ kind: 'consent', endpointSet: 'oidc', ...uc, session: 's', code: 'k' },
      ...{ began: { start: 2, end: 3 }, shown: { start: 3, end: 4 } },
    },
  ],
  [6, 7, redeem('1')],
];

/** A device asks; nobody has answered it. */
const ASKED: readonly Line[] = [
  [-2, -1, register('device')],
  [0, 1, signIn('u', 's')],
  [0, 1, signIn('v', 't')],
  [1, 2, { kind: 'start device', client: 'c', device: 'd' }],
];
const ALLOWED: readonly Line[] = [...ASKED, [4, 5, answer()]];
const CONNECTED: readonly Line[] = [...ALLOWED, [6, 7, poll('1')]];

const sound: Readonly<Record<string, readonly Line[]>> = {
  'a device waits, is told to ask less often, and gets its tokens': [
    ...ASKED,
    [2, 3, poll(), PENDING],
    [3, 3.5, poll(), '400 slow_down'],
    [4, 5, answer()],
    [6, 7, poll('1')],
    [8, 9, look()],
    [10, 11, refresh('r1', 'r2')],
  ],
  'a device that is denied': [...ASKED, [4, 5, answer('deny')], [6, 7, poll(), '400 access_denied']],
  'beside the answer a poll may go either way': [
    ...ASKED,
    [4, 8, answer()],
    [5, 6, poll(), PENDING],
    [9, 10, poll('1')],
  ],
  'a second answer is told that it came too late': [...ALLOWED, [6, 7, answer('allow', 'v', 't'), '410 displayed']],
  'a denial that comes too late changes nothing': [
    ...ALLOWED,
    [6, 7, answer('deny', 'v', 't'), '410 displayed'],
    [8, 9, poll('1')],
  ],
  'a second poll ends what the first got': [...CONNECTED, [8, 9, poll(), GRANT], [10, 11, look(), INVALID]],
  'an answer by a person who is banned': [
    ...ASKED,
    [2, 3, { kind: 'ban', ...u }],
    [4, 5, answer(), 'not connected'],
    [6, 7, poll(), PENDING],
  ],
  'the client is deleted while a device asks': [...ASKED, [4, 9, remove], [5, 6, poll(), GRANT]],
  'an app that nobody registered asks each time': [...agent('document'), [10, 11, authorize(), 'consent']],
  'an app that deleted itself': [
    ...agent('itself'),
    [10, 11, remove],
    [12, 13, look(), INVALID],
    [14, 15, refresh(), CLIENT],
    [16, 17, authorize(), SHOWN],
    [18, 19, { kind: 'revoke', ...uc }, '404 not_found'],
  ],
  'the record of a document is deleted: it is unknown, and asks again': [
    ...agent('document'),
    [10, 11, remove],
    [12, 13, look(), INVALID],
    [14, 15, refresh(), CLIENT],
    [16, 17, authorize(), 'consent'],
  ],
  'the domain of a document is blocked and unblocked': [
    ...agent('document'),
    [10, 11, block()],
    [12, 13, refresh(), CLIENT],
    [14, 15, authorize(), SHOWN],
    [16, 17, unblock],
    [18, 19, refresh(), GRANT],
    [20, 21, look(), INVALID],
    [22, 23, authorize(), 'consent'],
  ],
  'the domain of an app that registered itself is blocked and unblocked': [
    ...agent('itself'),
    [10, 11, block()],
    [12, 13, unblock],
    [14, 15, refresh(), CLIENT],
    [16, 17, authorize(), SHOWN],
  ],
  'another domain is blocked': [...agent('document'), [10, 11, block('other.example')], [12, 13, look()]],
  'all access is taken away': [
    ...CONNECTED,
    [10, 11, revokeAll()],
    [12, 13, look(), '401 Access revoked by user'],
    [14, 15, refresh(), '400 Access revoked by user'],
  ],
};

const faulty: Readonly<Record<string, readonly [Fault, readonly Line[]]>> = {
  'tokens for a device that nobody has answered': [
    'accepted though dead',
    [...ASKED, [6, 7, poll('1')], [8, 9, answer()]],
  ],
  'tokens for a device that was denied': [
    'accepted though dead',
    [...ASKED, [4, 5, answer('deny')], [6, 7, poll('1')], [8, 20, answer('allow', 'v', 't'), 'no answer: cut']],
  ],
  'tokens for a device whose person took the access away': [
    'accepted though dead',
    [...ALLOWED, [6, 7, { kind: 'revoke', ...uc }], [8, 9, poll('1')]],
  ],
  'tokens for a device whose person was banned': [
    'accepted though dead',
    [...ALLOWED, [6, 7, { kind: 'ban', ...u }], [8, 9, poll('1')]],
  ],
  'tokens for a device whose client was disabled for a moment': [
    'accepted though dead',
    [
      ...ALLOWED,
      [6, 7, { kind: 'disable', client: 'c' }],
      [8, 9, { kind: 'enable', client: 'c' }],
      [10, 11, poll('1')],
    ],
  ],
  'an answer in a session that was ended': [
    'accepted though dead',
    [...ASKED, [2, 3, { kind: 'sign out everywhere', ...u }], [4, 5, answer()]],
  ],
  'a page of before a revocation, answered after it': [
    'accepted though dead',
    [
      ...CONNECTED,
      [1, 2, { kind: 'start device', client: 'c', device: 'e' }],
      [8, 9, { kind: 'revoke', ...uc }],
      [10, 11, answer('allow', 'u', 's', 'e')],
    ],
  ],
  'a denial that is taken for a device which somebody has allowed': [
    'accepted though dead',
    [...ALLOWED, [6, 7, answer('deny', 'v', 't')]],
  ],
  'two people connect one device': ['answered twice', [...ALLOWED, [4, 6, answer('allow', 'v', 't')]]],
  'two polls that get tokens': ['redeemed twice', [...CONNECTED, [8, 9, poll('2')]]],
  'the tokens of a device after a second poll': [
    'accepted though dead',
    [...CONNECTED, [8, 9, poll(), GRANT], [10, 11, look()]],
  ],
  'a device that a person allowed, and that is told to wait': [
    'refused though alive',
    [...ALLOWED, [6, 7, poll(), PENDING]],
  ],
  'a device that waits, and is told that it was denied': [
    'wrong refusal',
    [...ASKED, [6, 7, poll(), '400 access_denied']],
  ],
  'a device that is told to wait after it was refused, and then gets tokens': [
    'alive again',
    [...ASKED, [4, 20, answer()], [6, 7, poll(), GRANT], [8, 9, poll('1')]],
  ],
  'an app of a document that asks nobody': ['accepted though dead', [...agent('document'), [10, 11, authorize('k2')]]],
  'an app that registered itself and asks nobody': [
    'accepted though dead',
    [...agent('itself'), [10, 11, authorize('k2')]],
  ],
  'UserInfo after an app deleted itself': [
    'accepted though dead',
    [...agent('itself'), [10, 11, remove], [12, 13, look()]],
  ],
  'a refresh after the record of a document was deleted': [
    'accepted though dead',
    [...agent('document'), [10, 11, remove], [12, 13, refresh('r1', 'r2')]],
  ],
  'UserInfo after the domain of a document was blocked': [
    'accepted though dead',
    [...agent('document'), [10, 11, block()], [12, 13, look()]],
  ],
  'UserInfo after the domain of a document was blocked for a moment': [
    'accepted though dead',
    [...agent('document'), [10, 11, block()], [12, 13, unblock], [14, 15, look()]],
  ],
  'a refresh after the domain of an app that registered itself was blocked for a moment': [
    'accepted though dead',
    [...agent('itself'), [10, 11, block()], [12, 13, unblock], [14, 15, refresh('r1', 'r2')]],
  ],
  'what the blocking of another domain has nothing to do with': [
    'refused though alive',
    [...agent('document'), [10, 11, block('other.example')], [12, 13, look(), INVALID]],
  ],
  'UserInfo after all access was taken away': [
    'accepted though dead',
    [...CONNECTED, [10, 11, revokeAll()], [12, 13, look()]],
  ],
  'a refresh of an agent after all access was taken away': [
    'accepted though dead',
    [...agent('itself'), [10, 11, revokeAll()], [12, 13, refresh('r1', 'r2')]],
  ],
  'access that another person took away': [
    'refused though alive',
    [...CONNECTED, [10, 11, revokeAll('v', 't')], [12, 13, look(), INVALID]],
  ],
};

for (const [name, lines] of Object.entries(sound)) {
  test(`sound: ${name}`, () => assert.deepEqual(check(history(lines)), []));
}

for (const [name, [fault, lines]] of Object.entries(faulty)) {
  test(`${fault}: ${name}`, () => {
    const found = new Set(check(history(lines)).map((violation) => violation.fault));
    assert.ok(found.has(fault), `found ${[...found]}`);
  });
}
