// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAY, HOUR, MINUTE, NODE_CLOCK_TOLERANCE, SECOND } from '../../../platform/clock.ts';
import { neededUntil, type ReviewedFamily } from './retention.ts';

/** Issued now, for a session that was removed. */
const family: ReviewedFamily = {
  refreshExpiresAt: 7 * DAY,
  lastIssuedAt: 0,
  deadReason: null,
  grantRevokedAt: null,
  session: null,
};
/** The session was last used on the second day. */
const session = { expiresAt: 30 * DAY, lastSeenAt: 2 * DAY };

const cases: readonly (readonly [name: string, change: Partial<ReviewedFamily>, end: number])[] = [
  ['its refresh token expires', {}, 7 * DAY],
  ['though it was revoked', { deadReason: 'refresh token reused' }, 7 * DAY],
  ['its session is unused for 14 days', { session }, 16 * DAY],
  ['its session ends', { session: { ...session, lastSeenAt: 29 * DAY } }, 30 * DAY],
  ['its refresh token expires, after the session', { refreshExpiresAt: 40 * DAY, session }, 40 * DAY],
  ['also where its client revoked it: a hint ends the session', { deadReason: 'token revoked', session }, 16 * DAY],
  ['no app depends on the session: it ended with it', { deadReason: 'session ended', session }, 7 * DAY],
  ['no app depends on the session: the consent was revoked', { grantRevokedAt: DAY, session }, 7 * DAY],
  [
    'its last access token expires, issued again in the last second of the grace period',
    { refreshExpiresAt: 90 * DAY, lastIssuedAt: 90 * DAY - MINUTE },
    90 * DAY - MINUTE + 30 * SECOND + HOUR / 2,
  ],
];

for (const [name, change, end] of cases) {
  test(`a family is needed until ${name}`, () => {
    assert.equal(neededUntil({ ...family, ...change }), end + NODE_CLOCK_TOLERANCE);
  });
}
