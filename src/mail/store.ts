import type { Work } from '../platform/database/database.ts';
import { changes, command, many, one } from '../platform/database/statement.ts';

/** `waiting`: to be sent, or sent again. `kept`: shown at `/mailbox`, and never sent. `dead`: given up. */
export const mailStatuses = ['waiting', 'sent', 'dead', 'expired', 'kept'] as const;
export type MailStatus = (typeof mailStatuses)[number];

/** A message as it is stored. */
export interface StoredMail {
  readonly messageId: string;
  readonly kind: string;
  readonly accountId: string | null;
  readonly recipient: string;
  readonly challengeHash: string | null;
  readonly sealed: string | null;
  readonly status: MailStatus;
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly problem: string | null;
}

/** A message that this process has claimed. */
export interface ClaimedMail {
  readonly id: string;
  readonly messageId: string;
  readonly kind: string;
  readonly accountId: string | null;
  readonly recipient: string;
  readonly challengeHash: string | null;
  readonly sealed: string | null;
  /** Counts the attempt that the claim is for. */
  readonly attempts: number;
  /** Counts it, too, until its result is known. */
  readonly unconfirmed: number;
  readonly createdAt: number;
  readonly expiresAt: number;
}

/** A message as operators see it: never its content. */
export interface ListedMail {
  readonly id: string;
  readonly kind: string;
  readonly accountId: string | null;
  readonly recipient: string;
  readonly status: MailStatus;
  readonly attempts: number;
  readonly createdAt: number;
  readonly expiresAt: number;
  /** When it is tried next; null unless it waits. */
  readonly dueAt: number | null;
  readonly settledAt: number | null;
  readonly problem: string | null;
}

const insert = command((db, p: StoredMail & { readonly settledAt: number | null }) =>
  db.insertInto('mail').values({
    message_id: p.messageId,
    kind: p.kind,
    account_id: p.accountId,
    recipient: p.recipient,
    challenge_hash: p.challengeHash,
    sealed: p.sealed,
    status: p.status,
    attempts: 0,
    unconfirmed: 0,
    due_at: p.createdAt,
    created_at: p.createdAt,
    expires_at: p.expiresAt,
    settled_at: p.settledAt,
    problem: p.problem,
  }),
);

export const insertMail = (mail: StoredMail): Work<void> =>
  insert({ ...mail, settledAt: mail.status === 'dead' ? mail.createdAt : null });

/** Removes the messages of the mailbox but the newest. */
export const trimKept = command((db, p: { keep: number }) =>
  db
    .deleteFrom('mail')
    .where(
      'id',
      'in',
      db.selectFrom('mail').select('id').where('status', '=', 'kept').orderBy('id', 'desc').limit(1000).offset(p.keep),
    ),
);

const KEPT = ['id', 'message_id', 'kind', 'recipient', 'sealed', 'created_at'] as const;

/** The messages of the mailbox, newest first. */
export const listKept = many(
  (db, p: { limit: number }) =>
    db.selectFrom('mail').select(KEPT).where('status', '=', 'kept').orderBy('id', 'desc').limit(p.limit),
  (row) => ({
    id: row.id,
    messageId: row.message_id,
    kind: row.kind,
    recipient: row.recipient,
    sealed: row.sealed,
    createdAt: row.created_at,
  }),
);

/**
 * Claims messages that are due, for this process alone until the instant `until`. The condition on `due_at` is repeated outside of
 * the subquery: an update that waited for another node's then finds the row claimed.
 */
export const claimMail = many(
  (db, p: { now: number; until: number; limit: number }) =>
    db
      .updateTable('mail')
      .set((eb) => ({
        due_at: p.until,
        attempts: eb('attempts', '+', 1),
        unconfirmed: eb('unconfirmed', '+', 1),
      }))
      .where(
        'id',
        'in',
        db
          .selectFrom('mail')
          .select('id')
          .where('status', '=', 'waiting')
          .where('due_at', '<=', p.now)
          .orderBy('due_at')
          .limit(p.limit),
      )
      .where('status', '=', 'waiting')
      .where('due_at', '<=', p.now)
      .returning([
        'id',
        'message_id',
        'kind',
        'account_id',
        'recipient',
        'challenge_hash',
        'sealed',
        'attempts',
        'unconfirmed',
        'created_at',
        'expires_at',
      ]),
  (row): ClaimedMail => ({
    id: row.id,
    messageId: row.message_id,
    kind: row.kind,
    accountId: row.account_id,
    recipient: row.recipient,
    challengeHash: row.challenge_hash,
    sealed: row.sealed,
    attempts: row.attempts,
    unconfirmed: row.unconfirmed,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
  }),
);

/** Whether a message is due; most of the time there is none. */
export const isMailDue = one((db, p: { now: number }) =>
  db.selectFrom('mail').select('id').where('status', '=', 'waiting').where('due_at', '<=', p.now).limit(1),
);

