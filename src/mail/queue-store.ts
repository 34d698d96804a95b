import { sql } from 'kysely';
import { pick } from '../platform/database/columns.ts';
import type { Work } from '../platform/database/database.ts';
import {
  changes,
  columnsOf,
  decoder,
  many,
  one,
  plain,
  storedField,
  type Values,
} from '../platform/database/statement.ts';
import type { LinkState } from './rules/obstacle.ts';
import { MAIL } from './store.ts';

const DUE = pick(MAIL, ['id', 'priority', 'accountId', 'recipient']);
const toDue = decoder(DUE);

/** A message that is due. */
export type DueMail = Values<typeof DUE>;

const CLAIMED = pick(MAIL, [
  'id',
  'messageId',
  'kind',
  'priority',
  'accountId',
  'recipient',
  'challengeHash',
  'sealed',
  'attempts',
  'unconfirmed',
  'createdAt',
  'expiresAt',
]);

/** A message that this process has claimed. */
export type ClaimedMail = Values<typeof CLAIMED>;

/*
 * The time as two indexes have it, each in a form of its own: PostgreSQL could otherwise take another index with the same order, which
 * has the same cost by its statistics, and read all messages of another priority or to another domain that come before.
 */
const inQueue = sql<number>`due_at + 0`;
const inLane = sql<number>`due_at - 0`;

/** The messages of a priority that are due first. */
export const listDue = many(
  (db, p: { priority: number; now: number; limit: number }) =>
    db
      .selectFrom('mail')
      .select(columnsOf(DUE))
      .where('status', '=', 'waiting')
      .where('priority', '=', p.priority)
      .where(inQueue, '<=', p.now)
      .orderBy(inQueue)
      .limit(p.limit),
  toDue,
);

/** The next domain after another to which messages of a priority wait. */
export const nextLane = one(
  (db, p: { priority: number; after: string }) =>
    db
      .selectFrom('mail')
      .select('recipient_domain')
      .where('status', '=', 'waiting')
      .where('priority', '=', p.priority)
      .where('recipient_domain', '>', p.after)
      .orderBy('recipient_domain')
      .limit(1),
  (row) => row.recipient_domain,
);

/** The messages of a priority to one domain that are due first. */
export const listDueInLane = many(
  (db, p: { priority: number; lane: string; now: number; limit: number }) =>
    db
      .selectFrom('mail')
      .select(columnsOf(DUE))
      .where('status', '=', 'waiting')
      .where('priority', '=', p.priority)
      .where('recipient_domain', '=', p.lane)
      .where(inLane, '<=', p.now)
      .orderBy(inLane)
      .limit(p.limit),
  toDue,
);

/** Claims a message that is due, for this process alone until the instant `until`; undefined where another process was first. */
export const claimMail = one(
  (db, p: { id: string; now: number; until: number }) =>
    db
      .updateTable('mail')
      .set((eb) => ({
        due_at: p.until,
        attempts: eb('attempts', '+', 1),
        unconfirmed: eb('unconfirmed', '+', 1),
      }))
      .where('id', '=', p.id)
      .where('status', '=', 'waiting')
      .where('due_at', '<=', p.now)
      .returning(columnsOf(CLAIMED)),
  decoder(CLAIMED),
);

const findChallengeOfMail = one(
  (db, p: { hash: string }) =>
    db
      .selectFrom('challenge as c')
      .leftJoin('account as a', 'a.id', 'c.account_id')
      .select(['c.used_at', 'c.expires_at', 'c.generation', 'a.generation as current'])
      .where('c.hash', '=', p.hash),
  decoder({
    usedAt: storedField('used_at', plain<number | null>()),
    expiresAt: storedField('expires_at', plain<number>()),
    generation: storedField('generation', plain<string | null>()),
    currentGeneration: storedField('current', plain<string | null>()),
  }),
);

/** What outlives the generations of an account. */
const OF_EVERY_GENERATION = { generation: null, currentGeneration: null } as const;

/** A right to undo a change of address. */
const findRightOfMail = one(
  (db, p: { hash: string }) =>
    db.selectFrom('address_change').select('expires_at').where('hash', '=', p.hash).where('by_operator', '=', 0),
  ({ expires_at }): LinkState => ({ usedAt: null, expiresAt: expires_at, ...OF_EVERY_GENERATION }),
);

const findInvitationOfMail = one(
  (db, p: { hash: string }) => db.selectFrom('invitation').select(['used_at', 'expires_at']).where('hash', '=', p.hash),
  ({ used_at, expires_at }): LinkState => ({ usedAt: used_at, expiresAt: expires_at, ...OF_EVERY_GENERATION }),
);

/**
 * What the link of a message rests on: a challenge, with the generation of its account, a right to undo a change of address, or an
 * invitation.
 */
export function* findLinkOfMail(hash: string): Work<LinkState | undefined> {
  return (
    (yield* findChallengeOfMail({ hash })) ??
    (yield* findRightOfMail({ hash })) ??
    (yield* findInvitationOfMail({ hash }))
  );
}

/** A claim: it holds while no other process has claimed the message again. */
type MailClaim = Pick<ClaimedMail, 'id' | 'attempts'>;

/** Records that the server has accepted a message, also where the claim was lost: it must not be sent again. */
export const settleSent = changes((db, p: { id: string; now: number }) =>
  db
    .updateTable('mail')
    .set({ status: 'sent', sealed: null, due_at: p.now, settled_at: p.now, problem: null })
    .where('id', '=', p.id)
    .where('status', '=', 'waiting')
    .returning('id'),
);

/** Records that a message is not sent, and erases its content. */
export const settleUnsent = changes((db, p: MailClaim & { status: 'dead' | 'expired'; now: number; problem: string }) =>
  db
    .updateTable('mail')
    .set({ status: p.status, sealed: null, due_at: p.now, settled_at: p.now, problem: p.problem })
    .where('id', '=', p.id)
    .where('status', '=', 'waiting')
    .where('attempts', '=', p.attempts)
    .returning('id'),
);

/**
 * Makes a message due later; gives false where another process has claimed it meanwhile.
 * @param p.confirmed 1 where the server has certainly not accepted the message, else 0
 */
export const postponeMail = changes((db, p: MailClaim & { dueAt: number; confirmed: number; problem: string }) =>
  db
    .updateTable('mail')
    .set((eb) => ({ due_at: p.dueAt, unconfirmed: eb('unconfirmed', '-', p.confirmed), problem: p.problem }))
    .where('id', '=', p.id)
    .where('status', '=', 'waiting')
    .where('attempts', '=', p.attempts)
    .returning('id'),
);
