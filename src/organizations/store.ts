import type { Insertable, Kysely } from 'kysely';
import { listWithin, type Reached, reachedOrganizations } from '../operators/reach.ts';
import { pick } from '../platform/database/columns.ts';
import type { Work } from '../platform/database/database.ts';
import { forKeyShare, forNoKeyUpdate, forUpdate } from '../platform/database/row-locks.ts';
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
import { containing, matches, type NamedSearch, soughtIds } from '../platform/database/text-search.ts';
import { type Failure, noneWithId } from '../platform/failure.ts';
import { isSnowflake } from '../platform/ids/ids.ts';
import type { OrganizationTable } from './tables.ts';

const ORGANIZATION = {
  id: storedField('id', plain<string>()),
  /** A slug. */
  name: storedField('name', plain<string>()),
  domain: storedField('domain', plain<string>()),
  /** Whether its members need a second factor, or a passkey, to use apps. */
  requireSecondFactor: storedField('require_second_factor', bit),
  createdAt: storedField('created_at', plain<number>()),
};
const COLUMNS = columnsOf(ORGANIZATION);
const toOrganization = decoder(ORGANIZATION);

export type Organization = Values<typeof ORGANIZATION>;

export type Role = 'OWNER' | 'ADMIN' | 'MEMBER';

/** The organization that a user belongs to, and the user's role in it. */
export interface Membership {
  readonly id: string;
  readonly name: string;
  readonly role: Role | null;
  readonly domain: string;
}

export const toRole = (role: string | null): Role | null => role as Role | null;

export const organizationNotFound = (id: string): Failure =>
  noneWithId('organization', id, { command: 'org list', path: 'organizations' });

export const findOrganization = one(
  (db, p: { id: string }) => db.selectFrom('organization').select(COLUMNS).where('id', '=', p.id),
  toOrganization,
);

const insert = changes((db, p: Insertable<OrganizationTable>) =>
  db
    .insertInto('organization')
    .values(pick(p, COLUMNS))
    .onConflict((conflict) => conflict.doNothing())
    .returning('id'),
);

/** Adds an organization, unless its name is taken. */
export const insertOrganization = (organization: Organization) => insert(encode(ORGANIZATION, organization));

const setRequirement = command((db, p: { id: string; required: number }) =>
  db.updateTable('organization').set({ require_second_factor: p.required }).where('id', '=', p.id),
);

/** Sets whether an organization requires a second factor of its members. */
export const saveRequirement = (id: string, required: boolean) => setRequirement({ id, required: required ? 1 : 0 });

/** The organizations that require a second factor of their members. */
export const requiringOrganizations = (db: Kysely<Tables>) =>
  db
    .selectFrom('membership as m')
    .innerJoin('organization as o', 'o.id', 'm.organization_id')
    .select('o.id')
    .where('o.require_second_factor', '=', 1);

/** The organization that requires a second factor of a user, if there is one. */
export const findRequiringOrganization = one(
  (db, p: { accountId: string }) => requiringOrganizations(db).where('m.account_id', '=', p.accountId),
  ({ id }) => id,
);

interface OrganizationPage {
  readonly after: string;
  readonly limit: number;
}

const page = (db: Kysely<Tables>, p: OrganizationPage) =>
  db.selectFrom('organization').select(COLUMNS).where('id', '>', p.after).orderBy('id').limit(p.limit);

const listAll = many((db, p: OrganizationPage) => page(db, p), toOrganization);
const listReached = many(
  (db, p: OrganizationPage & Reached) => page(db, p).where('id', 'in', reachedOrganizations(p)),
  toOrganization,
);

/** The organizations in the order of their ids: all, or those that an operator reaches. */
export const listOrganizations = listWithin({ order: 'oldest first', all: listAll, reached: listReached });

const nameContains = many(
  (db, p: { pattern: string; id: string; after: string; limit: number }) =>
    db
      .selectFrom('organization')
      .select(COLUMNS)
      .where('id', '>', p.after)
      .where((eb) =>
        eb.or([eb('id', '=', p.id), matches(eb.ref('name'), p.pattern), matches(eb.ref('domain'), p.pattern)]),
      )
      .orderBy('id')
      .limit(p.limit),
  toOrganization,
);

/** The organizations whose name or domain contains a text, or whose id it is, in the order of their ids. */
export const findOrganizationsContaining = ({ text, ...page }: OrganizationPage & { readonly text: string }) =>
  nameContains({ ...page, pattern: containing(text.toLowerCase()), id: isSnowflake(text) ? text : '0' });

/** Organizations for a search of everything. */
export const namedOrganizations = (db: Kysely<Tables>, p: NamedSearch) =>
  db
    .selectFrom(soughtIds(db, 'organization', p))
    .innerJoin('organization as o', 'o.id', 'sought.id')
    .select(['o.id', 'o.name', 'o.domain as note'])
    .where((eb) =>
      eb.or([eb('o.id', '=', p.id), matches(eb.ref('o.name'), p.pattern), matches(eb.ref('o.domain'), p.pattern)]),
    )
    .orderBy('o.id')
    .limit(p.limit);

