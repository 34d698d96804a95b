import type { Kysely } from 'kysely';
import { operatorRole } from '../operators/permissions.ts';
import { liveGrants, type OperatorGrant, type Within } from '../operators/rights.ts';
import type { Work } from '../platform/database/database.ts';
import { positionsOf } from '../platform/database/positions.ts';
import { forUpdate } from '../platform/database/row-locks.ts';
import type { Tables } from '../platform/database/schema.ts';
import { changes, command, many, one } from '../platform/database/statement.ts';

/** A role that an account holds. */
export interface AccountGrant extends OperatorGrant {
  /** `0` where the role of a membership is the grant. */
  readonly id: string;
  readonly accountId: string;
  /** The operator who gave it; null for the command line. */
  readonly madeBy: string | null;
  readonly createdAt: number | null;
}

const COLUMNS = ['id', 'account_id', 'role', 'organization_id', 'expires_at', 'maker_id', 'created_at'] as const;

const toGrant = (row: {
  readonly id: string;
  readonly account_id: string;
  readonly role: string;
  readonly organization_id: string | null;
  readonly expires_at: number | null;
  readonly maker_id: string | null;
  readonly created_at: number;
}): AccountGrant => ({
  id: row.id,
  accountId: row.account_id,
  role: operatorRole.decode(row.role),
  organizationId: row.organization_id,
  expiresAt: row.expires_at,
  madeBy: row.maker_id,
  createdAt: row.created_at,
});

const stored = (db: Kysely<Tables>) => db.selectFrom('operator_grant').select(COLUMNS);

const grantsOfAccount = many(
  (db, p: { accountId: string }) => stored(db).where('account_id', '=', p.accountId).orderBy('id'),
  toGrant,
);

/** The id of a grant that is the role of a membership. */
export const OF_MEMBERSHIP = '0';

const MEMBERSHIP_ROLES = { OWNER: 'owner', ADMIN: 'admin' } as const;

const ofMemberships = (db: Kysely<Tables>) =>
  db
    .selectFrom('membership')
    .select(['account_id', 'organization_id', 'role', 'role_maker_id', 'role_given_at'])
    .where('role', 'in', Object.keys(MEMBERSHIP_ROLES));

const toMembershipGrant = (row: {
  readonly account_id: string;
  readonly organization_id: string;
  readonly role: string | null;
  readonly role_maker_id: string | null;
  readonly role_given_at: number | null;
}): AccountGrant => ({
  id: OF_MEMBERSHIP,
  accountId: row.account_id,
  role: MEMBERSHIP_ROLES[row.role as keyof typeof MEMBERSHIP_ROLES],
  organizationId: row.organization_id,
  expiresAt: null,
  madeBy: row.role_maker_id,
  createdAt: row.role_given_at,
});

const membershipGrants = many(
  (db, p: { accountId: string }) => ofMemberships(db).where('account_id', '=', p.accountId),
  toMembershipGrant,
);

const membershipGrantsMadeBy = many(
  (db, p: { madeBy: string }) => ofMemberships(db).where('role_maker_id', '=', p.madeBy).orderBy('id'),
  toMembershipGrant,
);

/** Every role that an account holds: those that were given, and owner or admin of an organization by its membership. */
export function* grantsOf(accountId: string): Work<readonly AccountGrant[]> {
  const given = yield* grantsOfAccount({ accountId });
  return [...given, ...(yield* membershipGrants({ accountId }))];
}

/** {@link grantsOf} without those that have ended. */
export function* liveGrantsOf(accountId: string, now: number): Work<readonly AccountGrant[]> {
  return liveGrants(yield* grantsOf(accountId), now);
}

const accounts = positionsOf(50, '0');
type Accounts = Readonly<Record<string, string>>;

const givenAmong = many(
  (db, p: Accounts) => db.selectFrom('operator_grant').select('account_id').where('account_id', 'in', accounts.list(p)),
  (row) => row.account_id,
);
const membersAmong = many(
  (db, p: Accounts) => ofMemberships(db).where('account_id', 'in', accounts.list(p)),
  (row) => row.account_id,
);

/** Which of these accounts hold a role of operators, or held one. */
export function* operatorsAmong(accountIds: readonly string[]): Work<readonly string[]> {
  const found: string[] = [];
  for (const chunk of accounts.chunks(accountIds)) {
    found.push(...(yield* givenAmong(chunk)), ...(yield* membersAmong(chunk)));
  }
  return [...new Set(found)];
}

interface GrantPage {
  readonly after: string;
  readonly limit: number;
}

const page = (db: Kysely<Tables>, p: GrantPage) => stored(db).where('id', '>', p.after).orderBy('id').limit(p.limit);

const listAll = many((db, p: GrantPage) => page(db, p), toGrant);
const listOfOrganization = many(
  (db, p: GrantPage & { organizationId: string }) => page(db, p).where('organization_id', '=', p.organizationId),
  toGrant,
);

