import { pick } from '../platform/database/columns.ts';
import type { Work } from '../platform/database/database.ts';
import {
  bit,
  changes,
  columnsOf,
  command,
  decoder,
  encode,
  json,
  many,
  one,
  plain,
  storedField,
  type Values,
} from '../platform/database/statement.ts';
import type { PasskeyTable } from './tables.ts';

const PASSKEY = {
  /** The credential id, as base64url. */
  id: storedField('id', plain<string>()),
  accountId: storedField('account_id', plain<string>()),
  /** COSE, as octets. */
  publicKey: storedField('public_key', plain<Uint8Array>()),
  counter: storedField('counter', plain<number>()),
  transports: storedField('transports', json<readonly string[]>()),
  name: storedField('name', plain<string>()),
  aaguid: storedField('aaguid', plain<string>()),
  /** Whether it may be synced between devices, */
  backupEligible: storedField('backup_eligible', bit),
  /** and whether it was when it was last used. */
  backedUp: storedField('backed_up', bit),
  createdAt: storedField('created_at', plain<number>()),
  lastUsedAt: storedField('last_used_at', plain<number | null>()),
} as const;

/** A passkey that a person set up. */
export type Passkey = Values<typeof PASSKEY>;

const COLUMNS = columnsOf(PASSKEY);
const toPasskey: (row: object) => Passkey = decoder(PASSKEY);

const insert = changes((db, p: PasskeyTable) =>
  db
    .insertInto('passkey')
    .values(pick(p, COLUMNS))
    .onConflict((conflict) => conflict.doNothing())
    .returning('id'),
);

/** Inserts a passkey; false where one with this id exists. */
export const insertPasskey = (passkey: Passkey): Work<boolean> => insert(encode(PASSKEY, passkey));

export const findPasskey = one(
  (db, p: { id: string }) => db.selectFrom('passkey').select(COLUMNS).where('id', '=', p.id),
  toPasskey,
);

/** The passkeys of an account, the oldest first. */
export const listPasskeys = many(
  (db, p: { accountId: string }) =>
    db.selectFrom('passkey').select(COLUMNS).where('account_id', '=', p.accountId).orderBy('created_at').orderBy('id'),
  toPasskey,
);

export const recordPasskeyUse = command((db, p: { id: string; counter: number; backedUp: number; now: number }) =>
  db
    .updateTable('passkey')
    .set({ counter: p.counter, backed_up: p.backedUp, last_used_at: p.now })
    .where('id', '=', p.id),
);

/** Gives a passkey another name; false where the account has no such passkey. */
export const updatePasskeyName = changes((db, p: { id: string; accountId: string; name: string }) =>
  db
    .updateTable('passkey')
    .set({ name: p.name })
    .where('id', '=', p.id)
    .where('account_id', '=', p.accountId)
    .returning('id'),
);

/** Removes a passkey; false where the account has no such passkey. */
export const removePasskey = changes((db, p: { id: string; accountId: string }) =>
  db.deleteFrom('passkey').where('id', '=', p.id).where('account_id', '=', p.accountId).returning('id'),
);
