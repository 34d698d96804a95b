import { pick } from '../platform/database/columns.ts';
import type { Database, Work } from '../platform/database/database.ts';
import { forNoKeyUpdate } from '../platform/database/row-locks.ts';
import {
  changes,
  columnsOf,
  command,
  decoder,
  encode,
  many,
  one,
  plain,
  prefixed,
  storedField,
  type Values,
} from '../platform/database/statement.ts';
import {
  containing,
  type Found,
  matches,
  type Search,
  type SearchRange,
  searchInSteps,
} from '../platform/database/text-search.ts';
import { addressSearchText } from '../platform/domain-name.ts';
import { isSnowflake } from '../platform/ids/ids.ts';
import { type Profile, STORED_PROFILE } from './fields.ts';
import { forgetBrowsersOfRange } from './known-browser-store.ts';
import { emailKey, identifierKey } from './rules/profile.ts';
import type { AccountTable } from './tables.ts';

const STORED = {
  id: storedField('id', plain<string>()),
  passwordHash: storedField('password_hash', plain<string | null>()),
  /** When the password was set; null since the account was created, or for longer than this is recorded. */
  passwordSetAt: storedField('password_set_at', plain<number | null>()),
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
export const JOINED_PROFILE_COLUMNS = columnsOf(STORED_PROFILE).map((column) => `a.${column}` as const);

/** Reads a profile from a row that has its columns. */
export const toProfile: (row: object) => Profile = decoder(STORED_PROFILE);
const toAccount: (row: object) => Account = decoder(STORED);

/** The columns of an account in a join where the table's alias is `a`, and its fields in such a row. */
export const JOINED_ACCOUNT_COLUMNS = columnsOf(STORED).map((column) => `a.${column} as a_${column}` as const);
export const JOINED_ACCOUNT_FIELDS = prefixed('a_', STORED);

const toRow = (account: Account): AccountTable => ({
  ...encode(STORED, account),
  email_key: emailKey(account.profile.email),
});

export const findAccount = one(
  (db, p: { id: string }) => db.selectFrom('account').select(COLUMNS).where('id', '=', p.id),
  toAccount,
);

/** Whether there is any account. */
export const hasAccounts = one((db, _p: object) => db.selectFrom('account').select('id').orderBy('id').limit(1));

/** Reads an account and locks it against changes until the unit of work ends. Rows that refer to it may still be written. */
export const lockAccount = one(
  (db, p: { id: string }) => db.selectFrom('account').select(COLUMNS).where('id', '=', p.id).$call(forNoKeyUpdate),
  toAccount,
);

/** Locks an account as {@link lockAccount} does, without reading it. Until the unit of work ends, no sign-in to it commits. */
export const takeAccountLock = command((db, p: { id: string }) =>
  db.selectFrom('account').select('id').where('id', '=', p.id).$call(forNoKeyUpdate),
);

/** {@link takeAccountLock} for a unit of work that changes what an account holds as an operator; undefined where there is no account. */
export const lockOperator = one(
  (db, p: { accountId: string }) =>
    db.selectFrom('account').select('id').where('id', '=', p.accountId).$call(forNoKeyUpdate),
  ({ id }) => id,
);

/**
 * Locks the account that acts in a unit of work, and the one that it acts on, always in the order of their ids. What ends the rights of
 * either comes before the unit or after it. Units that wait for such a lock get it in turn: where acts only shared it, a stream of them
 * would keep a ban or a report waiting for as long as it goes on.
 */
export const lockActing = command((db, p: { accountId: string; actedOn: string }) =>
  db.selectFrom('account').select('id').where('id', 'in', [p.accountId, p.actedOn]).orderBy('id').$call(forNoKeyUpdate),
);

const findByUsername = one(
  (db, p: { username: string }) => db.selectFrom('account').select(COLUMNS).where('username', '=', p.username),
  toAccount,
);
const findByEmailKey = one(
  (db, p: { key: string }) => db.selectFrom('account').select(COLUMNS).where('email_key', '=', p.key),
  toAccount,
);

/** Finds an account by its username or email address as typed, ignoring case. */
export function findByIdentifier(identifier: string): Work<Account | undefined> {
  const key = identifierKey(identifier);
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

const lastOfStep = one((db, p: { after: string; size: number }) =>
  db
    .selectFrom(db.selectFrom('account').select('id').where('id', '>', p.after).orderBy('id').limit(p.size).as('step'))
    .select((eb) => eb.fn.max('step.id').as('id')),
);

/** Usernames and address keys are in lower case. SQLite's `lower` converts ASCII letters only, so names are also compared as typed. */
const searchStep = many(
  (db, p: SearchRange & { pattern: string; address: string; asTyped: string; id: string; except: string }) =>
    db
      .selectFrom('account')
      .select(COLUMNS)
      .where('id', '>', p.after)
      .where('id', '<=', p.through)
      .where('id', '<>', p.except)
      .where((eb) =>
        eb.or([
          eb('id', '=', p.id),
          matches(eb.ref('username'), p.pattern),
          matches(eb.ref('email_key'), p.address),
          matches(eb.fn('lower', ['display_name']), p.pattern),
          matches(eb.ref('display_name'), p.asTyped),
        ]),
      )
      .orderBy('id')
      .limit(p.limit),
  toAccount,
);

/** Some of the accounts after an id, in the order of their ids. */
export interface AccountPage {
  readonly after: string;
  readonly limit: number;
}

/** Accounts after an id, in the order of their ids. */
export const listAccounts = page;

/** A search for accounts by a text. */
export interface AccountSearch extends Search {
  readonly text: string;
  /** The id of an account that is not to be found. */
  readonly except?: string;
}

/** Accounts whose name or address contains a text, or whose id it is, in the order of their ids: see {@link searchInSteps}. */
export function findAccountsContaining(
  database: Pick<Database, 'read'>,
  { text, except = '0', ...search }: AccountSearch,
): Promise<Found<Account>> {
  const sought = {
    pattern: containing(text.toLowerCase()),
    address: containing(addressSearchText(text).toLowerCase()),
    asTyped: containing(text),
    id: isSnowflake(text) ? text : '0',
    except,
  };
  return searchInSteps(database, search, lastOfStep, (range) => searchStep({ ...sought, ...range }));
}

/** Finds the account whose id, username or email address a text is. A username may consist of digits only, so the id is tried first. */
function* findByIdOrIdentifier(text: string): Work<Account | undefined> {
  return (isSnowflake(text) ? yield* findAccount({ id: text }) : undefined) ?? (yield* findByIdentifier(text));
}

/** Searches as {@link findAccountsContaining} does, but begins with the account whose id, username or email address the text is. */
export async function searchAccounts(database: Pick<Database, 'read'>, search: AccountSearch): Promise<Found<Account>> {
  const first = await database.read(() => findByIdOrIdentifier(search.text));
  if (first === undefined) return findAccountsContaining(database, search);
  const others = { ...search, except: first.id };
  if (search.after !== '0') return findAccountsContaining(database, others);
  const { items, next } = await findAccountsContaining(database, { ...others, limit: search.limit - 1 });
  return { items: [first, ...items], next };
}

/** The ids of accounts after one of them. */
export const listAccountIds = many((db, p: { after: string; limit: number }) =>
  db.selectFrom('account').select('id').where('id', '>', p.after).orderBy('id').limit(p.limit),
);

/** The last id of the next batch of accounts after an id; undefined where there are no more. */
export function* endOfBatch(after: string, limit: number): Work<string | undefined> {
  return (yield* listAccountIds({ after, limit })).at(-1)?.id;
}

const setGenerations = command((db, p: { after: string; through: string; generation: string }) =>
  db.updateTable('account').set({ generation: p.generation }).where('id', '>', p.after).where('id', '<=', p.through),
);

/**
 * Sets the generation of the accounts after one id through another, which invalidates everything issued to them. The browsers that signed
 * in before are forgotten, as with every new generation.
 */
export function* renewGenerations(range: { after: string; through: string; generation: string }): Work<void> {
  yield* setGenerations(range);
  yield* forgetBrowsersOfRange(range);
}

/** Accounts whose deletion is due. */
export const listDueDeletions = many((db, p: { now: number; limit: number }) =>
  db.selectFrom('account').select('id').where('deletion_due_at', '<=', p.now).limit(p.limit),
);
