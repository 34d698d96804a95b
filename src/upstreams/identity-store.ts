import { pick } from '../platform/database/columns.ts';
import type { Work } from '../platform/database/database.ts';
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
import type { UpstreamIdentityTable } from '../platform/database/upstream-tables.ts';

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

/** An identity with the name of its upstream, for its owner. */
export interface ConnectedIdentity {
  readonly id: string;
  readonly upstreamId: string;
  readonly upstream: string;
  readonly label: string | null;
  readonly isActive: boolean;
  readonly createdAt: number;
  readonly lastUsedAt: number | null;
}

/** The identities of an account, the oldest first. */
export const listIdentities = many(
  (db, p: { accountId: string }) =>
    db
      .selectFrom('upstream_identity as i')
      .innerJoin('upstream as u', 'u.id', 'i.upstream_id')
      .select(['i.id', 'i.upstream_id', 'i.label', 'i.created_at', 'i.last_used_at', 'u.display_name', 'u.status'])
      .where('i.account_id', '=', p.accountId)
      .orderBy('i.created_at')
      .orderBy('i.id'),
  (row): ConnectedIdentity => ({
    id: row.id,
    upstreamId: row.upstream_id,
    upstream: row.display_name,
    label: row.label,
    isActive: row.status === 'active',
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
  }),
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

export const removeIdentity = changes((db, p: { id: string; accountId: string }) =>
  db.deleteFrom('upstream_identity').where('id', '=', p.id).where('account_id', '=', p.accountId).returning('id'),
);

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