/** The challenge whose link a message carries, with the generation of its account. */
export const readChallengeOfMail = one(
  (db, p: { hash: string }) =>
    db
      .selectFrom('challenge as c')
      .leftJoin('account as a', 'a.id', 'c.account_id')
      .select(['c.purpose', 'c.used_at', 'c.expires_at', 'c.generation', 'a.generation as current'])
      .where('c.hash', '=', p.hash),
  (row) => ({
    purpose: row.purpose,
    usedAt: row.used_at,
    expiresAt: row.expires_at,
    generation: row.generation,
    currentGeneration: row.current,
  }),
);

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

const LISTED = [
  'id',
  'kind',
  'account_id',
  'recipient',
  'status',
  'attempts',
  'created_at',
  'expires_at',
  'due_at',
  'settled_at',
  'problem',
] as const;

const toListed = (row: {
  readonly id: string;
  readonly kind: string;
  readonly account_id: string | null;
  readonly recipient: string;
  readonly status: string;
  readonly attempts: number;
  readonly created_at: number;
  readonly expires_at: number;
  readonly due_at: number;
  readonly settled_at: number | null;
  readonly problem: string | null;
}): ListedMail => ({
  id: row.id,
  kind: row.kind,
  accountId: row.account_id,
  recipient: row.recipient,
  status: row.status as MailStatus,
  attempts: row.attempts,
  createdAt: row.created_at,
  expiresAt: row.expires_at,
  dueAt: row.status === 'waiting' ? row.due_at : null,
  settledAt: row.settled_at,
  problem: row.problem,
});

/** The messages before an id, newest first. */
export const listMail = many(
  (db, p: { before: string; limit: number }) =>
    db.selectFrom('mail').select(LISTED).where('id', '<', p.before).orderBy('id', 'desc').limit(p.limit),
  toListed,
);

/** The messages of a status before an id, newest first. */
export const listMailOf = many(
  (db, p: { status: string; before: string; limit: number }) =>
    db
      .selectFrom('mail')
      .select(LISTED)
      .where('status', '=', p.status)
      .where('id', '<', p.before)
      .orderBy('id', 'desc')
      .limit(p.limit),
  toListed,
);

/** What waits: how many messages, and when the oldest was written. */
export const readQueue = one(
  (db, _p: object) =>
    db
      .selectFrom('mail')
      .select((eb) => [eb.fn.countAll<number>().as('count'), eb.fn.min('created_at').as('oldest')])
      .where('status', '=', 'waiting'),
  (row) => ({ count: Number(row.count), oldest: row.oldest === null ? null : Number(row.oldest) }),
);

/** How many messages were given up. */
export const countDead = one(
  (db, _p: object) =>
    db
      .selectFrom('mail')
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .where('status', '=', 'dead'),
  (row) => Number(row.count),
);

/** Expires the messages to an account that are still to be sent or shown. */
export const expireMailOf = command((db, p: { accountId: string; now: number }) =>
  db
    .updateTable('mail')
    .set({ status: 'expired', due_at: p.now, settled_at: p.now })
    .where('status', 'in', ['waiting', 'kept'])
    .where('account_id', '=', p.accountId),
);

/** Expires the messages of a kind that wait, and erases their content. */
export const expireMailOfKind = command((db, p: { kind: string; now: number; problem: string }) =>
  db
    .updateTable('mail')
    .set({ status: 'expired', sealed: null, due_at: p.now, settled_at: p.now, problem: p.problem })
    .where('status', '=', 'waiting')
    .where('kind', '=', p.kind),
);

/** Erases what the messages to an account say of it. An answer of a mail server often repeats the recipient. */
export const eraseMailOf = command((db, p: { accountId: string; problem: string }) =>
  db
    .updateTable('mail')
    .set({ recipient: '', sealed: null, problem: p.problem })
    // The statuses lead to the index.
    .where('status', 'in', ['sent', 'dead', 'expired'])
    .where('account_id', '=', p.accountId),
);

/** Expires messages that wait although no process sends them any more. */
export const expireWaiting = command((db, p: { now: number; problem: string }) =>
  db
    .updateTable('mail')
    .set({ status: 'expired', sealed: null, due_at: p.now, settled_at: p.now, problem: p.problem })
    .where('status', '=', 'waiting')
    .where('due_at', '<=', p.now)
    .where('expires_at', '<=', p.now),
);

/** Removes messages of a status that they have had since an instant, or longer. */
export const removeMail = many((db, p: { status: string; before: number; limit: number }) =>
  db
    .deleteFrom('mail')
    .where(
      'id',
      'in',
      db
        .selectFrom('mail')
        .select('id')
        .where('status', '=', p.status)
        .where('due_at', '<=', p.before)
        .orderBy('due_at')
        .limit(p.limit),
    )
    .returning('id'),
);
