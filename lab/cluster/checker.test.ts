// store: none
/** The checker finds what it is there to find: a sound history, and the same with one thing changed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { check, type Fault } from './checker.ts';
import { ended, Switch } from './facts.ts';
import type { Asked, EndpointSet, Moment, Operation } from './history.ts';

type Line = readonly [start: number, end: number, asked: Asked, outcome?: string];

const history = (lines: readonly Line[]): Operation[] =>
  lines.map(([start, end, asked, outcome = 'ok'], number) => ({
    number,
    node: number % 2,
    start,
    end,
    outcome,
    ...asked,
  }));

const u = { user: 'u' };
const uc = { ...u, client: 'c' };
const endpointSet = 'v2';
const look = (access = 'a1', at: EndpointSet = endpointSet): Asked => ({ kind: 'userinfo', at, access });
const refresh = (token: string, to?: string, access = `a-${token}`, at: EndpointSet = endpointSet): Asked => ({
  ...{ kind: 'refresh', at, token },
  ...(to !== undefined && { refresh: to, access }),
});
const redeem = (name?: string, at: EndpointSet = endpointSet): Asked => ({
  ...{ kind: 'redeem', at, code: 'k' },
  ...(name !== undefined && { access: `a${name}`, refresh: `r${name}` }),
});

/** A consent form of the page that was shown at this moment. */
const form = (shown: Moment, code?: string): Asked => ({
  ...{ kind: 'consent', endpointSet, ...uc, session: 's', began: { start: 0, end: 1 }, shown },
  ...(code !== undefined && { code }),
});

/** A user signs in and consents, and the code is redeemed; all of that is over at 10. */
const begun = (endpointSet: EndpointSet): readonly Line[] => [
  [0, 1, { kind: 'sign in', ...u, session: 's' }],
  [2, 3, { kind: 'authorize', endpointSet, ...uc, session: 's' }, 'consent'],
  [
    4,
    5,
    {
      kind: 'consent',
      endpointSet,
      ...uc,
      session: 's',
      began: { start: 2, end: 3 },
      shown: { start: 3, end: 4 },
      code: 'k',
    },
  ],
];
const BEGINNING = begun('v2');
const REDEEMED: readonly Line[] = [...BEGINNING, [6, 7, redeem('1')]];
/** The same at the OIDC endpoints. */
const OF_STANDARD: readonly Line[] = [...begun('oidc'), [6, 7, redeem('1', 'oidc')]];

const INVALID = '401 invalid_token';
const GRANT = '400 invalid_grant';
const BANNED = '403 Account banned';
const SUSPENDED = '403 Account is suspended';
const REVOKED = '403 Access revoked by user';

