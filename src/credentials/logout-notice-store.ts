import type { Kysely } from 'kysely';
import type { Work } from '../platform/database/database.ts';
import type { Tables } from '../platform/database/schema.ts';
import {
  bit,
  changes,
  columnsOf,
  command,
  decoder,
  many,
  one,
  plain,
  readAs,
  storedField,
  type Values,
} from '../platform/database/statement.ts';
import type { LogoutNotice, NotifiedClient } from './rules/logout-notices.ts';

const NOTICE = {
  id: storedField('id', plain<string>()),
  clientId: storedField('client_id', plain<string>()),
  accountId: storedField('account_id', plain<string>()),
  sid: storedField('sid', plain<string | null>()),
  createdAt: storedField('created_at', plain<number>()),
  /** Counts the attempt that a claim is for. */
  attempts: storedField('attempts', plain<number>()),
} as const;

/** A notice that this process has claimed. */
export type ClaimedLogoutNotice = Values<typeof NOTICE>;

/**
 * The clients that people are signed in to and that have a `backchannel_logout_uri`: a token family shows the sign-in. A family
 * of an earlier generation of the account is left out, for its notices were sent when that generation ended; so is one that ended
 * together with its session.
 */
const selectClients = (db: Kysely<Tables>) =>
  db
    .selectFrom('token_family as f')
    .innerJoin('account as a', (join) =>
      join.onRef('a.id', '=', 'f.account_id').onRef('a.generation', '=', 'f.account_generation'),
    )
    .innerJoin('client as c', 'c.id', 'f.client_id')
    .innerJoin('consent_grant as g', 'g.id', 'f.grant_id')
    .where('c.backchannel_logout_uri', 'is not', null)
    .where('c.status', '<>', 'disabled')
    .where((eb) => eb.or([eb('f.dead_reason', 'is', null), eb('f.dead_reason', '<>', 'session ended')]))
    .select((eb) => [
      'f.client_id',
      'f.sid',
      'c.backchannel_logout_session_required',
      eb.fn.max('f.created_at').as('latest'),
    ])
    .groupBy(['f.client_id', 'f.sid', 'c.backchannel_logout_session_required']);

/** A client whose access was revoked had its notice then. */
const selectConsentedClients = (db: Kysely<Tables>) => selectClients(db).where('g.revoked_at', 'is', null);

const NOTIFIED_CLIENT = {
  clientId: storedField('client_id', plain<string>()),
  sid: storedField('sid', plain<string>()),
  signedInAt: storedField('latest', readAs(Number)),
  sessionRequired: storedField('backchannel_logout_session_required', bit),
} as const;

const toNotifiedClient: (row: object) => NotifiedClient = decoder(NOTIFIED_CLIENT);

/** The clients that a person signed in to in one session. */
export const clientsOfSession = many(
  (db, p: { accountId: string; sid: string }) =>
    selectConsentedClients(db).where('g.account_id', '=', p.accountId).where('f.sid', '=', p.sid),
  toNotifiedClient,
);

/** The clients that a person signed in to in one sign-in, of which a session may have several. */
export const clientsOfSignIn = many(
  (db, p: { accountId: string; sid: string; authTime: number; amr: string }) =>
    selectConsentedClients(db)
      .where('g.account_id', '=', p.accountId)
      .where('f.sid', '=', p.sid)
      .where('f.auth_time', '=', p.authTime)
      .where('f.amr', '=', p.amr),
  toNotifiedClient,
);

/** The clients that a person signed in to in any session but one. */
export const clientsOfOtherSessions = many(
  (db, p: { accountId: string; sid: string }) =>
    selectConsentedClients(db).where('g.account_id', '=', p.accountId).where('f.sid', '<>', p.sid),
  toNotifiedClient,
);

/** The clients that a person signed in to in any session. */
export const clientsOfAccount = many(
  (db, p: { accountId: string }) => selectConsentedClients(db).where('g.account_id', '=', p.accountId),
  toNotifiedClient,
);

const clientsInRange = many(
  (db, p: { after: string; through: string }) =>
    selectConsentedClients(db)
      .select('g.account_id')
      .groupBy('g.account_id')
      .where('g.account_id', '>', p.after)
      .where('g.account_id', '<=', p.through),
  (row) => ({ accountId: row.account_id, client: toNotifiedClient(row) }),
);

/** {@link clientsOfAccount} for every account with an id greater than `after`, up to `through`. */
export function* clientsOfAccountRange(range: {
  readonly after: string;
  readonly through: string;
}): Work<ReadonlyMap<string, readonly NotifiedClient[]>> {
  const clients = Map.groupBy(yield* clientsInRange(range), ({ accountId }) => accountId);
  return new Map([...clients].map(([accountId, found]) => [accountId, found.map(({ client }) => client)]));
}

/** The client of a grant, in every session in which the person signed in to it. */
export const clientsOfGrant = many(
  (db, p: { grantId: string }) => selectClients(db).where('f.grant_id', '=', p.grantId),
  toNotifiedClient,
);

/** The client of a token family, if it is to be notified. */
export const clientsOfFamily = many(
  (db, p: { familyId: string }) => selectConsentedClients(db).where('f.id', '=', p.familyId),
  toNotifiedClient,
);

export const insertNotice = command((db, p: LogoutNotice & { readonly accountId: string; readonly now: number }) =>
  db.insertInto('logout_notice').values({
    client_id: p.clientId,
    account_id: p.accountId,
    sid: p.sid,
    created_at: p.now,
    attempts: 0,
    due_at: p.now,
  }),
);

/** The clients with a notice that is due, the longest due first. */
export const listClientsDue = many(
  (db, p: { now: number; limit: number }) =>
    db
      .selectFrom('logout_notice')
      .select('client_id')
      .where('due_at', '<=', p.now)
      .groupBy('client_id')
      .orderBy((eb) => eb.fn.min('due_at'))
      .limit(p.limit),
  (row) => row.client_id,
);

/**
 * Claims notices that are due, for this process alone until the instant `until`. The condition on `due_at` is repeated outside of
 * the subquery: an update that waited for another node's then finds the row claimed.
 */
export const claimNotices = many(
  (db, p: { clientId: string; now: number; until: number; limit: number }) =>
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
      .returning(columnsOf(NOTICE)),
  decoder(NOTICE),
);

/** A claim: it holds while no other process has claimed the notice again. */
type NoticeClaim = Pick<ClaimedLogoutNotice, 'id' | 'attempts'>;

/** Removes a notice; gives false where another process has claimed it meanwhile. */
export const removeNotice = changes((db, p: NoticeClaim) =>
  db.deleteFrom('logout_notice').where('id', '=', p.id).where('attempts', '=', p.attempts).returning('id'),
);

/** Makes a notice due later; gives false where another process has claimed it meanwhile. */
export const postponeNotice = changes((db, p: NoticeClaim & { readonly until: number }) =>
  db
    .updateTable('logout_notice')
    .set({ due_at: p.until })
    .where('id', '=', p.id)
    .where('attempts', '=', p.attempts)
    .returning('id'),
);

const selectCount = one(
  (db, _p: object) => db.selectFrom('logout_notice').select((eb) => eb.fn.countAll<number>().as('notices')),
  (row) => Number(row.notices),
);

/** How many notices are not delivered yet. */
export function* countNotices(): Work<number> {
  return (yield* selectCount({})) ?? 0;
}
