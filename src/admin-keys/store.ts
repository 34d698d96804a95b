import { type Kysely, sql } from 'kysely';
import { recordGivenRight } from '../operators/given-right-store.ts';
import { type OperatorRole, operatorRole } from '../operators/permissions.ts';
import { listWithin, type Reached, reachedOrganizations } from '../operators/reach.ts';
import type { OperatorGrant } from '../operators/rights.ts';
import { digest } from '../platform/crypto/secrets.ts';
import type { Work } from '../platform/database/database.ts';
import { forKeyShare, forNoKeyUpdate, forUpdate } from '../platform/database/row-locks.ts';
import type { Tables } from '../platform/database/schema.ts';
import {
  type Codec,
  changes,
  columnsOf,
  command,
  decoder,
  many,
  one,
  plain,
  storedField,
  type Values,
} from '../platform/database/statement.ts';
import { matches, type NamedSearch, soughtIds } from '../platform/database/text-search.ts';
import { type Failure, notFound } from '../platform/failure.ts';

const roleOrNull: Codec<OperatorRole | null> = {
  decode: (stored) => (stored === null ? null : operatorRole.decode(stored)),
  encode: (role) => role,
};

const ADMIN_KEY = {
  id: storedField('id', plain<string>()),
  name: storedField('name', plain<string>()),
  createdAt: storedField('created_at', plain<number>()),
  revokedAt: storedField('revoked_at', plain<number | null>()),
  /** Null for a key of an earlier version, which has every right. */
  role: storedField('role', roleOrNull),
  organizationId: storedField('organization_id', plain<string | null>()),
  expiresAt: storedField('expires_at', plain<number | null>()),
  /** To within an hour; null if it was never used. */
  lastUsedAt: storedField('last_used_at', plain<number | null>()),
  /** The operator who made it; null for the command line. */
  madeBy: storedField('maker_id', plain<string | null>()),
} as const;

/** A key for the admin API. Only the hash of the key itself is stored. */
export type AdminKey = Values<typeof ADMIN_KEY>;

const COLUMNS = columnsOf(ADMIN_KEY);
const toAdminKey: (row: object) => AdminKey = decoder(ADMIN_KEY);

/** What a key may do: one grant. */
export const grantOfKey = ({
  role,
  organizationId,
  expiresAt,
}: Pick<AdminKey, 'role' | 'organizationId' | 'expiresAt'>): OperatorGrant => ({
  role: role ?? 'owner',
  organizationId,
  expiresAt,
});

/**
 * The hash of a key, under which it is stored. Version 0.2.0 takes every key that it finds by the plain digest for an owner's, for ever, so
 * it does not find the others.
 */
function hashOf(adminKey: string, { role, organizationId, expiresAt }: OperatorGrant): string {
  const isOwners = role === 'owner' && organizationId === null && expiresAt === null;
  return isOwners ? digest(adminKey) : restrictedHash(adminKey);
}

const restrictedHash = (adminKey: string): string => digest(`restricted ${adminKey}`);

/** The hashes under which a key may be stored. */
export interface KeyHashes {
  readonly plain: string;
  readonly restricted: string;
}

export const hashesOf = (adminKey: string): KeyHashes => ({
  plain: digest(adminKey),
  restricted: restrictedHash(adminKey),
});

const insert = command((db, p: Omit<AdminKey, 'revokedAt' | 'lastUsedAt'> & { hash: string }) =>
  db.insertInto('admin_key').values({
    id: p.id,
    name: p.name,
    hash: p.hash,
    created_at: p.createdAt,
    revoked_at: null,
    role: p.role,
    organization_id: p.organizationId,
    expires_at: p.expiresAt,
    last_used_at: null,
    maker_id: p.madeBy,
  }),
);

export function* insertAdminKey(key: AdminKey, adminKey: string): Work<void> {
  const grant = grantOfKey(key);
  yield* insert({ ...key, hash: hashOf(adminKey, grant) });
  const { id: holderId, madeBy, createdAt: givenAt } = key;
  yield* recordGivenRight({ kind: 'admin key', madeBy, holderId, givenAt, ...grant });
}

type AtMoment<P> = P & { readonly now: number };

const live = (db: Kysely<Tables>, now: number) =>
  db
    .selectFrom('admin_key')
    .where('revoked_at', 'is', null)
    .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', now)]));

