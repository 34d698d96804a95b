import { changes, command, one } from '../platform/database/statement.ts';

/** The seed of an authenticator app. */
export interface TotpSeed {
  /** Encrypted; see `totp.ts`. */
  readonly sealed: string;
  /** The time step of the last code that was accepted. */
  readonly lastStep: number;
  readonly setUpAt: number;
}

export const findTotpSeed = one(
  (db, p: { accountId: string }) =>
    db
      .selectFrom('totp_secret')
      .select(['sealed', 'last_step', 'confirmed_at'])
      .where('account_id', '=', p.accountId)
      .where('confirmed_at', 'is not', null),
  (row): TotpSeed => ({ sealed: row.sealed, lastStep: row.last_step, setUpAt: row.confirmed_at ?? 0 }),
);

/**
 * Records that the code of a time step was accepted.
 * @returns when the app was set up; undefined where that step or a later one was accepted before, or the seed was replaced
 */
export const spendTotpStep = one(
  (db, p: { accountId: string; sealed: string; step: number }) =>
    db
      .updateTable('totp_secret')
      .set({ last_step: p.step })
      .where('account_id', '=', p.accountId)
      .where('sealed', '=', p.sealed)
      .where('last_step', '<', p.step)
      .returning('confirmed_at'),
  (row): number => row.confirmed_at ?? 0,
);

interface NewTotpSeed extends Omit<TotpSeed, 'setUpAt'> {
  readonly accountId: string;
  readonly generation: string;
  readonly now: number;
}

/** Stores the seed of an authenticator app that has shown a code. It replaces an earlier one. */
export const saveTotpSeed = command((db, p: NewTotpSeed) =>
  db
    .insertInto('totp_secret')
    .values({
      account_id: p.accountId,
      sealed: p.sealed,
      generation: p.generation,
      created_at: p.now,
      confirmed_at: p.now,
      last_step: p.lastStep,
    })
    .onConflict((conflict) =>
      conflict.column('account_id').doUpdateSet((eb) => ({
        sealed: eb.ref('excluded.sealed'),
        generation: eb.ref('excluded.generation'),
        created_at: eb.ref('excluded.created_at'),
        confirmed_at: eb.ref('excluded.confirmed_at'),
        last_step: eb.ref('excluded.last_step'),
      })),
    ),
);

export const removeTotpSeed = changes((db, p: { accountId: string }) =>
  db.deleteFrom('totp_secret').where('account_id', '=', p.accountId).returning('account_id'),
);
