import { constant } from '../../platform/database/columns.ts';
import { many, one } from '../../platform/database/statement.ts';
import { IDLE_TIMEOUT } from '../../sessions/sessions.ts';
import { oldestReviewAt, reviewFamilies } from './family-store.ts';
import { type Ended, type Removal, removal } from './removal.ts';
import { KEPT } from './rules/retention.ts';

export const idleSessions = removal(
  'browser_session',
  IDLE_TIMEOUT,
  many((db, p: Ended) =>
    db
      .deleteFrom('browser_session')
      .where(
        'hash',
        'in',
        db
          .selectFrom('browser_session')
          .select('hash')
          .where('last_seen_at', '<=', p.before)
          .orderBy('last_seen_at')
          .limit(p.limit),
      )
      // Used meanwhile, it goes on.
      .where('last_seen_at', '<=', p.before)
      .returning('hash'),
  ),
  one(
    (db, p: { before: number }) =>
      db
        .selectFrom('browser_session')
        .select('last_seen_at as at')
        .where('last_seen_at', '<=', p.before)
        .orderBy('last_seen_at')
        .limit(1),
    ({ at }) => at,
  ),
);

/** Codes that were never redeemed; a redeemed one is needed to detect a replay, and is removed with its family. */
export const expiredCodes = removal(
  'authorization_code',
  KEPT.unredeemedCode,
  many((db, p: Ended) =>
    db
      .deleteFrom('authorization_code')
      .where(
        'hash',
        'in',
        db
          .selectFrom('authorization_code')
          .select('hash')
          .where('expires_at', '<=', p.before)
          .where('redeemed_at', 'is', null)
          .orderBy('expires_at')
          .limit(p.limit),
      )
      .returning('hash'),
  ),
  one(
    (db, p: { before: number }) =>
      db
        .selectFrom('authorization_code')
        .select('expires_at as at')
        .where('expires_at', '<=', p.before)
        .where('redeemed_at', 'is', null)
        .orderBy('expires_at')
        .limit(1),
    ({ at }) => at,
  ),
);

export const oldFamilies: Removal = { table: 'token_family', kept: 0, batch: reviewFamilies, oldest: oldestReviewAt };

/** A token that has expired says so itself (`exp`). */
export const expiredClientTokens = removal(
  'client_token',
  0,
  many((db, p: Ended) =>
    db
      .deleteFrom('client_token')
      .where(
        'jti',
        'in',
        db.selectFrom('client_token').select('jti').where('ends_at', '<=', p.before).orderBy('ends_at').limit(p.limit),
      )
      .returning('jti'),
  ),
  one(
    (db, p: { before: number }) =>
      db
        .selectFrom('client_token')
        .select('ends_at as at')
        .where('ends_at', '<=', p.before)
        .orderBy('ends_at')
        .limit(1),
    ({ at }) => at,
  ),
);

/** Revoked grants, with the families that are left of them: every token of theirs has expired. */
export const oldRevokedGrants = removal(
  'consent_grant',
  KEPT.revokedGrant,
  many((db, p: Ended) =>
    db
      .deleteFrom('consent_grant')
      .where(
        'id',
        'in',
        db
          .selectFrom('consent_grant')
          .select('id')
          .where('revoked_at', '<=', p.before)
          // As in the condition of the index of revoked grants.
          .where('revoked_at', '>', constant(0))
          .orderBy('revoked_at')
          .limit(p.limit),
      )
      .returning('id'),
  ),
  one(
    (db, p: { before: number }) =>
      db
        .selectFrom('consent_grant')
        .select('revoked_at as at')
        .where('revoked_at', '<=', p.before)
        .where('revoked_at', '>', constant(0))
        .orderBy('revoked_at')
        .limit(1),
    ({ at }) => at ?? 0,
  ),
);
