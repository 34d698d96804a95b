import type { Kysely } from 'kysely';
import { forUpdate } from '../platform/database/row-locks.ts';
import type { Tables } from '../platform/database/schema.ts';
import {
  changes,
  columnsOf,
  command,
  decoder,
  many,
  one,
  plain,
  storedField,
  type Values,
} from '../platform/database/statement.ts';

const TOKEN = {
  id: storedField('id', plain<string>()),
  name: storedField('name', plain<string>()),
  /** The admin key that handed it out, with which it ends; null for the command line. */
  adminKeyId: storedField('admin_key_id', plain<string | null>()),
  createdAt: storedField('created_at', plain<number>()),
  expiresAt: storedField('expires_at', plain<number>()),
  uses: storedField('uses', plain<number>()),
  mostUses: storedField('most_uses', plain<number>()),
  lastUsedAt: storedField('last_used_at', plain<number | null>()),
  revokedAt: storedField('revoked_at', plain<number | null>()),
} as const;

/** A token with which apps may register themselves. Only its hash is stored. */
export type InitialAccessToken = Values<typeof TOKEN>;

const COLUMNS = columnsOf(TOKEN);
const toToken: (row: object) => InitialAccessToken = decoder(TOKEN);

export const insertInitialToken = command((db, p: InitialAccessToken & { hash: string }) =>
  db.insertInto('initial_access_token').values({
    ...{ id: p.id, name: p.name, hash: p.hash, admin_key_id: p.adminKeyId, created_at: p.createdAt },
    ...{ expires_at: p.expiresAt, uses: p.uses, most_uses: p.mostUses },
    ...{ last_used_at: p.lastUsedAt, revoked_at: p.revokedAt },
  }),
);

const tokens = (db: Kysely<Tables>) => db.selectFrom('initial_access_token').select(COLUMNS);

export const findInitialToken = one((db, p: { hash: string }) => tokens(db).where('hash', '=', p.hash), toToken);

/** Reads a token and locks it: its revocation waits for this unit of work. */
export const lockInitialToken = one(
  (db, p: { id: string }) => tokens(db).where('id', '=', p.id).$call(forUpdate),
  toToken,
);

export const countInitialTokenUse = command((db, p: { id: string; now: number }) =>
  db
    .updateTable('initial_access_token')
    .set((eb) => ({ uses: eb('uses', '+', 1), last_used_at: p.now }))
    .where('id', '=', p.id),
);

export const listInitialTokens = many(
  (db, p: { after: string; limit: number }) => tokens(db).where('id', '>', p.after).orderBy('id').limit(p.limit),
  toToken,
);

/** Marks a token as revoked; false where it was before. */
export const markInitialTokenRevoked = changes((db, p: { id: string; now: number }) =>
  db
    .updateTable('initial_access_token')
    .set({ revoked_at: p.now })
    .where('id', '=', p.id)
    .where('revoked_at', 'is', null)
    .returning('id'),
);

/** Ends what an admin key handed out. @returns when each would have expired */
export const revokeInitialTokensOfAdminKey = many(
  (db, p: { adminKeyId: string; now: number }) =>
    db
      .updateTable('initial_access_token')
      .set({ revoked_at: p.now })
      .where('admin_key_id', '=', p.adminKeyId)
      .where('revoked_at', 'is', null)
      .returning(['expires_at', 'uses', 'most_uses']),
  (row) => (row.uses < row.most_uses ? row.expires_at : 0),
);

/** Ends all of them. */
export const revokeAllInitialTokens = command((db, p: { now: number }) =>
  db.updateTable('initial_access_token').set({ revoked_at: p.now }).where('revoked_at', 'is', null),
);