const sound: Readonly<Record<string, readonly Line[]>> = {
  'a sign-in during which the account is suspended and reinstated': [
    [0, 9, { kind: 'sign in', ...u }, '409 displayed'],
    [2, 3, { kind: 'suspend', ...u }],
    [4, 5, { kind: 'reinstate', ...u }],
  ],
  'tokens that live are accepted': [
    ...REDEEMED,
    [10, 11, look()],
    [12, 13, refresh('r1', 'r2')],
    [14, 15, look('a-r1')],
  ],
  'beside a ban either answer is right': [
    ...REDEEMED,
    [10, 20, { kind: 'ban', ...u }],
    [11, 12, look()],
    [13, 14, look(), BANNED],
    [21, 22, look(), BANNED],
  ],
  'a consent page from before a revocation is shown again': [
    ...BEGINNING,
    [10, 11, { kind: 'revoke', ...uc }],
    [12, 13, form({ start: 8, end: 9 }), '409 displayed'],
    [14, 15, form({ start: 8, end: 9 }), '409 displayed'],
  ],
  'after a consent page that is shown again the session is used as before': [
    ...BEGINNING,
    [10, 11, { kind: 'revoke', ...uc }],
    [12, 13, form({ start: 8, end: 9 }), '409 displayed'],
    [14, 15, form({ start: 13, end: 14 }, 'k2')],
    [16, 17, { kind: 'authorize', endpointSet, ...uc, session: 's', code: 'k3' }],
  ],
  'a consent page from after a revocation is answered': [
    ...BEGINNING,
    [10, 11, { kind: 'revoke', ...uc }],
    [14, 15, form({ start: 12, end: 13 }, 'k2')],
  ],
  'a consent page beside a revocation goes either way': [
    ...BEGINNING,
    [10, 20, { kind: 'revoke', ...uc }],
    [12, 13, form({ start: 8, end: 9 }, 'k2')],
    [14, 15, form({ start: 8, end: 9 }), '409 displayed'],
  ],
  'a consent page that a revocation of nothing came after': [
    BEGINNING[0] as Line,
    [2, 3, { kind: 'revoke', ...uc }],
    [4, 5, form({ start: 1, end: 2 }, 'k')],
  ],
  'a consent page from before a revocation, where another consent came after it': [
    ...BEGINNING,
    [10, 11, { kind: 'revoke', ...uc }],
    [14, 15, form({ start: 12, end: 13 }, 'k2')],
    [16, 17, form({ start: 8, end: 9 }, 'k3')],
  ],
  'after a ban has ended, what is from before is invalid': [
    ...REDEEMED,
    [10, 11, { kind: 'ban', ...u }],
    [12, 13, look(), BANNED],
    [14, 15, { kind: 'unban', ...u }],
    [16, 17, look(), INVALID],
    [18, 19, refresh('r1'), GRANT],
    [20, 21, { kind: 'authorize', endpointSet, ...uc, session: 's' }, 'login'],
    [22, 23, { kind: 'sign in', ...u, session: 's2' }],
    [24, 25, { kind: 'authorize', endpointSet, ...uc, session: 's2', code: 'k2' }],
  ],
  'the order of the verdict: banned before suspended before revoked': [
    ...REDEEMED,
    [10, 11, { kind: 'revoke', ...uc }],
    [12, 13, look(), REVOKED],
    [14, 15, { kind: 'suspend', ...u }],
    [16, 17, look(), SUSPENDED],
    [18, 19, { kind: 'ban', ...u }],
    [20, 21, look(), BANNED],
    [22, 23, { kind: 'unban', ...u }],
    [24, 25, { kind: 'reinstate', ...u }],
    [26, 27, look(), REVOKED],
  ],
  'a disabled client cannot authenticate, and its tokens stay invalid': [
    ...REDEEMED,
    [10, 11, { kind: 'disable', client: 'c' }],
    [12, 13, look(), INVALID],
    [14, 15, refresh('r1'), '401 invalid_client'],
    [16, 17, { kind: 'authorize', endpointSet, ...uc, session: 's' }, '400 displayed'],
    [18, 19, { kind: 'enable', client: 'c' }],
    [20, 21, refresh('r1'), GRANT],
    [22, 23, { kind: 'authorize', endpointSet, ...uc, session: 's', code: 'k2' }],
  ],
  'parallel refreshes carry one successor, also as a retry': [
    ...REDEEMED,
    [10, 14, refresh('r1', 'r2', 'a2')],
    [11, 15, refresh('r1', 'r2', 'a3')],
    [16, 17, refresh('r1', 'r2', 'a4')],
  ],
  'parallel redemptions: one answers, and its tokens are dead': [
    ...BEGINNING,
    [6, 12, redeem('1')],
    [7, 13, redeem(), GRANT],
    [14, 15, look(), INVALID],
    [16, 17, refresh('r1'), GRANT],
  ],
  'reuse after the successor was used ends the family': [
    ...REDEEMED,
    [10, 11, refresh('r1', 'r2')],
    [12, 13, refresh('r2', 'r3')],
    [14, 15, refresh('r1'), GRANT],
    [16, 17, refresh('r3'), GRANT],
    [18, 19, look(), INVALID],
  ],
  'a retry after the grace ends the family': [
    ...REDEEMED,
    [10, 11, refresh('r1', 'r2')],
    [31_000, 31_001, refresh('r1'), GRANT],
    [31_002, 31_003, refresh('r2'), GRANT],
  ],
  'what is presented at the other endpoints is refused, and unharmed': [
    ...BEGINNING,
    [6, 7, redeem(undefined, 'oidc'), GRANT],
    [8, 9, redeem('1')],
    [10, 11, redeem(undefined, 'oidc'), GRANT],
    [12, 13, refresh('r1', 'r2')],
    [14, 15, refresh('r2', 'r3')],
    [16, 17, refresh('r1', undefined, '', 'oidc'), GRANT],
    [18, 19, refresh('r3', 'r4')],
  ],
  'a contract token is accepted at the UserInfo of both sets of endpoints': [
    ...REDEEMED,
    [10, 11, look('a1', 'oidc')],
    [12, 13, look('a1', 'v2')],
  ],
  'a standard token is refused at the contract’s UserInfo, whatever happened': [
    ...OF_STANDARD,
    [10, 11, look('a1', 'v2'), INVALID],
    [12, 13, look('a1', 'oidc')],
    [14, 15, { kind: 'ban', ...u }],
    [16, 17, look('a1', 'v2'), INVALID],
    [18, 19, look('a1', 'oidc'), '401 Account banned'],
    [20, 21, refresh('r1', undefined, '', 'oidc'), '400 Account banned'],
  ],
  'access that is taken away is gone at both sets of endpoints, and the page comes on both': [
    ...REDEEMED,
    [10, 11, { kind: 'revoke', ...uc }],
    [12, 13, look('a1', 'oidc'), '401 Access revoked by user'],
    [14, 15, { kind: 'authorize', endpointSet: 'oidc', ...uc, session: 's' }, 'consent'],
    [16, 17, { kind: 'authorize', endpointSet, ...uc, session: 's' }, 'consent'],
  ],
  'a code dies after a minute': [...BEGINNING, [70_000, 70_001, redeem(), GRANT]],
};

