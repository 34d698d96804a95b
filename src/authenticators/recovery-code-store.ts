import { command, many, one } from '../platform/database/statement.ts';

export const insertRecoveryCode = command((db, p: { accountId: string; hash: string; now: number }) =>
  db.insertInto('recovery_code').values({ account_id: p.accountId, hash: p.hash, created_at: p.now, used_at: null }),
);

/** Uses a recovery code up, once. @returns when it was made; undefined where it is unknown or was used before */
export const spendRecoveryCode = one(
  (db, p: { accountId: string; hash: string; now: number }) =>
    db
      .updateTable('recovery_code')
      .set({ used_at: p.now })
      .where('account_id', '=', p.accountId)
      .where('hash', '=', p.hash)
      .where('used_at', 'is', null)
      .returning('created_at'),
  (row): number => row.created_at,
);

export const removeRecoveryCodes = command((db, p: { accountId: string }) =>
  db.deleteFrom('recovery_code').where('account_id', '=', p.accountId),
);

/** The recovery codes of an account, which were all made together. */
export const listRecoveryCodes = many(
  (db, p: { accountId: string }) =>
    db.selectFrom('recovery_code').select(['hash', 'created_at', 'used_at']).where('account_id', '=', p.accountId),
  ({ hash, created_at, used_at }) => ({ hash, createdAt: created_at, isUsed: used_at !== null }),
);

/** How many recovery codes an account has, and how many of them can still be used. */
export const countRecoveryCodes = one(
  (db, p: { accountId: string }) =>
    db
      .selectFrom('recovery_code')
      .select(({ fn }) => [fn.countAll().as('issued'), fn.count('used_at').as('used')])
      .where('account_id', '=', p.accountId),
  (row) => ({ issued: Number(row.issued), left: Number(row.issued) - Number(row.used) }),
);
