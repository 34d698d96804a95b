import { DAY } from '../platform/clock.ts';
import { digest } from '../platform/crypto/secrets.ts';
import type { Work } from '../platform/database/database.ts';
import { command, many } from '../platform/database/statement.ts';
import type { SignInThere } from './rules/came-through.ts';

/** How a session came to be: by which identity, in which session of the upstream. */
export interface UpstreamOrigin {
  readonly upstreamId: string;
  /** Of the upstream when the person came back from it. */
  readonly generation: string;
  readonly identityId: string;
  /** Null where the upstream names none. */
  readonly upstreamSid: string | null;
  /** How the person authenticated there, in the words of the upstream. */
  readonly amr: readonly string[];
  /** When its token was made. */
  readonly issuedAt: number;
}

/** A session lasts at most 30 days, and tokens that were issued in it up to 90 days more. */
const LIFETIME = 121 * DAY;

interface OwnSession {
  readonly accountId: string;
  readonly sid: string;
}

interface Row extends OwnSession {
  readonly upstreamId: string;
  readonly identityId: string;
  readonly upstreamSid: string | null;
  readonly expiresAt: number;
}

/** A session may have begun, and been continued, in several sessions of upstreams. */
const hashOf = ({ accountId, sid, identityId, upstreamSid }: Row): string =>
  digest(JSON.stringify([accountId, sid, identityId, upstreamSid]));

const upsert = command((db, p: Row & { readonly hash: string }) =>
  db
    .insertInto('upstream_session')
    .values({
      hash: p.hash,
      account_id: p.accountId,
      sid: p.sid,
      upstream_id: p.upstreamId,
      identity_id: p.identityId,
      upstream_sid: p.upstreamSid,
      expires_at: p.expiresAt,
    })
    .onConflict((conflict) => conflict.column('hash').doUpdateSet({ expires_at: p.expiresAt })),
);

const save = (row: Row): Work<void> => upsert({ ...row, hash: hashOf(row) });

/** Remembers that a session began with a sign-in at an upstream. */
export const recordUpstreamSession = (
  { accountId, sid }: OwnSession,
  { upstreamId, identityId, upstreamSid }: UpstreamOrigin,
  now: number,
): Work<void> => save({ accountId, sid, upstreamId, identityId, upstreamSid, expiresAt: now + LIFETIME });

const rowsOf = many(
  (db, p: OwnSession) =>
    db
      .selectFrom('upstream_session')
      .select(['account_id as accountId', 'sid', 'upstream_id as upstreamId', 'identity_id as identityId'])
      .select(['upstream_sid as upstreamSid', 'expires_at as expiresAt'])
      .where('account_id', '=', p.accountId)
      .where('sid', '=', p.sid),
  (row): Row => row,
);

/** A session goes on under another name: it still began at the upstream. */
export function* carryUpstreamSession({ accountId, sid: from }: OwnSession, { sid }: OwnSession): Work<void> {
  for (const row of yield* rowsOf({ accountId, sid: from })) yield* save({ ...row, sid });
}

const toOwn = (row: { account_id: string; sid: string }): OwnSession => ({ accountId: row.account_id, sid: row.sid });

/** The sessions that began in one session of an upstream, perhaps only those of one person. */
export const sessionsOfUpstreamSid = many(
  (db, p: { upstreamId: string; upstreamSid: string }) =>
    db
      .selectFrom('upstream_session')
      .select(['account_id', 'sid'])
      .where('upstream_id', '=', p.upstreamId)
      .where('upstream_sid', '=', p.upstreamSid),
  toOwn,
);

/** The sessions that began through one identity. */
export const sessionsOfIdentity = many(
  (db, p: { upstreamId: string; identityId: string }) =>
    db
      .selectFrom('upstream_session')
      .select(['account_id', 'sid'])
      .where('upstream_id', '=', p.upstreamId)
      .where('identity_id', '=', p.identityId),
  toOwn,
);

/** The sessions of one account that began at an upstream. */
export const sessionsOfAccount = many(
  (db, p: { upstreamId: string; accountId: string }) =>
    db
      .selectFrom('upstream_session')
      .select(['account_id', 'sid'])
      .where('upstream_id', '=', p.upstreamId)
      .where('account_id', '=', p.accountId),
  toOwn,
);

/** The sign-ins of an account at upstreams, as long as tokens of them may live. */
export const listSignInsThere = many(
  (db, p: { accountId: string }) =>
    db
      .selectFrom('upstream_session')
      .select(['sid', 'upstream_id', 'expires_at'])
      .where('account_id', '=', p.accountId),
  (row): SignInThere => ({ sid: row.sid, upstreamId: row.upstream_id, at: row.expires_at - LIFETIME }),
);

/** The accounts that signed in through an upstream, in the order of their ids. */
export const accountsOfUpstream = many(
  (db, p: { upstreamId: string; after: string; limit: number }) =>
    db
      .selectFrom('upstream_session')
      .select('account_id')
      .distinct()
      .where('upstream_id', '=', p.upstreamId)
      .where('account_id', '>', p.after)
      .orderBy('account_id')
      .limit(p.limit),
  (row) => row.account_id,
);

export const forgetUpstreamSession = command((db, p: { accountId: string; sid: string }) =>
  db.deleteFrom('upstream_session').where('account_id', '=', p.accountId).where('sid', '=', p.sid),
);
