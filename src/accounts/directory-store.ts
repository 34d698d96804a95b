import { pick } from '../platform/database/columns.ts';
import type { Work } from '../platform/database/database.ts';
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

const byId = many((db, p: { id: string }) => db.selectFrom('account').select(COLUMNS).where('id', '=', p.id), toListed);

interface Beginning extends TextRange {
  readonly pattern: string;
  readonly limit: number;
}

const byUsername = many(
  (db, p: Beginning) =>
    db
      .selectFrom('account')
      .select(COLUMNS)
      .where('username', '>=', p.from)
      .where('username', '<', p.to)
      .where((eb) => matches(eb.ref('username'), p.pattern))
      .orderBy('username')
      .limit(p.limit),
  toListed,
);

const byAddress = many(
  (db, p: Beginning) =>
    db
      .selectFrom('account')
      .select(COLUMNS)
      .where('email_key', '>=', p.from)
      .where('email_key', '<', p.to)
      .where((eb) => matches(eb.ref('email_key'), p.pattern))
      .orderBy('email_key')
      .limit(p.limit),
  toListed,
);

function* beginningWith(text: string, limit: number, find: typeof byUsername): Work<readonly ListedAccount[]> {
  const range = rangeOfBeginning(text);
  return range === undefined ? [] : yield* find({ ...range, pattern: beginning(text), limit });
}

/**
 * Accounts whose id a text is, or whose username or address begins with it: each found by an index, the whole name first.
 * @param limit at most so many of each
 */
export function* findByBeginning(text: string, limit: number): Work<readonly ListedAccount[]> {
  const found = [
    ...(isSnowflake(text) ? yield* byId({ id: text }) : []),
    ...(yield* beginningWith(text.toLowerCase(), limit, byUsername)),
    ...(yield* beginningWith(addressSearchText(text).toLowerCase(), limit, byAddress)),
  ];
  return [...new Map(found.map((account) => [account.id, account])).values()];
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
