import { sql } from 'kysely';
import { pick } from '../platform/database/columns.ts';
import type { Database, Work } from '../platform/database/database.ts';
import type { AccountTable } from '../platform/database/schema.ts';
import {
  changes,
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
import { isSnowflake } from '../platform/ids/ids.ts';
import { type Profile, STORED_PROFILE } from './fields.ts';
import { emailKey } from './rules/profile.ts';

const STORED = {
  id: storedField('id', plain<string>()),
  passwordHash: storedField('password_hash', plain<string | null>()),
  /** Replaced to invalidate every session, code and token of the user. */
  generation: storedField('generation', plain<string>()),
  bannedAt: storedField('banned_at', plain<number | null>()),
  bannedUntil: storedField('banned_until', plain<number | null>()),
  banReason: storedField('ban_reason', plain<string | null>()),
  suspendedAt: storedField('suspended_at', plain<number | null>()),
  suspensionReason: storedField('suspension_reason', plain<string | null>()),
  deletionRequestedAt: storedField('deletion_requested_at', plain<number | null>()),
  deletionDueAt: storedField('deletion_due_at', plain<number | null>()),
  createdAt: storedField('created_at', plain<number>()),
  updatedAt: storedField('updated_at', plain<number>()),
  profile: STORED_PROFILE,
} as const;

/** A user's account. */
export type Account = Values<typeof STORED>;

const COLUMNS = [...columnsOf(STORED), 'email_key'] as const;
const columns = (p: AccountTable): AccountTable => pick(p, COLUMNS);

/** The columns of a profile in a join where the table's alias is `a`. */
export const PROFILE_OF_A = columnsOf(STORED_PROFILE).map((column) => `a.${column}` as const);

/** Reads a profile from a row that has its columns. */
export const toProfile: (row: object) => Profile = decoder(STORED_PROFILE);
const toAccount: (row: object) => Account = decoder(STORED);

const toRow = (account: Account): AccountTable => ({
  ...encode(STORED, account),
  email_key: emailKey(account.profile.email),
});

export const findAccount = one(
  (db, p: { id: string }) => db.selectFrom('account').select(COLUMNS).where('id', '=', p.id),
  toAccount,
);

/** Reads an account and locks it against changes until the unit of work ends. Rows that refer to it may still be written. */
export const lockAccount = one(
  (db, p: { id: string }) => db.selectFrom('account').select(COLUMNS).where('id', '=', p.id).forNoKeyUpdate(),
  toAccount,
);

/** Locks an account as {@link lockAccount} does, without reading it. Until the unit of work ends, no sign-in to it commits. */
export const takeAccountLock = command((db, p: { id: string }) =>
  db.selectFrom('account').select('id').where('id', '=', p.id).forNoKeyUpdate(),
);

const findByUsername = one(
  (db, p: { username: string }) => db.selectFrom('account').select(COLUMNS).where('username', '=', p.username),
  toAccount,
);
const findByEmailKey = one(
  (db, p: { key: string }) => db.selectFrom('account').select(COLUMNS).where('email_key', '=', p.key),
  toAccount,
);

/** Finds an account by its username or email address, ignoring case. */
export function findByIdentifier(identifier: string): Work<Account | undefined> {
  const key = identifier.toLowerCase();
  return key.includes('@') ? findByEmailKey({ key }) : findByUsername({ username: key });
}

/** The field of a profile whose value another account has, if there is one. */
export function* takenField(profile: Profile, ownId: string): Work<'username' | 'email' | undefined> {
  const sameName = yield* findByUsername({ username: profile.username });
  if (sameName !== undefined && sameName.id !== ownId) return 'username';
  const sameEmail = yield* findByEmailKey({ key: emailKey(profile.email) });
  return sameEmail !== undefined && sameEmail.id !== ownId ? 'email' : undefined;
}

const insert = changes((db, p: AccountTable) =>
  db
    .insertInto('account')
    .values(columns(p))
    .onConflict((conflict) => conflict.doNothing())
    .returning('id'),
);
const update = command((db, p: AccountTable) => db.updateTable('account').set(columns(p)).where('id', '=', p.id));

/** Inserts an account; false where the username or email address is taken. */
export const insertAccount = (account: Account): Work<boolean> => insert(toRow(account));

export const saveAccount = (account: Account): Work<void> => update(toRow(account));

/** Deletes an account; false where it does not exist. */
export const removeAccount = changes((db, p: { id: string }) =>
  db.deleteFrom('account').where('id', '=', p.id).returning('id'),
);

const page = many(
  (db, p: { after: string; limit: number }) =>
    db.selectFrom('account').select(COLUMNS).where('id', '>', p.after).orderBy('id').limit(p.limit),
  toAccount,
);

/** Whether a column matches a pattern in lower case. SQLite's `lower` converts ASCII letters only. */
const contains = (column: 'username' | 'email_key' | 'display_name', pattern: string) =>
  sql<boolean>`lower(${sql.ref(column)}) like ${pattern} escape '\\'`;

/** How many accounts one read of a search examines at most, so that other requests do not wait for it. */
const SEARCH_STEP = 5000;

const lastOfStep = one((db, p: { after: string; size: number }) =>
  db
    .selectFrom(db.selectFrom('account').select('id').where('id', '>', p.after).orderBy('id').limit(p.size).as('step'))
    .select((eb) => eb.fn.max('step.id').as('id')),
);

const searchStep = many(
  (db, p: { after: string; through: string; limit: number; pattern: string; asTyped: string; id: string }) =>
    db
      .selectFrom('account')
      .select(COLUMNS)
      .where('id', '>', p.after)
      .where('id', '<=', p.through)
      .where((eb) =>
        eb.or([
          eb('id', '=', p.id),
          contains('username', p.pattern),
          contains('email_key', p.pattern),
          contains('display_name', p.pattern),
          sql<boolean>`display_name like ${p.asTyped} escape '\\'`,
        ]),
      )
      .orderBy('id')
      .limit(p.limit),
  toAccount,
);

/** A LIKE pattern for values that contain a text literally. */
const containing = (text: string): string => `%${text.replace(/[\\%_]/g, '\\$&')}%`;

/** Some of the accounts after an id, in the order of their ids. */
export interface AccountPage {
  readonly after: string;
  readonly limit: number;
}

/** Accounts after an id, in the order of their ids. */
export const listAccounts = page;

/**
 * The same for those whose name or address contains a text, or whose id it is. No index finds them, so all accounts are examined until there
 * are enough, in reads that do not take long each.
 * @param size how many accounts one read examines
 */
export async function searchAccounts(
  database: Pick<Database, 'read'>,
  { after: start, limit, text, size = SEARCH_STEP }: AccountPage & { readonly text: string; readonly size?: number },
): Promise<readonly Account[]> {
  const sought = {
    pattern: containing(text.toLowerCase()),
    asTyped: containing(text),
    id: isSnowflake(text) ? text : '0',
  };
  const found: Account[] = [];
  for (let after = start; found.length < limit; ) {
    const through = (await database.read(() => lastOfStep({ after, size })))?.id;
    if (through == null) break;
    const step = { ...sought, after, through, limit: limit - found.length };
    found.push(...(await database.read(() => searchStep(step))));
    after = through;
  }
  return found;
}

/** The ids of accounts after one of them. */
export const listAccountIds = many((db, p: { after: string; limit: number }) =>
  db.selectFrom('account').select('id').where('id', '>', p.after).orderBy('id').limit(p.limit),
);

/** The last id of the next batch of accounts after an id; undefined where there are no more. */
export function* endOfBatch(after: string, limit: number): Work<string | undefined> {
  return (yield* listAccountIds({ after, limit })).at(-1)?.id;
}

/** Sets the generation of the accounts after one id through another, which invalidates everything issued to them. */
export const renewGenerations = command((db, p: { after: string; through: string; generation: string }) =>
  db.updateTable('account').set({ generation: p.generation }).where('id', '>', p.after).where('id', '<=', p.through),
);

/** Accounts whose deletion is due. */
export const listDueDeletions = many((db, p: { now: number; limit: number }) =>
  db.selectFrom('account').select('id').where('deletion_due_at', '<=', p.now).limit(p.limit),
);
