import type { Work } from '../platform/database/database.ts';
import { command, many } from '../platform/database/statement.ts';

/**
 * `waiting`: to be sent, or sent again. `kept`: shown at `/mailbox`, and never sent. `dead`: given up; it can be tried again until
 * it expires.
 */
export type MailStatus = 'waiting' | 'sent' | 'dead' | 'expired' | 'kept';

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

/** Erases the content of messages that were given up and have expired. */
export const eraseDead = command((db, p: { now: number }) =>
  db
    .updateTable('mail')
    .set({ sealed: null })
    .where('status', '=', 'dead')
    .where('expires_at', '<=', p.now)
    .where('sealed', 'is not', null),
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
export const removeMail = command((db, p: { status: string; before: number }) =>
  db.deleteFrom('mail').where('status', '=', p.status).where('due_at', '<=', p.before),
);