const faulty: Readonly<Record<string, readonly [Fault, readonly Line[]]>> = {
  'UserInfo after a revocation': [
    'accepted though dead',
    [...REDEEMED, [10, 11, { kind: 'revoke', ...uc }], [12, 13, look()]],
  ],
  'UserInfo after a ban': ['accepted though dead', [...REDEEMED, [10, 11, { kind: 'ban', ...u }], [12, 13, look()]]],
  'refresh after a suspension': [
    'accepted though dead',
    [...REDEEMED, [10, 11, { kind: 'suspend', ...u }], [12, 13, refresh('r1', 'r2')]],
  ],
  'UserInfo after signing out everywhere': [
    'accepted though dead',
    [...REDEEMED, [10, 11, { kind: 'sign out everywhere', ...u }], [12, 13, look()]],
  ],
  'redemption after a new password': [
    'accepted though dead',
    [...BEGINNING, [10, 11, { kind: 'new password', ...u }], [12, 13, redeem('1')]],
  ],
  'a session after a new password': [
    'accepted though dead',
    [
      ...BEGINNING,
      [10, 11, { kind: 'new password', ...u }],
      [12, 13, { kind: 'authorize', endpointSet, ...uc, session: 's', code: 'k2' }],
    ],
  ],
  'a consent page from before a revocation, answered after it': [
    'accepted though dead',
    [...BEGINNING, [10, 11, { kind: 'revoke', ...uc }], [12, 13, form({ start: 8, end: 9 }, 'k2')]],
  ],
  'consent remembered after its revocation': [
    'accepted though dead',
    [
      ...BEGINNING,
      [10, 11, { kind: 'revoke', ...uc }],
      [12, 13, { kind: 'authorize', endpointSet, ...uc, session: 's', code: 'k2' }],
    ],
  ],
  'tokens from before a ban, after it': [
    'accepted though dead',
    [...REDEEMED, [10, 11, { kind: 'ban', ...u }], [12, 13, { kind: 'unban', ...u }], [14, 15, look()]],
  ],
  'tokens of a client that was disabled for a moment': [
    'accepted though dead',
    [
      ...REDEEMED,
      [10, 11, { kind: 'disable', client: 'c' }],
      [12, 13, { kind: 'enable', client: 'c' }],
      [14, 15, look()],
    ],
  ],
  'a token that a refresh beside a revocation gave': [
    'accepted though dead',
    [...REDEEMED, [10, 20, refresh('r1', 'r2')], [11, 12, { kind: 'revoke', ...uc }], [21, 22, look('a-r1')]],
  ],
  'UserInfo after a replay of the code': [
    'accepted though dead',
    [...REDEEMED, [10, 11, redeem(), GRANT], [12, 13, look()]],
  ],
  'UserInfo after the reuse of a refresh token': [
    'accepted though dead',
    [
      ...REDEEMED,
      [10, 11, refresh('r1', 'r2')],
      [12, 13, refresh('r2', 'r3')],
      [14, 15, refresh('r1'), GRANT],
      [16, 17, look()],
    ],
  ],
  'a retired token whose successor was used': [
    'accepted though dead',
    [...REDEEMED, [10, 11, refresh('r1', 'r2')], [12, 13, refresh('r2', 'r3')], [14, 15, refresh('r1', 'r2', 'a9')]],
  ],
  'a retired token after the grace': [
    'accepted though dead',
    [...REDEEMED, [10, 11, refresh('r1', 'r2')], [31_000, 31_001, refresh('r1', 'r2', 'a9')]],
  ],
  'an expired code': ['accepted though dead', [...BEGINNING, [70_000, 70_001, redeem('1')]]],
  'refused at one node, accepted later at another': [
    'alive again',
    [...REDEEMED, [10, 30, { kind: 'ban', ...u }], [11, 12, look(), BANNED], [13, 14, look()]],
  ],
  'a session that was refused, and accepted later': [
    'alive again',
    [
      ...BEGINNING,
      [10, 30, { kind: 'sign out everywhere', ...u }],
      [11, 12, { kind: 'authorize', endpointSet, ...uc, session: 's' }, 'login'],
      [13, 14, { kind: 'authorize', endpointSet, ...uc, session: 's', code: 'k2' }],
    ],
  ],
  'two redemptions side by side': ['redeemed twice', [...BEGINNING, [6, 12, redeem('1')], [7, 13, redeem('2')]]],
  'two redemptions, one after the other': ['redeemed twice', [...REDEEMED, [10, 11, redeem('2')]]],
  'two successors of one refresh token': [
    'forked family',
    [...REDEEMED, [10, 14, refresh('r1', 'r2', 'a2')], [11, 15, refresh('r1', 'r3', 'a3')]],
  ],
  'one successor of two refresh tokens': [
    'forked family',
    [...REDEEMED, [10, 11, refresh('r1', 'r2')], [12, 13, refresh('r2', 'r3')], [12, 13, refresh('r1', 'r3', 'a9')]],
  ],
  'a refresh that gives the same token again': ['forked family', [...REDEEMED, [10, 11, refresh('r1', 'r1')]]],
  'a living access token': ['refused though alive', [...REDEEMED, [10, 11, look(), INVALID]]],
  'a living refresh token': ['refused though alive', [...REDEEMED, [10, 11, refresh('r1'), GRANT]]],
  'a retry within the grace': [
    'refused though alive',
    [...REDEEMED, [10, 11, refresh('r1', 'r2')], [12, 13, refresh('r1'), GRANT]],
  ],
  'a fresh code': ['refused though alive', [...BEGINNING, [6, 7, redeem(), GRANT]]],
  'all of several parallel redemptions': [
    'refused though alive',
    [...BEGINNING, [6, 12, redeem(), GRANT], [7, 13, redeem(), GRANT]],
  ],
  'a remembered consent': [
    'refused though alive',
    [...BEGINNING, [10, 11, { kind: 'authorize', endpointSet, ...uc, session: 's' }, 'consent']],
  ],
  'what another person’s ban has nothing to do with': [
    'refused though alive',
    [...REDEEMED, [10, 11, { kind: 'ban', user: 'other' }], [12, 13, look(), BANNED]],
  ],
  'what the revocation of another app has nothing to do with': [
    'refused though alive',
    [...REDEEMED, [10, 11, { kind: 'revoke', ...u, client: 'other' }], [12, 13, look(), REVOKED]],
  ],
  'tokens of a consent that came after the revocation': [
    'refused though alive',
    [
      [0, 1, { kind: 'revoke', ...uc }],
      ...REDEEMED.map(([start, end, asked, outcome = 'ok']): Line => [start + 2, end + 2, shifted(asked), outcome]),
      [20, 21, look(), REVOKED],
    ],
  ],
  'a code that the other endpoints redeems': ['accepted though dead', [...BEGINNING, [6, 7, redeem('1', 'oidc')]]],
  'a refresh token that the other endpoints accept': [
    'accepted though dead',
    [...REDEEMED, [10, 11, refresh('r1', 'r2', 'a2', 'oidc')]],
  ],
  'a standard token at the contract’s UserInfo': ['accepted though dead', [...OF_STANDARD, [10, 11, look('a1', 'v2')]]],
  'a code that the other endpoints used up': [
    'refused though alive',
    [...BEGINNING, [6, 7, redeem(undefined, 'oidc'), GRANT], [8, 9, redeem(), GRANT]],
  ],
  'a family that the other endpoints ended': [
    'refused though alive',
    [...REDEEMED, [10, 11, refresh('r1', undefined, '', 'oidc'), GRANT], [12, 13, look(), INVALID]],
  ],
  'a standard token after a revocation': [
    'accepted though dead',
    [...OF_STANDARD, [10, 11, { kind: 'revoke', ...uc }], [12, 13, look('a1', 'oidc')]],
  ],
  'a ban that the OIDC endpoints report with the status of the v2 endpoints': [
    'wrong refusal',
    [...OF_STANDARD, [10, 11, { kind: 'ban', ...u }], [12, 13, look('a1', 'oidc'), BANNED]],
  ],
  'a consent of the other endpoints that answers a request': [
    'accepted though dead',
    [...REDEEMED, [10, 11, { kind: 'authorize', endpointSet: 'oidc', ...uc, session: 's', code: 'k2' }]],
  ],
  'a sign-in after the ban': [
    'refused though alive',
    [
      [0, 1, { kind: 'ban', ...u }],
      [2, 3, { kind: 'unban', ...u }],
      [4, 5, { kind: 'sign in', ...u }, BANNED],
    ],
  ],
  'a sign-in that is told of a change where there was none': [
    'refused though alive',
    [
      [0, 1, { kind: 'suspend', ...u }],
      [2, 3, { kind: 'reinstate', ...u }],
      [4, 5, { kind: 'sign in', ...u }, '409 displayed'],
    ],
  ],
  'a suspended account that is said to be banned': [
    'wrong refusal',
    [...REDEEMED, [10, 11, { kind: 'suspend', ...u }], [12, 13, look(), BANNED]],
  ],
  'a ban that is told as any invalid token': [
    'wrong refusal',
    [...REDEEMED, [10, 11, { kind: 'ban', ...u }], [12, 13, look(), INVALID]],
  ],
  'a revocation that is forgotten after a ban': [
    'wrong refusal',
    [
      ...REDEEMED,
      [10, 11, { kind: 'revoke', ...uc }],
      [12, 13, { kind: 'ban', ...u }],
      [14, 15, { kind: 'unban', ...u }],
      [16, 17, look(), INVALID],
    ],
  ],
  'a status that is none of these': [
    'refused though alive',
    [...REDEEMED, [10, 11, look(), '429 rate_limit_exceeded']],
  ],
  'a fault': ['server fault', [...REDEEMED, [10, 11, look(), '500 server_error']]],
  'an outage': ['server fault', [...REDEEMED, [10, 11, refresh('r1'), '503 temporarily_unavailable']]],
  'an authorization request that is told to come back': [
    'server fault',
    [
      ...BEGINNING,
      [10, 11, { kind: 'authorize', endpointSet, ...uc, session: 's' }, 'redirect temporarily_unavailable'],
    ],
  ],
  'no answer at all': ['server fault', [...REDEEMED, [10, 11, { kind: 'ban', ...u }, 'no answer: socket hang up']]],
};