/** Whether there is any key, or was one. */
export const hasAdminKeys = one((db, _p: object) => db.selectFrom('admin_key').select('id').orderBy('id').limit(1));

/** Finds the key with one of these hashes, also one that was revoked or has ended: its use can then be explained. */
export const findPresentedAdminKey = one(
  (db, p: KeyHashes) => stored(db).where('hash', 'in', [p.plain, p.restricted]),
  toAdminKey,
);

/** Finds the key with one of these hashes, unless it was revoked or has ended. */
export const findLiveAdminKey = one(
  (db, p: AtMoment<KeyHashes>) => live(db, p.now).select(COLUMNS).where('hash', 'in', [p.plain, p.restricted]),
  toAdminKey,
);

const lockIfLive = command((db, p: AtMoment<KeyHashes>) =>
  live(db, p.now).select('id').where('hash', 'in', [p.plain, p.restricted]).$call(forKeyShare),
);

/** {@link findLiveAdminKey} for a unit of work that writes; {@link waitForAdminKeyLocks} waits until that unit has ended. */
export function* lockLiveAdminKey(key: AtMoment<KeyHashes>): Work<AdminKey | undefined> {
  yield* lockIfLive(key);
  // A revocation does not conflict with this lock, and may have committed after the row was read and before it was locked. The
  // second read sees such a revocation; a later one waits for the lock.
  return yield* findLiveAdminKey(key);
}

const findLiveById = one((db, p: AtMoment<{ id: string }>) => live(db, p.now).select('id').where('id', '=', p.id));

const findConfiguredById = one((db, p: { id: string }) =>
  db.selectFrom('configured_admin_key').select('key_id').where('id', '=', 1).where('key_id', '=', p.id),
);

const holdById = command((db, p: { id: string }) =>
  db.selectFrom('admin_key').select('id').where('id', '=', p.id).$call(forKeyShare),
);

const holdConfigured = command((db, _p: object) =>
  db.selectFrom('configured_admin_key').select('id').where('id', '=', 1).$call(forKeyShare),
);

/** Whether a key was not revoked and has not ended, or is the one of the configuration. `isAdminKeyLive` also asks whether its maker may act. */
export function* isKeyOnRecord(id: string, now: number): Work<boolean> {
  return (yield* findLiveById({ id, now })) !== undefined || (yield* findConfiguredById({ id })) !== undefined;
}

/** Locks what {@link isKeyOnRecord} reads: a revocation returns after this unit of work has ended. */
export function* holdKeyRows(id: string): Work<void> {
  yield* holdById({ id });
  yield* holdConfigured({});
}

/** The key of the configuration that the newest start had. */
export const findConfiguredAdminKey = one(
  (db, _p: object) => db.selectFrom('configured_admin_key').select(['key_id', 'hash']).where('id', '=', 1),
  (row) => ({ id: row.key_id, hash: row.hash }),
);

/** {@link findConfiguredAdminKey}, locked until the unit of work ends. */
export const lockConfiguredAdminKey = one(
  (db, _p: object) =>
    db.selectFrom('configured_admin_key').select(['key_id', 'hash']).where('id', '=', 1).$call(forUpdate),
  (row) => ({ id: row.key_id, hash: row.hash }),
);

export const setConfiguredAdminKey = command((db, p: { keyId: string | null; hash: string | null }) =>
  db.updateTable('configured_admin_key').set({ key_id: p.keyId, hash: p.hash }).where('id', '=', 1),
);

/**
 * Locks the one row at which units of work meet that hand something out as an operator, or end what was handed out. It comes before any
 * other lock. So what ends a maker finds all that the maker made: a unit that waited for it finds that its own right has ended. Who waits
 * gets it in turn, so a stream of makers does not keep the end waiting.
 */
export const lockMaking = command((db, _p: object) =>
  db.selectFrom('configured_admin_key').select('id').where('id', '=', 1).$call(forNoKeyUpdate),
);

/** Waits until no unit of work has the key locked. */
export const waitForAdminKeyLocks = command((db, p: { id: string }) =>
  db.selectFrom('admin_key').select('id').where('id', '=', p.id).$call(forUpdate),
);

/** The same for all keys. */
export const waitForAllAdminKeyLocks = command((db, _p: object) =>
  db.selectFrom('admin_key').select('id').orderBy('id').$call(forUpdate),
);

const stored = (db: Kysely<Tables>) => db.selectFrom('admin_key').select(COLUMNS).orderBy('id');

