import { sql } from 'kysely';
import type { Work } from '../platform/database/database.ts';
import { many } from '../platform/database/statement.ts';
import { asciiEmail } from '../platform/domain-name.ts';
import { emailKey } from './rules/profile.ts';

/** Inspections of SQLite read integers as numbers, which have fewer bits. */
const idText = sql<string>`cast(account.id as text)`.as('id');

const listNotAscii = many(
  (db, p: { limit: number }) =>
    db
      .selectFrom('account')
      .select([idText, 'email'])
      .where(sql<boolean>`octet_length(email_key) <> length(email_key)`)
      .orderBy('account.id')
      .limit(p.limit),
  ({ id, email }) => ({ id, email }),
);
const findHolder = many((db, p: { key: string }) =>
  db.selectFrom('account').select(idText).where('email_key', '=', p.key),
);

/** Accounts with one address in different spellings, or an account whose address is none. */
export interface AddressConflict {
  /** The ASCII form; undefined where there is none. */
  readonly email: string | undefined;
  readonly ids: readonly string[];
}

const LIMIT = 1000;

/** The accounts that the migration to domains in ASCII has left for an operator to decide about. */
export function* findAddressConflicts(): Work<readonly AddressConflict[]> {
  const conflicts = new Map<string, AddressConflict>();
  for (const { id, email: stored } of yield* listNotAscii({ limit: LIMIT })) {
    const email = asciiEmail(stored);
    if (email === undefined) {
      conflicts.set(id, { email, ids: [id] });
      continue;
    }
    const key = emailKey(email);
    const before = conflicts.get(key)?.ids ?? (yield* findHolder({ key })).map((holder) => holder.id);
    conflicts.set(key, { email, ids: [...before, id] });
  }
  return [...conflicts.values()];
}
