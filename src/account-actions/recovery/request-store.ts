import { changes, command, many } from '../../platform/database/statement.ts';

/** A link or code that a browser asked for, and that is not made yet. */
export interface StoredMailRequest {
  readonly id: string;
  readonly purpose: string;
  readonly sealed: string;
  readonly createdAt: number;
  /** How often the message could not be made. */
  readonly attempts: number;
}

export const insertRequest = command((db, p: { id: string; purpose: string; sealed: string; now: number }) =>
  db
    .insertInto('mail_request')
    .values({ id: p.id, purpose: p.purpose, sealed: p.sealed, created_at: p.now, attempts: 0, due_at: p.now }),
);

/** The requests whose turn it is. */
export const listRequests = many(
  (db, p: { now: number; limit: number }) =>
    db
      .selectFrom('mail_request')
      .select(['id', 'purpose', 'sealed', 'created_at', 'attempts'])
      .where('due_at', '<=', p.now)
      .orderBy('due_at')
      .limit(p.limit),
  ({ id, purpose, sealed, created_at, attempts }): StoredMailRequest => ({
    id,
    purpose,
    sealed,
    createdAt: created_at,
    attempts,
  }),
);

/** Counts a failed attempt, and makes a request due later; false where another node took it, or counted its own attempt. */
export const postponeRequest = changes((db, p: { id: string; attempts: number; dueAt: number }) =>
  db
    .updateTable('mail_request')
    .set((eb) => ({ attempts: eb('attempts', '+', 1), due_at: p.dueAt }))
    .where('id', '=', p.id)
    .where('attempts', '=', p.attempts)
    .returning('id'),
);

/** Removes all requests. */
export const removeRequests = command((db, _p: object) => db.deleteFrom('mail_request'));

/** Takes a request, once; false where another node took it. */
export const takeRequest = changes((db, p: { id: string }) =>
  db.deleteFrom('mail_request').where('id', '=', p.id).returning('id'),
);
