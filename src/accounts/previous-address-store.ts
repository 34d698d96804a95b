import type { Insertable, Kysely } from 'kysely';
import { DAY } from '../platform/clock.ts';
import { pick } from '../platform/database/columns.ts';
import type { Work } from '../platform/database/database.ts';
import type { Tables } from '../platform/database/schema.ts';
import {
  type Codec,
  columnsOf,
  command,
  decoder,
  encode,
  jsonOr,
  many,
  one,
  plain,
  storedField,
  type Values,
} from '../platform/database/statement.ts';
import type { AddressChangeTable } from './tables.ts';

/** What an earlier address is good for. */
const STANDINGS = [
  /** Its link undoes the change, and it is reserved. */
  'right',
  /** An operator took it away: it is remembered, in case the operator was deceived and gives it back. */
  'taken',
  /** The account never verified it: it may be a stranger's, and is remembered for the person who goes back to it. */
  'unverified',
] as const;
type Standing = (typeof STANDINGS)[number];

const standing: Codec<Standing, number> = {
  decode: (stored) => STANDINGS[Number(stored)] ?? 'taken',
  encode: (value) => STANDINGS.indexOf(value),
};
const RIGHT = standing.encode('right');
const TAKEN = standing.encode('taken');

const PREVIOUS_ADDRESS = {
  /** The secret of the link that undoes the change is stored as a hash. */
  hash: storedField('hash', plain<string>()),
  accountId: storedField('account_id', plain<string>()),
  /** As the account had it. */
  email: storedField('email', plain<string>()),
  /** When it was changed. */
  changedAt: storedField('created_at', plain<number>()),
  /** Factors that were added from then on are not asked for by the undo, and removed by it: see `unansweredSince`. */
  factorsSince: storedField('factors_since', plain<number>()),
  expiresAt: storedField('expires_at', plain<number>()),
  standing: storedField('by_operator', standing),
  /** When the second factor was set up that proved the change; null where none did, or where that is not known. */
  provedBy: storedField('proved_by', plain<number | null>()),
  /** When the passkeys were set up that go when the change is taken back: another person may have made it with one of them. */
  passkeys: storedField('passkeys', jsonOr<readonly number[], readonly number[]>([])),
} as const;

/** An address that an account had until it was changed. */
export type PreviousAddress = Values<typeof PREVIOUS_ADDRESS>;

const COLUMNS = columnsOf(PREVIOUS_ADDRESS);
const toPreviousAddress: (row: object) => PreviousAddress = decoder(PREVIOUS_ADDRESS);

const insert = command((db, p: Insertable<AddressChangeTable>) =>
  db.insertInto('address_change').values(pick(p, [...COLUMNS, 'email_key'])),
);

export const insertPreviousAddress = (previous: PreviousAddress): Work<void> =>
  insert({ ...encode(PREVIOUS_ADDRESS, previous), email_key: previous.email.toLowerCase() });

export const findPreviousAddress = one(
  (db, p: { hash: string; now: number }) =>
    db
      .selectFrom('address_change')
      .select(COLUMNS)
      .where('hash', '=', p.hash)
      .where('expires_at', '>', p.now)
      .where('by_operator', '=', RIGHT),
  toPreviousAddress,
);

const select = (db: Kysely<Tables>, p: { accountId: string; now: number }) =>
  db
    .selectFrom('address_change')
    .select(COLUMNS)
    .where('account_id', '=', p.accountId)
    .where('expires_at', '>', p.now)
    .orderBy('created_at', 'desc');

/** The addresses that an account had in the last days and can go back to, the latest first. */
export const listPreviousAddresses = many(
  (db, p: Parameters<typeof select>[1]) => select(db, p).where('by_operator', '=', RIGHT),
  toPreviousAddress,
);

/** The addresses that an account can go back to by verifying them again, the latest first: those with a right, and unverified ones. */
export const listAddressesToReturnTo = many(
  (db, p: Parameters<typeof select>[1]) => select(db, p).where('by_operator', '!=', TAKEN),
  toPreviousAddress,
);

/** All addresses that an account had in the last days, the latest first. */
export const listEarlierAddresses = many(select, toPreviousAddress);

/** An address is reserved no longer than this, however often its right is prolonged: its mailbox may have become another person's. */
const LONGEST_RESERVATION = 28 * DAY;

const findReservation = one((db, p: { key: string; accountId: string; now: number; after: number }) =>
  db
    .selectFrom('address_change')
    .select('hash')
    .where('email_key', '=', p.key)
    .where('account_id', '<>', p.accountId)
    .where('expires_at', '>', p.now)
    .where('created_at', '>', p.after)
    .where('by_operator', '=', RIGHT)
    .limit(1),
);

/** Whether an address is reserved for another account, which had it until a few days ago and may get it back. */
export function* isReservedAddress(email: string, accountId: string, now: number): Work<boolean> {
  const after = now - LONGEST_RESERVATION;
  return (yield* findReservation({ key: email.toLowerCase(), accountId, now, after })) !== undefined;
}

/** The rights of an account to undo changes end together: none ends before a younger one. */
export const prolongPreviousAddresses = command((db, p: { accountId: string; now: number; expiresAt: number }) =>
  db
    .updateTable('address_change')
    .set({ expires_at: p.expiresAt })
    .where('account_id', '=', p.accountId)
    .where('expires_at', '>', p.now)
    .where('by_operator', '!=', TAKEN),
);

/** Ends the rights to undo the changes of an account since an instant, with the reservations of their addresses. */
export const removePreviousAddresses = command((db, p: { accountId: string; since: number }) =>
  db
    .deleteFrom('address_change')
    .where('account_id', '=', p.accountId)
    .where('created_at', '>=', p.since)
    .where('by_operator', '!=', TAKEN),
);

/**
 * Takes the earlier addresses of an account away, as an operator decides: they give no right any more, and reserve nothing, but are
 * remembered.
 */
export const takeAddressesAway = command((db, p: { accountId: string }) =>
  db
    .updateTable('address_change')
    .set({ by_operator: TAKEN })
    .where('account_id', '=', p.accountId)
    .where('by_operator', '!=', TAKEN),
);

/** Ends the right to undo one change of an account, with the reservation of its address. */
export const removePreviousAddress = command((db, p: { hash: string }) =>
  db.deleteFrom('address_change').where('hash', '=', p.hash),
);