interface KeyPage {
  readonly after: string;
  readonly limit: number;
}

const page = (db: Kysely<Tables>, p: KeyPage) => stored(db).where('id', '>', p.after).limit(p.limit);

const listAll = many((db, p: KeyPage) => page(db, p), toAdminKey);
const listReached = many(
  (db, p: KeyPage & Reached) => page(db, p).where('organization_id', 'in', reachedOrganizations(p)),
  toAdminKey,
);

/** The keys in the order of their ids, revoked ones included: all, or those of the organizations that an operator reaches. */
export const listAdminKeys = listWithin({ order: 'oldest first', all: listAll, reached: listReached });

interface NewestPage {
  readonly before: string;
  readonly limit: number;
}

const newest = (db: Kysely<Tables>, p: NewestPage) =>
  db.selectFrom('admin_key').select(COLUMNS).where('id', '<', p.before).orderBy('id', 'desc').limit(p.limit);

const newestOfAll = many((db, p: NewestPage) => newest(db, p), toAdminKey);
const newestReached = many(
  (db, p: NewestPage & Reached) => newest(db, p).where('organization_id', 'in', reachedOrganizations(p)),
  toAdminKey,
);

/** The same, the newest first, before an id. */
export const listNewestAdminKeys = listWithin({ order: 'newest first', all: newestOfAll, reached: newestReached });

/** Keys for a search of everything. */
export const namedAdminKeys = (db: Kysely<Tables>, p: NamedSearch) =>
  db
    .selectFrom(soughtIds(db, 'admin_key', p))
    .innerJoin('admin_key as k', 'k.id', 'sought.id')
    .select(['k.id', 'k.name', sql<null>`cast(null as text)`.as('note')])
    .where((eb) =>
      eb.or([
        eb('k.id', '=', p.id),
        matches(eb.fn('lower', ['k.name']), p.pattern),
        matches(eb.ref('k.name'), p.asTyped),
      ]),
    )
    .orderBy('k.id')
    .limit(p.limit);

export const adminKeyNotFound = (id: string): Failure =>
  notFound(`There is no admin key with the id ${id}. List them with: tessera admin-key list`);

export const findAdminKey = one((db, p: { id: string }) => stored(db).where('id', '=', p.id), toAdminKey);

/** The valid keys that an operator made, and not the command line. */
export const adminKeysMadeBy = many(
  (db, p: { madeBy: string; now: number }) =>
    live(db, p.now).select(COLUMNS).where('maker_id', '=', p.madeBy).orderBy('id'),
  toAdminKey,
);

/** The keys that an operator ever made: what these made goes on where one of them has ended. */
export const adminKeysEverMadeBy = many(
  (db, p: { madeBy: string; since: number }) =>
    db.selectFrom('admin_key').select(COLUMNS).where('maker_id', '=', p.madeBy).where('created_at', '>=', p.since),
  toAdminKey,
);

/** The valid keys that end before an instant, the next one first. */
export const endingAdminKeys = (db: Kysely<Tables>, p: { now: number; before: number; limit: number }) =>
  live(db, p.now)
    .select(['id', 'name', 'expires_at as at'])
    .where('expires_at', '<', p.before)
    .orderBy('expires_at')
    .limit(p.limit);

/** The valid keys of an earlier version, which have every right for ever. */
export const adminKeysWithoutRole = many((db, p: { now: number }) =>
  live(db, p.now).select('id').where('role', 'is', null).orderBy('id'),
);

/** Notes that a key was used, at most once an hour. */
export const saveLastUse = command((db, p: { id: string; now: number; before: number }) =>
  db
    .updateTable('admin_key')
    .set({ last_used_at: p.now })
    .where('id', '=', p.id)
    .where((eb) => eb.or([eb('last_used_at', 'is', null), eb('last_used_at', '<', p.before)])),
);

/** Marks a key as revoked; false where no valid key has this id. */
export const markAdminKeyRevoked = changes((db, p: { id: string; now: number }) =>
  db
    .updateTable('admin_key')
    .set({ revoked_at: p.now })
    .where('id', '=', p.id)
    .where('revoked_at', 'is', null)
    .returning('id'),
);

/** Marks every valid key as revoked. The unit of work gives their ids. */
export const markAllAdminKeysRevoked = many((db, p: { now: number }) =>
  db.updateTable('admin_key').set({ revoked_at: p.now }).where('revoked_at', 'is', null).returning('id'),
);
