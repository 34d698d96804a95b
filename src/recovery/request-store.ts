import { changes, command, many } from '../platform/database/statement.ts';

/** A link and code that a browser asked for, and that are not made yet. All of them are for recovery. */
export interface StoredMailRequest {
  readonly id: string;
  readonly sealed: string;
  readonly createdAt: number;
}

export const insertRequest = command((db, p: { id: string; sealed: string; now: number }) =>
  db.insertInto('mail_request').values({ id: p.id, purpose: 'recover', sealed: p.sealed, created_at: p.now }),
);

export const listRequests = many(
  (db, p: { limit: number }) =>
    db
      .selectFrom('mail_request')
      .select(['id', 'sealed', 'created_at'])
      // Uses the index.
      .where('created_at', '>', 0)
      .orderBy('created_at')
      .limit(p.limit),
  ({ id, sealed, created_at }): StoredMailRequest => ({
    id,
    sealed,
    createdAt: created_at,
  }),
);

/** Takes a request, once; false where another node took it. */
export const takeRequest = changes((db, p: { id: string }) =>
  db.deleteFrom('mail_request').where('id', '=', p.id).returning('id'),
);
