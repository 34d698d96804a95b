import type { Work } from '../platform/database/database.ts';
import { command, many, one } from '../platform/database/statement.ts';
import type { MailKind } from './mail.ts';
import { domainOf, priorityOf } from './rules/slots.ts';

/** `waiting`: to be sent, or sent again. `kept`: shown at `/mailbox`, and never sent. `dead`: given up. */
export const mailStatuses = ['waiting', 'sent', 'dead', 'expired', 'kept'] as const;
export type MailStatus = (typeof mailStatuses)[number];

/** A message as it is stored. */
export interface StoredMail {
  readonly messageId: string;
  readonly kind: MailKind;
  readonly accountId: string | null;
  readonly recipient: string;
  readonly challengeHash: string | null;
  readonly sealed: string | null;
  readonly status: MailStatus;
  /** When it is sent at the earliest; at once by default. */
  readonly dueAt?: number;
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly problem: string | null;
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

type InsertedMail = Required<StoredMail> & {
  readonly priority: number;
  readonly recipientDomain: string;
  readonly settledAt: number | null;
};

const insert = command((db, p: InsertedMail) =>
  db.insertInto('mail').values({
    message_id: p.messageId,
    kind: p.kind,
    priority: p.priority,
    account_id: p.accountId,
    recipient: p.recipient,
    recipient_domain: p.recipientDomain,
    challenge_hash: p.challengeHash,
    sealed: p.sealed,
    status: p.status,
    attempts: 0,
    unconfirmed: 0,
    due_at: p.dueAt,
    created_at: p.createdAt,
    expires_at: p.expiresAt,
    settled_at: p.settledAt,
    problem: p.problem,
  }),
);

export const insertMail = (mail: StoredMail): Work<void> =>
  insert({
    ...mail,
    priority: priorityOf(mail.kind),
    recipientDomain: domainOf(mail.recipient),
    dueAt: mail.dueAt ?? mail.createdAt,
    settledAt: mail.status === 'dead' ? mail.createdAt : null,
  });

interface Unsent {
  readonly accountId: string;
  readonly recipient: string;
  readonly kind: string;
}

const UNSENT = ['message_id', 'challenge_hash', 'sealed', 'due_at'] as const;

const toUnsent = (row: {
  readonly message_id: string;
  readonly challenge_hash: string | null;
  readonly sealed: string | null;
  readonly due_at: number;
}) => ({ messageId: row.message_id, challenge: row.challenge_hash, sealed: row.sealed, dueAt: row.due_at });

/** Removes the messages that wait for their first attempt. One that another process claims meanwhile stays. */
export const takeUnsent = many(
  (db, p: Unsent) =>
    db
      .deleteFrom('mail')
      .where('account_id', '=', p.accountId)
      .where('status', '=', 'waiting')
      .where('recipient', '=', p.recipient)
      .where('kind', '=', p.kind)
      .where('attempts', '=', 0)
      .returning(UNSENT),
  toUnsent,
);

/** Removes the messages of the mailbox that would not have been sent yet. */
export const takeHeld = many(
  (db, p: Unsent & { now: number }) =>
    db
      .deleteFrom('mail')
      .where('account_id', '=', p.accountId)
      .where('status', '=', 'kept')
      .where('recipient', '=', p.recipient)
      .where('kind', '=', p.kind)
      .where('due_at', '>', p.now)
      .returning(UNSENT),
  toUnsent,
);

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
    .set({ recipient: '', recipient_domain: '', sealed: null, problem: p.problem })
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