/** A membership, by its person. */
export interface MemberOf {
  readonly organizationId: string;
  readonly accountId: string;
}

export const listMembers = many(
  (db, p: { organizationId: string }) =>
    db
      .selectFrom('membership')
      .innerJoin('account', 'account.id', 'membership.account_id')
      .select(['membership.account_id', 'membership.role', 'account.username'])
      .where('membership.organization_id', '=', p.organizationId)
      .orderBy('membership.account_id'),
  (row) => ({ userId: row.account_id, username: row.username, role: toRole(row.role) }),
);

/** A member in a list. */
export interface ListedMember {
  /** The id of the membership. */
  readonly id: string;
  readonly accountId: string;
  readonly username: string;
  readonly displayName: string;
  readonly role: Role | null;
}

/** A page of the members of an organization, in the order in which they joined. */
export const listMembersAfter = many(
  (db, p: { organizationId: string; after: string; limit: number }) =>
    db
      .selectFrom('membership as m')
      .innerJoin('account as a', 'a.id', 'm.account_id')
      .select(['m.id', 'm.account_id as accountId', 'm.role', 'a.username', 'a.display_name as displayName'])
      .where('m.organization_id', '=', p.organizationId)
      .where('m.id', '>', p.after)
      .orderBy('m.id')
      .limit(p.limit),
  (row): ListedMember => ({ ...row, role: toRole(row.role) }),
);

/** A member with their role. */
export const findMemberRole = one(
  (db, p: MemberOf) =>
    db
      .selectFrom('membership')
      .select('role')
      .where('account_id', '=', p.accountId)
      .where('organization_id', '=', p.organizationId),
  ({ role }) => ({ role: toRole(role) }),
);

/** The organization that a user belongs to. */
export const membershipOf = (db: Kysely<Tables>, p: { accountId: string }) =>
  db
    .selectFrom('membership')
    .innerJoin('organization', 'organization.id', 'membership.organization_id')
    .select(['organization.id', 'organization.name', 'organization.domain', 'membership.role'])
    .where('membership.account_id', '=', p.accountId);

export const toMembership = (row: {
  readonly id: string;
  readonly name: string;
  readonly domain: string;
  readonly role: string | null;
}): Membership => ({ id: row.id, name: row.name, role: toRole(row.role), domain: row.domain });

export const findMembership = one(membershipOf, toMembership);

/** A membership that does not end before the unit of work does. */
export const holdMembership = one(
  (db, p: { id: string }) => db.selectFrom('membership').select('id').where('id', '=', p.id).$call(forKeyShare),
  ({ id }) => id,
);

/** The id of a person's membership in an organization, which does not end before the unit of work does; undefined where there is none. */
export const holdMember = one(
  (db, p: MemberOf) =>
    db
      .selectFrom('membership')
      .select('id')
      .where('account_id', '=', p.accountId)
      .where('organization_id', '=', p.organizationId)
      .$call(forKeyShare),
  ({ id }) => id,
);

/** The id of a membership, locked until the unit of work ends. */
export const lockMember = one(
  (db, p: MemberOf) =>
    db
      .selectFrom('membership')
      .select('id')
      .where('account_id', '=', p.accountId)
      .where('organization_id', '=', p.organizationId)
      .$call(forUpdate),
  ({ id }) => id,
);

/** The id of a person's membership in an organization; undefined where there is none. */
export const findMember = one(
  (db, p: MemberOf) =>
    db
      .selectFrom('membership')
      .select('id')
      .where('account_id', '=', p.accountId)
      .where('organization_id', '=', p.organizationId),
  ({ id }) => id,
);

const removeEmpty = command((db, p: { id: string }) =>
  db
    .deleteFrom('organization')
    .where('id', '=', p.id)
    .where((eb) => eb.not(eb.exists(eb.selectFrom('membership').select('id').where('organization_id', '=', p.id)))),
);

/** Removes an organization, unless it has members; whether it is gone. */
export function* removeOrganization(organization: { readonly id: string }): Work<boolean> {
  yield* removeEmpty(organization);
  return (yield* findOrganization(organization)) === undefined;
}

/** Locks an organization until the unit of work ends. */
export const lockOrganization = command((db, p: { id: string }) =>
  db.selectFrom('organization').select('id').where('id', '=', p.id).$call(forNoKeyUpdate),
);

/** The same for a unit that removes it: rows that refer to it are written before or not at all. */
export const lockOrganizationToRemove = command((db, p: { id: string }) =>
  db.selectFrom('organization').select('id').where('id', '=', p.id).$call(forUpdate),
);

/** The ids of an organization's owners. */
export const listOwners = many(
  (db, p: { organizationId: string }) =>
    db
      .selectFrom('membership')
      .select('account_id')
      .where('organization_id', '=', p.organizationId)
      .where('role', '=', 'OWNER'),
  ({ account_id }) => account_id,
);
