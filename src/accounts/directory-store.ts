import type { Kysely } from 'kysely';
import { constant, pick } from '../platform/database/columns.ts';
import type { Work } from '../platform/database/database.ts';
import type { Tables } from '../platform/database/schema.ts';
import { columnsOf, decoder, many, plain, storedField, type Values } from '../platform/database/statement.ts';
import { beginning, matches } from '../platform/database/text-search.ts';
import { addressSearchText } from '../platform/domain-name.ts';
import { isSnowflake } from '../platform/ids/ids.ts';
import { rangeOfBeginning, type TextRange } from './rules/beginning.ts';

/** What a list of people shows of each. */
const LISTED = {
  id: storedField('id', plain<string>()),
  username: storedField('username', plain<string>()),
  displayName: storedField('display_name', plain<string>()),
  email: storedField('email', plain<string>()),
  bannedAt: storedField('banned_at', plain<number | null>()),
  bannedUntil: storedField('banned_until', plain<number | null>()),
  suspendedAt: storedField('suspended_at', plain<number | null>()),
  deletionDueAt: storedField('deletion_due_at', plain<number | null>()),
  createdAt: storedField('created_at', plain<number>()),
} as const;

/** An account in a list. */
export type ListedAccount = Values<typeof LISTED>;

const COLUMNS = columnsOf(LISTED);
const toListed: (row: object) => ListedAccount = decoder(LISTED);

/** The id before which the newest account is. */
export const BEFORE_NEWEST = '9223372036854775807';

/** Accounts before an id, the newest first. */
export const listNewestAccounts = many(
  (db, p: { before: string; limit: number }) =>
    db.selectFrom('account').select(COLUMNS).where('id', '<', p.before).orderBy('id', 'desc').limit(p.limit),
  toListed,
);

interface Beginning {
  /** The text as an id; `0` where it is none. */
  readonly id: string;
  readonly username: string;
  readonly usernameFrom: string;
  readonly usernameTo: string;
  readonly address: string;
  readonly addressFrom: string;
  readonly addressTo: string;
  readonly limit: number;
}

const rowsBy = (db: Kysely<Tables>, place: number) =>
  db.selectFrom('account').select([constant(place).as('place'), ...COLUMNS]);

const byId = (db: Kysely<Tables>, p: Beginning) => rowsBy(db, 1).where('id', '=', p.id);

const byUsername = (db: Kysely<Tables>, p: Beginning) =>
  rowsBy(db, 2)
    .where('username', '>=', p.usernameFrom)
    .where('username', '<', p.usernameTo)
    .where((eb) => matches(eb.ref('username'), p.username))
    .orderBy('username')
    .limit(p.limit);

const byAddress = (db: Kysely<Tables>, p: Beginning) =>
  rowsBy(db, 3)
    .where('email_key', '>=', p.addressFrom)
    .where('email_key', '<', p.addressTo)
    .where((eb) => matches(eb.ref('email_key'), p.address))
    .orderBy('email_key')
    .limit(p.limit);

const RESULT = ['found.place', ...COLUMNS.map((column) => `found.${column}` as const)] as const;

const byBeginning = many(
  (db, p: Beginning) =>
    byId(db, p)
      .unionAll(db.selectFrom(byUsername(db, p).as('found')).select(RESULT))
      .unionAll(db.selectFrom(byAddress(db, p).as('found')).select(RESULT)),
  (row) => ({ place: row.place, account: toListed(row) }),
);

/** Where no text begins so. */
const NOTHING: TextRange = { from: '', to: '' };

/**
 * Accounts whose id a text is, or whose username or address begins with it: each found by an index, the whole name first.
 * @param limit at most so many of each
 */
export function* findByBeginning(text: string, limit: number): Work<readonly ListedAccount[]> {
  const [username, address] = [text.toLowerCase(), addressSearchText(text).toLowerCase()];
  const [usernames, addresses] = [rangeOfBeginning(username) ?? NOTHING, rangeOfBeginning(address) ?? NOTHING];
  const found = yield* byBeginning({
    ...{ id: isSnowflake(text) ? text : '0', limit },
    ...{ username: beginning(username), usernameFrom: usernames.from, usernameTo: usernames.to },
    ...{ address: beginning(address), addressFrom: addresses.from, addressTo: addresses.to },
  });
  const inOrder = found.toSorted((one, other) => one.place - other.place);
  return [...new Map(inOrder.map(({ account }) => [account.id, account])).values()];
}

/** A whole account as it is listed. */
export const listed = (
  account: {
    readonly profile: Pick<ListedAccount, 'username' | 'displayName' | 'email'>;
  } & Omit<ListedAccount, 'username' | 'displayName' | 'email'>,
): ListedAccount => ({
  ...pick(account, ['id', 'bannedAt', 'bannedUntil', 'suspendedAt', 'deletionDueAt', 'createdAt']),
  ...pick(account.profile, ['username', 'displayName', 'email']),
});
