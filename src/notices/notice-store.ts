import type { Kysely } from 'kysely';
import type { Work } from '../platform/database/database.ts';
import type { Tables } from '../platform/database/schema.ts';
import { all, first, type RowOf, run, statement } from '../platform/database/statement.ts';
import type { Notice, NotifiedClient } from './rules/notices.ts';

/** A notice that this process has taken on. */
export interface ClaimedNotice extends Notice {
  readonly id: string;
  readonly accountId: string;
  readonly createdAt: number;
  /** Counted from 1, with the one that now begins. */
  readonly attempts: number;
}

/**
 * The apps that people are signed in to and that want to be told; a family is the trace that a sign-in left there. Of another
 * generation than the account's it is from before the last end of everything, and was told then.
 */
const listeners = (db: Kysely<Tables>) =>
  db
    .selectFrom('token_family as f')
    .innerJoin('account as a', (join) =>
      join.onRef('a.id', '=', 'f.account_id').onRef('a.generation', '=', 'f.account_generation'),
    )
    .innerJoin('client as c', 'c.id', 'f.client_id')
    .innerJoin('consent_grant as g', 'g.id', 'f.grant_id')
    .where('c.backchannel_logout_uri', 'is not', null)
    .where('c.status', '=', 'active')
    .select(['f.client_id', 'f.sid', 'c.backchannel_logout_session_required'])
    .distinct();

// Whose access was taken away has been told of it.
const ofSession = statement((db, p: { accountId: string; sid: string }) =>
  listeners(db).where('g.account_id', '=', p.accountId).where('f.sid', '=', p.sid).where('g.revoked_at', 'is', null),
);
const ofOthers = statement((db, p: { accountId: string; sid: string }) =>
  listeners(db).where('g.account_id', '=', p.accountId).where('f.sid', '<>', p.sid).where('g.revoked_at', 'is', null),
);
const ofAccount = statement((db, p: { accountId: string }) =>
  listeners(db).where('g.account_id', '=', p.accountId).where('g.revoked_at', 'is', null),
);
const ofAccounts = statement((db, p: { after: string; through: string }) =>
  listeners(db)
    .select('g.account_id')
    .where('g.account_id', '>', p.after)
    .where('g.account_id', '<=', p.through)
    .where('g.revoked_at', 'is', null),
);
const ofGrant = statement((db, p: { grantId: string }) => listeners(db).where('f.grant_id', '=', p.grantId));

const insert = statement((db, p: { clientId: string; accountId: string; sid: string | null; now: number }) =>
  db.insertInto('logout_notice').values({
    client_id: p.clientId,
    account_id: p.accountId,
    sid: p.sid,
    created_at: p.now,
    attempts: 0,
    due_at: p.now,
  }),
);
const clientsDue = statement((db, p: { now: number; limit: number }) =>
  db
    .selectFrom('logout_notice')
    .select('client_id')
    .where('due_at', '<=', p.now)
    .groupBy('client_id')
    .orderBy((eb) => eb.fn.min('due_at'))
    .limit(p.limit),
);
// The condition stands twice: whoever waited for the other node's update finds the row taken.
const claim = statement((db, p: { clientId: string; now: number; until: number; limit: number }) =>
  db
    .updateTable('logout_notice')
    .set((eb) => ({ due_at: p.until, attempts: eb('attempts', '+', 1) }))
    .where(
      'id',
      'in',
      db
        .selectFrom('logout_notice')
        .select('id')
        .where('client_id', '=', p.clientId)
        .where('due_at', '<=', p.now)
        .orderBy('due_at')
        .limit(p.limit),
    )
    .where('due_at', '<=', p.now)
    .returning(['id', 'client_id', 'account_id', 'sid', 'created_at', 'attempts']),
);
const remove = statement((db, p: { id: string; attempts: number }) =>
  db.deleteFrom('logout_notice').where('id', '=', p.id).where('attempts', '=', p.attempts).returning('id'),
);
const postpone = statement((db, p: { id: string; attempts: number; until: number }) =>
  db
    .updateTable('logout_notice')
    .set({ due_at: p.until })
    .where('id', '=', p.id)
    .where('attempts', '=', p.attempts)
    .returning('id'),
);
const count = statement((db, _p: object) =>
  db.selectFrom('logout_notice').select((eb) => eb.fn.countAll<number>().as('waiting')),
);

const toListener = (row: RowOf<typeof ofSession>): NotifiedClient => ({
  clientId: row.client_id,
  sid: row.sid,
  sessionRequired: row.backchannel_logout_session_required === 1,
});

/** The apps that were signed in to in one session. */
export function* listenersOfSession(accountId: string, sid: string): Work<NotifiedClient[]> {
  return (yield* all(ofSession, { accountId, sid })).map(toListener);
}

/** The apps that were signed in to in any session but one. */
export function* listenersOfOthers(accountId: string, sid: string): Work<NotifiedClient[]> {
  return (yield* all(ofOthers, { accountId, sid })).map(toListener);
}

/** The apps that were signed in to in any session. */
export function* listenersOfAccount(accountId: string): Work<NotifiedClient[]> {
  return (yield* all(ofAccount, { accountId })).map(toListener);
}

/** The apps that the people from after one id through another were signed in to, by person. */
export function* listenersOfAccounts(after: string, through: string): Work<Map<string, NotifiedClient[]>> {
  const found = new Map<string, NotifiedClient[]>();
  for (const row of yield* all(ofAccounts, { after, through })) {
    found.set(row.account_id, [...(found.get(row.account_id) ?? []), toListener(row)]);
  }
  return found;
}

/** The app of a grant, in every session in which it was signed in to. */
export function* listenersOfGrant(grantId: string): Work<NotifiedClient[]> {
  return (yield* all(ofGrant, { grantId })).map(toListener);
}

export function* insertNotice(notice: Notice & { accountId: string }, now: number): Work<void> {
  const { clientId, accountId, sid } = notice;
  yield* run(insert, { clientId, accountId, sid, now });
}

/** The clients that are to be told something now, the longest waiting first. */
export function* listClientsDue(now: number, limit: number): Work<string[]> {
  return (yield* all(clientsDue, { now, limit })).map((row) => row.client_id);
}

/** Takes on notices that are due, for this process alone until the instant `until`. */
export function* claimNotices(clientId: string, now: number, until: number, limit: number): Work<ClaimedNotice[]> {
  const rows = yield* all(claim, { clientId, now, until, limit });
  return rows.map((row) => ({
    id: row.id,
    clientId: row.client_id,
    accountId: row.account_id,
    sid: row.sid,
    createdAt: row.created_at,
    attempts: row.attempts,
  }));
}

/** Ends a notice; answers false where another process has taken it on meanwhile. */
export function* endNotice({ id, attempts }: ClaimedNotice): Work<boolean> {
  return (yield* first(remove, { id, attempts })) !== undefined;
}

/** Puts a notice off; answers false where another process has taken it on meanwhile. */
export function* postponeNotice({ id, attempts }: ClaimedNotice, until: number): Work<boolean> {
  return (yield* first(postpone, { id, attempts, until })) !== undefined;
}

export function* countNotices(): Work<number> {
  return Number((yield* first(count, {}))?.waiting ?? 0);
}