/** The given grants in the order of their ids: all, or those of the organization that an operator reaches. */
export const listGrants = ({ within, ...p }: GrantPage & { readonly within: Within | undefined }) =>
  within === undefined ? listAll(p) : listOfOrganization({ ...p, organizationId: within.organizationId ?? '0' });

/** A grant with the names of its account, for lists. */
export interface NamedGrant extends AccountGrant {
  readonly username: string;
  readonly displayName: string;
  /** The name of the organization in which it counts. */
  readonly organization: string | null;
}

const named = (db: Kysely<Tables>, p: GrantPage) =>
  db
    .selectFrom('operator_grant as g')
    .innerJoin('account as a', 'a.id', 'g.account_id')
    .leftJoin('organization as o', 'o.id', 'g.organization_id')
    .select(['g.id', 'g.account_id', 'g.role', 'g.organization_id', 'g.expires_at', 'g.maker_id', 'g.created_at'])
    .select(['a.username', 'a.display_name', 'o.name as organization'])
    .where('g.id', '>', p.after)
    .orderBy('g.id')
    .limit(p.limit);

const toNamed = (
  row: Parameters<typeof toGrant>[0] & {
    readonly username: string;
    readonly display_name: string;
    readonly organization: string | null;
  },
): NamedGrant => ({
  ...toGrant(row),
  username: row.username,
  displayName: row.display_name,
  organization: row.organization,
});

const namedOfAll = many((db, p: GrantPage) => named(db, p), toNamed);
const namedOfOrganization = many(
  (db, p: GrantPage & { organizationId: string }) => named(db, p).where('g.organization_id', '=', p.organizationId),
  toNamed,
);

/** {@link listGrants} with the names of the accounts. */
export const listNamedGrants = ({ within, ...p }: GrantPage & { readonly within: Within | undefined }) =>
  within === undefined ? namedOfAll(p) : namedOfOrganization({ ...p, organizationId: within.organizationId ?? '0' });

const storedMadeBy = many(
  (db, p: { madeBy: string }) => stored(db).where('maker_id', '=', p.madeBy).orderBy('id'),
  toGrant,
);

/** What an operator gave, and not the command line: the roles of memberships as well. */
export function* grantsMadeBy(maker: { readonly madeBy: string }): Work<readonly AccountGrant[]> {
  return [...(yield* storedMadeBy(maker)), ...(yield* membershipGrantsMadeBy(maker))];
}

const insert = command(
  (
    db,
    p: {
      accountId: string;
      role: string;
      organizationId: string | null;
      expiresAt: number | null;
      madeBy: string | null;
      now: number;
    },
  ) =>
    db.insertInto('operator_grant').values({
      account_id: p.accountId,
      role: p.role,
      organization_id: p.organizationId,
      expires_at: p.expiresAt,
      maker_id: p.madeBy,
      created_at: p.now,
    }),
);

/** Adds a grant. The unit of work has locked the account by `lockOperator`, and has removed one of the same role and place. */
export const insertGrant = (
  grant: OperatorGrant & { accountId: string; madeBy: string | null; now: number },
): Work<void> => insert(grant);

const remove = changes((db, p: { accountId: string; role: string; organizationId: string }) =>
  db
    .deleteFrom('operator_grant')
    .where('account_id', '=', p.accountId)
    .where('role', '=', p.role)
    .where((eb) => eb(eb.fn.coalesce('organization_id', eb.val('0')), '=', p.organizationId))
    .returning('id'),
);

/** Removes a grant; false where there is none. */
export const removeGrant = ({
  accountId,
  role,
  organizationId,
}: Omit<OperatorGrant, 'expiresAt'> & { accountId: string }) =>
  remove({ accountId, role, organizationId: organizationId ?? '0' });

export const removeGrantById = changes((db, p: { id: string }) =>
  db.deleteFrom('operator_grant').where('id', '=', p.id).returning('id'),
);

const ownerGrants = (db: Kysely<Tables>) =>
  db
    .selectFrom('operator_grant')
    .where('role', '=', 'owner')
    .where('organization_id', 'is', null)
    .where('expires_at', 'is', null);

/** Whether an account owns the installation without an end. */
export const findOwner = one((db, p: { accountId: string }) =>
  ownerGrants(db).select('id').where('account_id', '=', p.accountId),
);

/** The accounts that own the installation without an end. */
export const listInstallationOwners = many(
  (db, _p: object) => ownerGrants(db).select('account_id').orderBy('id'),
  (row) => row.account_id,
);

/** The accounts that own the installation without an end, locked in one order, so that two that remove each other come one after the other. */
export const lockOwners = many(
  (db, _p: object) => ownerGrants(db).select('account_id').orderBy('id').$call(forUpdate),
  (row) => row.account_id,
);