/** The moment that a consent's request came goes with it. */
function shifted(asked: Asked): Asked {
  if (asked.kind !== 'consent') return asked;
  const later = ({ start, end }: Moment): Moment => ({ start: start + 2, end: end + 2 });
  return { ...asked, began: later(asked.began), shown: later(asked.shown) };
}

for (const [name, lines] of Object.entries(sound)) {
  test(`sound: ${name}`, () => assert.deepEqual(check(history(lines)), []));
}

for (const [name, [fault, lines]] of Object.entries(faulty)) {
  test(`${fault}: ${name}`, () => {
    const found = new Set(check(history(lines)).map((violation) => violation.fault));
    assert.ok(found.has(fault), `found ${[...found]}`);
  });
}

/** What a request comes to whose process is killed. */
const CUT = 'no answer: Error: socket hang up';
const KILL: readonly Moment[] = [{ start: 10, end: 13 }];

const cut: Readonly<Record<string, readonly Line[]>> = {
  'a code that may have been redeemed, and is refused': [
    ...BEGINNING,
    [10, 12, redeem(), CUT],
    [14, 15, redeem(), GRANT],
  ],
  'a code that may have been redeemed, and was not': [...BEGINNING, [10, 12, redeem(), CUT], [14, 15, redeem('1')]],
  'a family that a replay may have ended': [...REDEEMED, [10, 12, redeem(), CUT], [14, 15, look(), INVALID]],
  'a family that a replay may have ended, and has not': [...REDEEMED, [10, 12, redeem(), CUT], [14, 15, look()]],
  'a refresh that may have been done, asked for again within the grace': [
    ...REDEEMED,
    [10, 12, refresh('r1'), CUT],
    [14, 15, refresh('r1', 'r2')],
    [16, 17, look('a-r1')],
  ],
  'a refresh that may have been done, asked for again too late': [
    ...REDEEMED,
    [10, 12, refresh('r1'), CUT],
    [40_000, 40_001, refresh('r1'), GRANT],
    [40_002, 40_003, look(), INVALID],
  ],
  'a token whose successor may have been used': [
    ...REDEEMED,
    [8, 9, refresh('r1', 'r2')],
    [10, 12, refresh('r2'), CUT],
    [14, 15, refresh('r1'), GRANT],
    [16, 17, look(), INVALID],
  ],
  'a ban that may have come': [...REDEEMED, [10, 12, { kind: 'ban', ...u }, CUT], [14, 15, look(), BANNED]],
  'a ban that may have come, and has not': [...REDEEMED, [10, 12, { kind: 'ban', ...u }, CUT], [14, 15, look()]],
};
for (const [name, lines] of Object.entries(cut)) {
  test(`sound, beside a kill: ${name}`, () => assert.deepEqual(check(history(lines), KILL), []));
  test(`server fault, without one: ${name}`, () => {
    assert.deepEqual(
      check(history(lines)).map(({ fault }) => fault),
      ['server fault'],
    );
  });
}

