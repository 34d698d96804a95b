import { changes, command, one } from '../platform/database/statement.ts';

/** A username that was given up: until then only its former owner may take it. */
export interface UsernameReservation {
  readonly username: string;
  /** Null where the account was deleted. */
  readonly accountId: string | null;
  readonly heldUntil: number;
}

export const findReservation = one(
  (db, p: { username: string }) =>
    db
      .selectFrom('username_reservation')
      .select(['username', 'account_id', 'held_until'])
      .where('username', '=', p.username),
  ({ username, account_id, held_until }): UsernameReservation => ({
    username,
    accountId: account_id,
    heldUntil: held_until,
  }),
);

export const reserveUsername = command((db, p: UsernameReservation) =>
  db
    .insertInto('username_reservation')
    .values({ username: p.username, account_id: p.accountId, held_until: p.heldUntil })
    .onConflict((conflict) =>
      conflict.column('username').doUpdateSet((eb) => ({
        account_id: eb.ref('excluded.account_id'),
        held_until: eb.ref('excluded.held_until'),
      })),
    ),
);

/** Frees a username; false where it is not held. */
export const removeReservation = changes((db, p: { username: string }) =>
  db.deleteFrom('username_reservation').where('username', '=', p.username).returning('username'),
);

/** Frees the usernames that an account had before. */
export const removeReservationsOf = command((db, p: { accountId: string }) =>
  db.deleteFrom('username_reservation').where('account_id', '=', p.accountId),
);
