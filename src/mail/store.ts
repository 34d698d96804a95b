import type { Insertable, Kysely } from 'kysely';
import { pick } from '../platform/database/columns.ts';
import type { Work } from '../platform/database/database.ts';
import type { Tables } from '../platform/database/schema.ts';
import {
  columnsOf,
  command,
  decoder,
  encode,
  many,
  one,
  plain,
  storedField,
  type Values,
} from '../platform/database/statement.ts';
import type { MailKind } from './mail.ts';
import { domainOf, priorityOf } from './rules/slots.ts';
import type { MailTable } from './tables.ts';

/** `waiting`: to be sent, or sent again. `kept`: shown at `/mailbox`, and never sent. `dead`: given up. */
export const mailStatuses = ['waiting', 'sent', 'dead', 'expired', 'kept'] as const;
export type MailStatus = (typeof mailStatuses)[number];

/** The stored fields of a message. */
export const MAIL = {
  id: storedField('id', plain<string>()),
  messageId: storedField('message_id', plain<string>()),
  kind: storedField('kind', plain<MailKind>()),
  priority: storedField('priority', plain<number>()),
  accountId: storedField('account_id', plain<string | null>()),
  recipient: storedField('recipient', plain<string>()),
  recipientDomain: storedField('recipient_domain', plain<string>()),
  challengeHash: storedField('challenge_hash', plain<string | null>()),
  sealed: storedField('sealed', plain<string | null>()),
  status: storedField('status', plain<MailStatus>()),
  /** Counts the attempt that a claim is for. */
  attempts: storedField('attempts', plain<number>()),
  /** Counts it, too, until its result is known. */
  unconfirmed: storedField('unconfirmed', plain<number>()),
  /** When it is sent at the earliest. */
  dueAt: storedField('due_at', plain<number>()),
  createdAt: storedField('created_at', plain<number>()),
  expiresAt: storedField('expires_at', plain<number>()),
  settledAt: storedField('settled_at', plain<number | null>()),
  problem: storedField('problem', plain<string | null>()),
} as const;

type Mail = Values<typeof MAIL>;

const { id: _, ...NEW } = MAIL;

const insert = command((db, p: Insertable<MailTable>) => db.insertInto('mail').values(pick(p, columnsOf(NEW))));

/** A new message. */
export type StoredMail = Omit<
  Mail,
  'id' | 'priority' | 'recipientDomain' | 'attempts' | 'unconfirmed' | 'settledAt' | 'dueAt'
> & {
  /** When it is sent at the earliest; at once by default. */
  readonly dueAt?: number;
};

export const insertMail = (mail: StoredMail): Work<void> =>
  insert(
    encode(NEW, {
      ...mail,
      priority: priorityOf(mail.kind),
      recipientDomain: domainOf(mail.recipient),
      attempts: 0,
      unconfirmed: 0,
      dueAt: mail.dueAt ?? mail.createdAt,
      settledAt: mail.status === 'dead' ? mail.createdAt : null,
    }),
  );

interface Unsent {
  readonly accountId: string;
  readonly recipient: string;
  readonly kind: string;
}

const UNSENT = { ...pick(MAIL, ['messageId', 'sealed', 'dueAt']), challenge: MAIL.challengeHash } as const;
const toUnsent = decoder(UNSENT);

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
      .returning(columnsOf(UNSENT)),
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
      .returning(columnsOf(UNSENT)),
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

const KEPT = pick(MAIL, ['id', 'messageId', 'kind', 'recipient', 'sealed', 'createdAt']);

/** The messages of the mailbox, newest first. */
export const listKept = many(
  (db, p: { limit: number }) =>
    db.selectFrom('mail').select(columnsOf(KEPT)).where('status', '=', 'kept').orderBy('id', 'desc').limit(p.limit),
  decoder(KEPT),
);

const LISTED = pick(MAIL, [
  'id',
  'kind',
  'accountId',
  'recipient',
  'status',
  'attempts',
  'createdAt',
  'expiresAt',
  'dueAt',
  'settledAt',
  'problem',
]);

/** A message as operators see it: never its content. */
export interface ListedMail extends Omit<Values<typeof LISTED>, 'dueAt'> {
  /** When it is tried next; null unless it waits. */
  readonly dueAt: number | null;
}

const decodeListed = decoder(LISTED);

function toListed(row: object): ListedMail {
  const mail = decodeListed(row);
  return { ...mail, dueAt: mail.status === 'waiting' ? mail.dueAt : null };
}

/** The messages before an id, newest first. */
export const listMail = many(
  (db, p: { before: string; limit: number }) =>
    db.selectFrom('mail').select(columnsOf(LISTED)).where('id', '<', p.before).orderBy('id', 'desc').limit(p.limit),
  toListed,
);

/** The messages of a status before an id, newest first. */
export const listMailOf = many(
  (db, p: { status: string; before: string; limit: number }) =>
    db
      .selectFrom('mail')
      .select(columnsOf(LISTED))
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
export const deadMails = (db: Kysely<Tables>) =>
  db
    .selectFrom('mail')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('status', '=', 'dead');

export const countDead = one(deadMails, (row) => Number(row.count));

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