test('a kill excuses nothing but what has no answer', () => {
  const lines: readonly Line[] = [...REDEEMED, [8, 9, { kind: 'ban', ...u }], [10, 12, look()]];
  assert.deepEqual(
    check(history(lines), KILL).map(({ fault }) => fault),
    ['accepted though dead'],
  );
});

test('a server that refuses everything is found out', () => {
  const refusing: readonly Line[] = [...BEGINNING, [6, 7, redeem(), GRANT], [8, 9, redeem(), GRANT]];
  assert.ok(check(history(refusing)).length > 0);
});

test('a switch is where its last change left it, and unknown where changes overlap it or each other', () => {
  const banned = new Switch();
  assert.equal(banned.during({ start: 0, end: 9 }), 'no');
  banned.add({ start: 10, end: 12, to: true });
  banned.add({ start: 20, end: 25, to: false });
  banned.add({ start: 22, end: 30, to: true });
  const at = (start: number, end: number) => banned.during({ start, end });
  assert.deepEqual([at(1, 9), at(1, 11), at(13, 14), at(13, 21)], ['no', 'maybe', 'yes', 'maybe']);
  assert.equal(at(31, 32), 'maybe', 'the two overlap: either may have been the last');
  banned.add({ start: 40, end: 41, to: true });
  assert.equal(at(42, 43), 'yes');
});

test('what ends things ends only what was there before it', () => {
  const event = [{ start: 10, end: 20 }];
  const born = (start: number, end: number) => ended(event, { start, end }, { start: 30, end: 31 });
  assert.deepEqual([born(1, 9), born(1, 15), born(21, 22)], ['yes', 'maybe', 'no']);
  assert.equal(ended(event, { start: 1, end: 2 }, { start: 3, end: 9 }), 'no');
  assert.equal(ended(event, { start: 1, end: 2 }, { start: 15, end: 16 }), 'maybe');
});
