import type { Work } from '../platform/database/database.ts';
import type { OrganizationTable } from '../platform/database/schema.ts';
import { all, first, statement } from '../platform/database/statement.ts';

export interface Organization {
  readonly id: string;
  /** A slug. */
  readonly name: string;
  readonly domain: string;
  readonly createdAt: number;
}

export type Role = 'OWNER' | 'ADMIN' | 'MEMBER';

/** The organization of a person, and what the person is there. */
export interface OwnMembership {
  readonly id: string;
  readonly name: string;
  readonly role: Role | null;
  readonly domain: string;
}

const COLUMNS = ['id', 'name', 'domain', 'created_at'] as const;

const byId = statement((db, p: { id: string }) => db.selectFrom('organization').select(COLUMNS).where('id', '=', p.id));
const insert = statement((db, p: OrganizationTable) =>
  db
    .insertInto('organization')
    .values({ id: p.id, name: p.name, domain: p.domain, created_at: p.created_at })
    .onConflict((conflict) => conflict.doNothing())
    .returning('id'),
);
const page = statement((db, p: { after: string; limit: number }) =>
  db.selectFrom('organization').select(COLUMNS).where('id', '>', p.after).orderBy('id').limit(p.limit),
);
const upsert = statement((db, p: { accountId: string; organizationId: string; role: string | null }) =>
  db
    .insertInto('membership')
    .values({ account_id: p.accountId, organization_id: p.organizationId, role: p.role })
    .onConflict((conflict) =>
      conflict
        .column('account_id')
        .doUpdateSet((eb) => ({ role: eb.ref('excluded.role') }))
        .whereRef('membership.organization_id', '=', 'excluded.organization_id'),
    )
    .returning('account_id'),
);
const remove = statement((db, p: { accountId: string; organizationId: string }) =>
  db
    .deleteFrom('membership')
    .where('account_id', '=', p.accountId)
    .where('organization_id', '=', p.organizationId)
    .returning('account_id'),
);
const members = statement((db, p: { organizationId: string }) =>
  db
    .selectFrom('membership')
    .innerJoin('account', 'account.id', 'membership.account_id')
    .select(['membership.account_id', 'membership.role', 'account.username'])
    .where('membership.organization_id', '=', p.organizationId)
    .orderBy('membership.account_id'),
);

const ofAccount = statement((db, p: { accountId: string }) =>
  db
    .selectFrom('membership')
    .innerJoin('organization', 'organization.id', 'membership.organization_id')
    .select(['organization.id', 'organization.name', 'organization.domain', 'membership.role'])
    .where('membership.account_id', '=', p.accountId),
);

const toOrganization = (row: OrganizationTable): Organization => ({
  id: row.id,
  name: row.name,
  domain: row.domain,
  createdAt: row.created_at,
});

export function* findOrganization(id: string): Work<Organization | undefined> {
  const row = yield* first(byId, { id });
  return row && toOrganization(row);
}

/** Adds an organization; answers false where the name is taken. */
export function* insertOrganization(organization: Organization): Work<boolean> {
  const { createdAt: created_at, ...rest } = organization;
  return (yield* first(insert, { ...rest, created_at })) !== undefined;
}

export function* listOrganizations(query: { after: string; limit: number }): Work<Organization[]> {
  return (yield* all(page, query)).map(toOrganization);
}

/** Sets a membership; answers false where the person is in another organization. */
export function* upsertMember(organizationId: string, accountId: string, role: Role | null): Work<boolean> {
  return (yield* first(upsert, { organizationId, accountId, role })) !== undefined;
}

export function* deleteMember(organizationId: string, accountId: string): Work<boolean> {
  return (yield* first(remove, { organizationId, accountId })) !== undefined;
}

export function* listMembers(organizationId: string) {
  const rows = yield* all(members, { organizationId });
  return rows.map((row) => ({ userId: row.account_id, username: row.username, role: row.role as Role | null }));
}

/** The organization of a person, if there is one. */
export function* findMembership(accountId: string): Work<OwnMembership | undefined> {
  const row = yield* first(ofAccount, { accountId });
  return row && { id: row.id, name: row.name, role: row.role as Role | null, domain: row.domain };
}
