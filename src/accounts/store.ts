import { type Selectable, sql } from 'kysely';
import { pick } from '../platform/database/columns.ts';
import type { Work } from '../platform/database/database.ts';
import type { AccountTable } from '../platform/database/schema.ts';
import { all, first, run, statement } from '../platform/database/statement.ts';
import { isSnowflake } from '../platform/ids/ids.ts';
import { emailKey, type Profile, type SocialLink } from './rules/profile.ts';
import type { AccountStanding } from './rules/standing.ts';

/** An account as it is on record. */
export interface Account extends AccountStanding {
  readonly id: string;
  readonly profile: Profile;
  readonly passwordHash: string | null;
  readonly generation: string;
  readonly banReason: string | null;
  readonly suspensionReason: string | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** Every column, so that a statement reads and sets all of them. */
const COLUMNS = [
  'id',
  'username',
  'email',
  'email_key',
  'email_verified',
  'password_hash',
  'generation',
  'display_name',
  'about',
  'language',
  'theme',
  'website',
  'location',
  'birth_date',
  'phone',
  'social_links',
  'avatar_color',
  'banned_at',
  'banned_until',
  'ban_reason',
  'suspended_at',
  'suspension_reason',
  'created_at',
  'updated_at',
  'picture',
] as const;
const columns = (p: AccountTable): AccountTable => pick(p, COLUMNS);

const byId = statement((db, p: { id: string }) => db.selectFrom('account').select(COLUMNS).where('id', '=', p.id));
const byIdLocked = statement((db, p: { id: string }) =>
  db.selectFrom('account').select(COLUMNS).where('id', '=', p.id).forNoKeyUpdate(),
);
const idHeld = statement((db, p: { id: string }) =>
  db.selectFrom('account').select('id').where('id', '=', p.id).forNoKeyUpdate(),
);
const byUsername = statement((db, p: { username: string }) =>
  db.selectFrom('account').select(COLUMNS).where('username', '=', p.username),
);
const byEmail = statement((db, p: { key: string }) =>
  db.selectFrom('account').select(COLUMNS).where('email_key', '=', p.key),
);

const insert = statement((db, p: AccountTable) =>
  db
    .insertInto('account')
    .values(columns(p))
    .onConflict((conflict) => conflict.doNothing())
    .returning('id'),
);

const update = statement((db, p: AccountTable) => db.updateTable('account').set(columns(p)).where('id', '=', p.id));

const remove = statement((db, p: { id: string }) => db.deleteFrom('account').where('id', '=', p.id).returning('id'));

const idsAfter = statement((db, p: { after: string; limit: number }) =>
  db.selectFrom('account').select('id').where('id', '>', p.after).orderBy('id').limit(p.limit),
);
const renew = statement((db, p: { after: string; through: string; generation: string }) =>
  db.updateTable('account').set({ generation: p.generation }).where('id', '>', p.after).where('id', '<=', p.through),
);

const page = statement((db, p: { after: string; limit: number }) =>
  db.selectFrom('account').select(COLUMNS).where('id', '>', p.after).orderBy('id').limit(p.limit),
);

/** Whether a column holds a text somewhere; `lower` knows the letters of ASCII alone on SQLite. */
const contains = (column: 'username' | 'email_key' | 'display_name', pattern: string) =>
  sql<boolean>`lower(${sql.ref(column)}) like ${pattern} escape '\\'`;

const search = statement((db, p: { after: string; limit: number; pattern: string; asTyped: string; id: string }) =>
  db
    .selectFrom('account')
    .select(COLUMNS)
    .where('id', '>', p.after)
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
);

/** A pattern for texts that contain this one, in which no character is a wildcard. */
const containing = (text: string): string => `%${text.replace(/[\\%_]/g, '\\$&')}%`;

type AccountRow = Selectable<AccountTable>;

/** The columns that make a profile, in a join in which the table is `a`. */
export const PROFILE_OF_A = [
  'a.username',
  'a.email',
  'a.email_verified',
  'a.display_name',
  'a.about',
  'a.language',
  'a.theme',
  'a.website',
  'a.location',
  'a.birth_date',
  'a.phone',
  'a.social_links',
  'a.avatar_color',
  'a.picture',
] as const;

type ColumnOf<Name> = Name extends `a.${infer Column}` ? Column : never;
type ProfileRow = Pick<AccountRow, ColumnOf<(typeof PROFILE_OF_A)[number]>>;

export function toProfile(row: ProfileRow): Profile {
  return {
    username: row.username,
    email: row.email,
    emailVerified: row.email_verified === 1,
    displayName: row.display_name,
    about: row.about,
    language: row.language,
    theme: row.theme as Profile['theme'],
    website: row.website,
    location: row.location,
    birthDate: row.birth_date,
    phone: row.phone,
    socialLinks: JSON.parse(row.social_links) as SocialLink[],
    avatarColor: row.avatar_color,
    picture: row.picture,
  };
}

function toAccount(row: AccountRow | undefined): Account | undefined {
  if (row === undefined) return undefined;
  return {
    id: row.id,
    profile: toProfile(row),
    passwordHash: row.password_hash,
    generation: row.generation,
    bannedAt: row.banned_at,
    bannedUntil: row.banned_until,
    banReason: row.ban_reason,
    suspendedAt: row.suspended_at,
    suspensionReason: row.suspension_reason,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

function toRow(account: Account): AccountTable {
  const { profile } = account;
  return {
    id: account.id,
    username: profile.username,
    email: profile.email,
    email_key: emailKey(profile.email),
    email_verified: profile.emailVerified ? 1 : 0,
    password_hash: account.passwordHash,
    generation: account.generation,
    display_name: profile.displayName,
    about: profile.about,
    language: profile.language,
    theme: profile.theme,
    website: profile.website,
    location: profile.location,
    birth_date: profile.birthDate,
    phone: profile.phone,
    social_links: JSON.stringify(profile.socialLinks),
    avatar_color: profile.avatarColor,
    banned_at: account.bannedAt,
    banned_until: account.bannedUntil,
    ban_reason: account.banReason,
    suspended_at: account.suspendedAt,
    suspension_reason: account.suspensionReason,
    created_at: account.createdAt,
    updated_at: account.updatedAt,
    picture: profile.picture,
  };
}

export function* findAccount(id: string): Work<Account | undefined> {
  return toAccount(yield* first(byId, { id }));
}

/** Reads an account that the same unit of work is about to change. What only refers to it may still be written meanwhile. */
export function* lockAccount(id: string): Work<Account | undefined> {
  return toAccount(yield* first(byIdLocked, { id }));
}

/**
 * Keeps everybody else from changing an account or signing in to it until the end of this unit of work; what only hangs on the
 * account may still be written.
 */
export function* holdAccount(id: string): Work<void> {
  yield* run(idHeld, { id });
}

/** Finds whom a person means by a user name or an email address, however it is capitalised. */
export function* findByIdentifier(identifier: string): Work<Account | undefined> {
  const key = identifier.toLowerCase();
  return toAccount(key.includes('@') ? yield* first(byEmail, { key }) : yield* first(byUsername, { username: key }));
}

/** Which unique field of a profile another account holds, if one does. */
export function* takenField(profile: Profile, ownId: string): Work<'username' | 'email' | undefined> {
  const sameName = yield* first(byUsername, { username: profile.username });
  if (sameName !== undefined && sameName.id !== ownId) return 'username';
  const sameEmail = yield* first(byEmail, { key: emailKey(profile.email) });
  return sameEmail !== undefined && sameEmail.id !== ownId ? 'email' : undefined;
}

/** Adds an account; answers false where a unique field is taken. */
export function* insertAccount(account: Account): Work<boolean> {
  return (yield* first(insert, toRow(account))) !== undefined;
}

export function* saveAccount(account: Account): Work<void> {
  yield* run(update, toRow(account));
}

export function* removeAccount(id: string): Work<boolean> {
  return (yield* first(remove, { id })) !== undefined;
}

/** Accounts in the order of their ids, after one, that match a text where one is given. */
export function* listAccounts(query: { after: string; limit: number; text: string | undefined }): Work<Account[]> {
  const { after, limit, text } = query;
  const rows =
    text === undefined
      ? yield* all(page, { after, limit })
      : yield* all(search, {
          after,
          limit,
          pattern: containing(text.toLowerCase()),
          asTyped: containing(text),
          id: isSnowflake(text) ? text : '0',
        });
  return rows.map((row) => toAccount(row) as Account);
}

/** The last of so many accounts after an id, in the order of their ids; undefined where there are no more. */
export function* endOfBatch(after: string, limit: number): Work<string | undefined> {
  return (yield* all(idsAfter, { after, limit })).at(-1)?.id;
}

/** Gives the accounts from after one id through another a new generation: what they were issued before is dead. */
export function* renewGenerations(after: string, through: string, generation: string): Work<void> {
  yield* run(renew, { after, through, generation });
}
