import type { Kysely } from 'kysely';
import { pick } from '../platform/database/columns.ts';
import type { Work } from '../platform/database/database.ts';
import { positionsOf } from '../platform/database/positions.ts';
import type { Tables } from '../platform/database/schema.ts';
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
import type { UpstreamIdentityTable } from './tables.ts';

const IDENTITY = {
  /** Random. */
  id: storedField('id', plain<string>()),
  upstreamId: storedField('upstream_id', plain<string>()),
  issuer: storedField('issuer', plain<string>()),
  subject: storedField('subject', plain<string>()),
  accountId: storedField('account_id', plain<string>()),
  /** What the upstream called the person when it was connected: for its owner alone, and for no decision. */
  label: storedField('label', plain<string | null>()),
  /** By the time of the account. */
  createdAt: storedField('created_at', plain<number>()),
  lastUsedAt: storedField('last_used_at', plain<number | null>()),
  /** When the upstream last ended all of the person's sessions, by its time. */
  endedAt: storedField('ended_at', plain<number | null>()),
  /** Of the address from which a picture was last fetched, or was to be; null where none was. */
  pictureHash: storedField('picture_hash', plain<string | null>()),
  pictureAt: storedField('picture_at', plain<number | null>()),
  /** The picture of the account that was last made of it. */
  pictureName: storedField('picture_name', plain<string | null>()),
} as const;

/** Who is known at an upstream as whom: decisions §14. It has no address. */
export type UpstreamIdentity = Values<typeof IDENTITY>;

const COLUMNS = columnsOf(IDENTITY);
const toIdentity: (row: object) => UpstreamIdentity = decoder(IDENTITY);

const insert = changes((db, p: UpstreamIdentityTable) =>
  db
    .insertInto('upstream_identity')
    .values(pick(p, COLUMNS))
    .onConflict((conflict) => conflict.doNothing())
    .returning('id'),
);

/** Connects an identity to an account; false where it is connected to one. */
export const insertIdentity = (identity: UpstreamIdentity): Work<boolean> => insert(encode(IDENTITY, identity));

/** What identifies a person at an upstream. */
export interface IdentityKey {
  readonly upstreamId: string;
  readonly issuer: string;
  readonly subject: string;
}

export const findIdentity = one(
  (db, p: IdentityKey) =>
    db
      .selectFrom('upstream_identity')
      .select(COLUMNS)
      .where('upstream_id', '=', p.upstreamId)
      .where('issuer', '=', p.issuer)
      .where('subject', '=', p.subject),
  toIdentity,
);

export const findIdentityById = one(
  (db, p: { id: string }) => db.selectFrom('upstream_identity').select(COLUMNS).where('id', '=', p.id),
  toIdentity,
);

/** An identity with the name of its upstream for people. */
export interface ConnectedIdentity {
  readonly id: string;
  readonly upstreamId: string;
  readonly upstream: string;
  readonly issuer: string;
  readonly subject: string;
  readonly label: string | null;
  readonly isActive: boolean;
  readonly createdAt: number;
  readonly lastUsedAt: number | null;
}

/** The identities of an account. */
export const identitiesOf = (db: Kysely<Tables>, p: { accountId: string }) =>
  db
    .selectFrom('upstream_identity as i')
    .innerJoin('upstream as u', 'u.id', 'i.upstream_id')
    .select(['i.id', 'i.upstream_id as upstreamId', 'i.issuer', 'i.subject', 'i.label'])
    .select(['i.created_at as createdAt', 'i.last_used_at as lastUsedAt', 'u.display_name as upstream', 'u.status'])
    .where('i.account_id', '=', p.accountId);

/** The identities of an account, the oldest first. */
export const listIdentities = many(
  (db, p: { accountId: string }) => identitiesOf(db, p).orderBy('i.created_at').orderBy('i.id'),
  ({ status, ...row }): ConnectedIdentity => ({ ...row, isActive: status === 'active' }),
);

export const recordIdentityUse = command((db, p: { id: string; now: number }) =>
  db.updateTable('upstream_identity').set({ last_used_at: p.now }).where('id', '=', p.id),
);

/** Notes that an upstream has ended all sessions of a person. */
export const recordIdentityEnd = command((db, p: { id: string; at: number }) =>
  db
    .updateTable('upstream_identity')
    .set({ ended_at: p.at })
    .where('id', '=', p.id)
    .where((eb) => eb.or([eb('ended_at', 'is', null), eb('ended_at', '<', p.at)])),
);

/** Notes that a picture was fetched, or was to be, and perhaps which one was made of it. */
export const recordIdentityPicture = command((db, p: { id: string; hash: string; at: number; name: string | null }) =>
  db
    .updateTable('upstream_identity')
    .set({ picture_hash: p.hash, picture_at: p.at, picture_name: p.name })
    .where('id', '=', p.id),
);

/** The pictures that were made of what the identities of an account name. */
export const listPictureNames = many(
  (db, p: { accountId: string }) =>
    db
      .selectFrom('upstream_identity')
      .select('picture_name')
      .where('account_id', '=', p.accountId)
      .where('picture_name', 'is not', null),
  (row) => row.picture_name,
);

export const removeIdentity = changes((db, p: { id: string; accountId: string }) =>
  db.deleteFrom('upstream_identity').where('id', '=', p.id).where('account_id', '=', p.accountId).returning('id'),
);

const someConnected = many(
  (db, p: { upstreamId: string; most: number }) =>
    db
      .selectFrom('upstream_identity')
      .select('account_id')
      .distinct()
      .where('upstream_id', '=', p.upstreamId)
      .limit(p.most),
  (row) => row.account_id,
);

/** How many people have connected an identity at an upstream, up to a bound. */
export function* countConnected(counted: { readonly upstreamId: string; readonly most: number }): Work<number> {
  return (yield* someConnected(counted)).length;
}

/** Removes the identities of an account but those by which one of its sessions began. */
export const removeIdentitiesBeside = command((db, p: { accountId: string; sid: string }) =>
  db
    .deleteFrom('upstream_identity')
    .where('account_id', '=', p.accountId)
    .where(
      'id',
      'not in',
      db
        .selectFrom('upstream_session')
        .select('identity_id')
        .where('account_id', '=', p.accountId)
        .where('sid', '=', p.sid),
    ),
);

/** Removes the identities that were connected to an account at an instant or later. @returns the ids of their upstreams */
export const removeIdentitiesSince = many(
  (db, p: { accountId: string; since: number }) =>
    db
      .deleteFrom('upstream_identity')
      .where('account_id', '=', p.accountId)
      .where('created_at', '>=', p.since)
      .returning('upstream_id'),
  (row) => row.upstream_id,
);

const accounts = positionsOf(50, '0');

const withIdentity = many(
  (db, p: Readonly<Record<string, string>>) =>
    db.selectFrom('upstream_identity').select('account_id').where('account_id', 'in', accounts.list(p)),
  (row) => row.account_id,
);

/** Those of some accounts that are connected with a provider. */
export function* withIdentityAmong(accountIds: readonly string[]): Work<readonly string[]> {
  const found: string[] = [];
  for (const chunk of accounts.chunks(accountIds)) found.push(...(yield* withIdentity(chunk)));
  return found;
}
