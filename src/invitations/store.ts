import type { Kysely } from 'kysely';
import { listWithin, type Reached, reachedOrganizations } from '../operators/reach.ts';
import type { Role } from '../organizations/store.ts';
import { pick } from '../platform/database/columns.ts';
import type { Work } from '../platform/database/database.ts';
import { forUpdate } from '../platform/database/row-locks.ts';
import type { Tables } from '../platform/database/schema.ts';
import {
  bit,
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
import type { InvitationTable } from './tables.ts';

const INVITATION = {
  id: storedField('id', plain<string>()),
  /** The secret of the link is stored as a hash. */
  hash: storedField('hash', plain<string>()),
  /** The address that it is bound to; null for an open link. */
  email: storedField('email', plain<string | null>()),
  /** Whether the link was sent to the address and shown to nobody, so that it proves the address. */
  mailed: storedField('mailed', bit),
  organizationId: storedField('organization_id', plain<string | null>()),
  role: storedField('role', plain<Role | null>()),
  /** The member who invites; null for an operator. */
  inviterId: storedField('inviter_id', plain<string | null>()),
  /** The operator who invites as a person, with whose role it ends; null for a key or the command line. */
  operatorId: storedField('operator_id', plain<string | null>()),
  /** The admin key that handed it out; null for the command line. */
  adminKeyId: storedField('admin_key_id', plain<string | null>()),
  createdAt: storedField('created_at', plain<number>()),
  expiresAt: storedField('expires_at', plain<number>()),
  usedAt: storedField('used_at', plain<number | null>()),
  usedBy: storedField('used_by', plain<string | null>()),
} as const;

export type Invitation = Values<typeof INVITATION>;

const COLUMNS = columnsOf(INVITATION);
const toInvitation: (row: object) => Invitation = decoder(INVITATION);

const insert = command((db, p: InvitationTable) => db.insertInto('invitation').values(pick(p, COLUMNS)));
export const insertInvitation = (invitation: Invitation): Work<void> => insert(encode(INVITATION, invitation));

export const findInvitation = one(
  (db, p: { id: string }) => db.selectFrom('invitation').select(COLUMNS).where('id', '=', p.id),
  toInvitation,
);

export const findInvitationByHash = one(
  (db, p: { hash: string }) => db.selectFrom('invitation').select(COLUMNS).where('hash', '=', p.hash),
  toInvitation,
);

/** Uses an invitation up; false where it was used or revoked before. */
export const spendInvitation = changes((db, p: { id: string; now: number; usedBy: string }) =>
  db
    .updateTable('invitation')
    .set({ used_at: p.now, used_by: p.usedBy })
    .where('id', '=', p.id)
    .where('used_at', 'is', null)
    .returning('id'),
);

/** Removes an invitation that was not used; false where there is none. */
export const removeInvitation = changes((db, p: { id: string }) =>
  db.deleteFrom('invitation').where('id', '=', p.id).where('used_at', 'is', null).returning('id'),
);

/** The open invitations of an operator to an organization, at most as many as are asked for. */
export const openInvitationsTo = many(
  (
    db,
    p: { organizationId: string; adminKeyId: string | null; operatorId: string | null; now: number; limit: number },
  ) =>
    db
      .selectFrom('invitation')
      .select('id')
      .where('organization_id', '=', p.organizationId)
      .where((eb) => eb.or([eb('admin_key_id', '=', p.adminKeyId), eb('operator_id', '=', p.operatorId)]))
      .where('used_at', 'is', null)
      .where('expires_at', '>', p.now)
      .limit(p.limit),
  ({ id }) => id,
);

/** Ends what an admin key handed out and nobody used. @returns when each would have expired */
export const endInvitationsOfAdminKey = many(
  (db, p: { adminKeyId: string }) =>
    db
      .deleteFrom('invitation')
      .where('admin_key_id', '=', p.adminKeyId)
      .where('used_at', 'is', null)
      .returning('expires_at'),
  (row) => row.expires_at,
);

/** Makes what an admin key handed out and nobody used the command line's own. @returns when each expires */
export const takeOverInvitations = many(
  (db, p: { adminKeyId: string }) =>
    db
      .updateTable('invitation')
      .set({ admin_key_id: null })
      .where('admin_key_id', '=', p.adminKeyId)
      .where('used_at', 'is', null)
      .returning('expires_at'),
  (row) => row.expires_at,
);

/** Ends what a person invited to, as a member or an operator, and nobody used. @returns the ids */
export const endInvitationsOfInviter = many(
  (db, p: { inviterId: string }) =>
    db
      .deleteFrom('invitation')
      .where((eb) => eb.or([eb('inviter_id', '=', p.inviterId), eb('operator_id', '=', p.inviterId)]))
      .where('used_at', 'is', null)
      .returning('id'),
  (row) => row.id,
);

/** Ends what a person invited to as an operator from one instant on, and before another one, and nobody used. @returns the ids */
export const endInvitationsOfOperator = many(
  (db, p: { operatorId: string; since: number; until: number }) =>
    db
      .deleteFrom('invitation')
      .where('operator_id', '=', p.operatorId)
      .where('created_at', '>=', p.since)
      .where('created_at', '<', p.until)
      .where('used_at', 'is', null)
      .returning('id'),
  (row) => row.id,
);

/** The ids of what a person invited to as an operator at an instant or later, and somebody can still use. */
export const openInvitationsOfOperator = many(
  (db, p: { operatorId: string; since: number; now: number }) =>
    db
      .selectFrom('invitation')
      .select(['id', 'role'])
      .where('operator_id', '=', p.operatorId)
      .where('created_at', '>=', p.since)
      .where('used_at', 'is', null)
      .where('expires_at', '>', p.now),
  ({ id, role }) => ({ id, role }),
);

/** What a person invited to as an operator, and nobody used. */
export const openInvitationsOf = many(
  (db, p: { operatorId: string }) =>
    db
      .selectFrom('invitation')
      .select(COLUMNS)
      .where('operator_id', '=', p.operatorId)
      .where('used_at', 'is', null)
      .orderBy('id'),
  toInvitation,
);

/** Removes every invitation that was not used. */
export const removeOpenInvitations = command((db, _p: object) =>
  db.deleteFrom('invitation').where('used_at', 'is', null),
);

interface InvitationPage {
  readonly after: string;
  readonly limit: number;
}

const page = (db: Kysely<Tables>, p: InvitationPage) =>
  db.selectFrom('invitation').select(COLUMNS).where('id', '>', p.after).orderBy('id').limit(p.limit);

const listAll = many((db, p: InvitationPage) => page(db, p), toInvitation);
const listReached = many(
  (db, p: InvitationPage & Reached) => page(db, p).where('organization_id', 'in', reachedOrganizations(p)),
  toInvitation,
);

/** The invitations in the order of their ids: all, or those of the organizations that an operator reaches. */
export const listInvitations = listWithin({ order: 'oldest first', all: listAll, reached: listReached });

interface NewestPage {
  readonly before: string;
  readonly limit: number;
}

const newest = (db: Kysely<Tables>, p: NewestPage) =>
  db.selectFrom('invitation').select(COLUMNS).where('id', '<', p.before).orderBy('id', 'desc').limit(p.limit);

const newestOfAll = many((db, p: NewestPage) => newest(db, p), toInvitation);
const newestReached = many(
  (db, p: NewestPage & Reached) => newest(db, p).where('organization_id', 'in', reachedOrganizations(p)),
  toInvitation,
);

/** The same, the newest first, before an id. */
export const listNewestInvitations = listWithin({ order: 'newest first', all: newestOfAll, reached: newestReached });

/** The role of a member, locked against changes until the unit of work ends. */
export const lockMemberRole = one(
  (db, p: { accountId: string; organizationId: string }) =>
    db
      .selectFrom('membership')
      .select('role')
      .where('account_id', '=', p.accountId)
      .where('organization_id', '=', p.organizationId)
      .$call(forUpdate),
  (row) => ({ role: row.role as Role | null }),
);

/** The organization that a user joined by an invitation at an instant or later, after the account was created, and is still a member of. */
export const findJoinedSince = one(
  (db, p: { accountId: string; since: number }) =>
    db
      .selectFrom('membership as m')
      .innerJoin('account as a', 'a.id', 'm.account_id')
      .innerJoin('invitation as i', (join) =>
        join.onRef('i.used_by', '=', 'm.account_id').onRef('i.organization_id', '=', 'm.organization_id'),
      )
      .select('m.organization_id')
      .where('m.account_id', '=', p.accountId)
      .where('i.used_at', '>=', p.since)
      .whereRef('i.used_at', '>', 'a.created_at')
      .limit(1),
  (row) => row.organization_id,
);
