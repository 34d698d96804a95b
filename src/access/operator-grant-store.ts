import type { Kysely } from 'kysely';
import { recordGivenRight } from '../operators/given-right-store.ts';
import { type OperatorRole, operatorRole } from '../operators/permissions.ts';
import { listWithin, type Reached, reachedOrganizations } from '../operators/reach.ts';
import { type FormerRole, keepRightChange, type RightActor } from '../operators/right-change-store.ts';
import { liveGrants, type OperatorGrant } from '../operators/rights.ts';
import type { Work } from '../platform/database/database.ts';
import { type Positioned, positionsOf } from '../platform/database/positions.ts';
import { forUpdate } from '../platform/database/row-locks.ts';
import type { Tables } from '../platform/database/schema.ts';
import { changes, columnsOf, command, decoder, many, one, plain, storedField } from '../platform/database/statement.ts';

/** A role that an account holds. */
export interface AccountGrant extends OperatorGrant {
  /** `0` where the role of a membership is the grant. */
  readonly id: string;
  readonly accountId: string;
  /** The operator who gave it; null for the command line. */
  readonly madeBy: string | null;
  readonly createdAt: number | null;
}

const GRANT = {
  id: storedField('id', plain<string>()),
  accountId: storedField('account_id', plain<string>()),
  role: storedField('role', operatorRole),
  organizationId: storedField('organization_id', plain<string | null>()),
  expiresAt: storedField('expires_at', plain<number | null>()),
  madeBy: storedField('maker_id', plain<string | null>()),
  createdAt: storedField('created_at', plain<number>()),
} as const;

const COLUMNS = columnsOf(GRANT);
const toGrant: (row: object) => AccountGrant = decoder(GRANT);

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
    .select(['account_id as accountId', 'organization_id as organizationId', 'role'])
    .select(['role_maker_id as makerId', 'role_given_at as createdAt'])
    .where('role', 'in', Object.keys(MEMBERSHIP_ROLES));

const toMembershipGrant = ({
  makerId,
  ...row
}: {
  readonly accountId: string;
  readonly organizationId: string;
  readonly role: string | null;
  readonly makerId: string | null;
  readonly createdAt: number | null;
}): AccountGrant => ({
  ...row,
  id: OF_MEMBERSHIP,
  role: MEMBERSHIP_ROLES[row.role as keyof typeof MEMBERSHIP_ROLES],
  expiresAt: null,
  madeBy: makerId,
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
const givenAmong = many(
  (db, p: Positioned) =>
    db.selectFrom('operator_grant').select('account_id').where('account_id', 'in', accounts.list(p)),
  (row) => row.account_id,
);
const membersAmong = many(
  (db, p: Positioned) => ofMemberships(db).where('account_id', 'in', accounts.list(p)),
  (row) => row.accountId,
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
const listReached = many(
  (db, p: GrantPage & Reached) => page(db, p).where('organization_id', 'in', reachedOrganizations(p)),
  toGrant,
);

/** The given grants in the order of their ids: all, or those of the organizations that an operator reaches. */
export const listGrants = listWithin({ order: 'oldest first', all: listAll, reached: listReached });

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
    .select(COLUMNS.map((column) => `g.${column}` as const))
    .select(['a.username', 'a.display_name as displayName', 'o.name as organization'])
    .where('g.id', '>', p.after)
    .orderBy('g.id')
    .limit(p.limit);

const toNamed = (row: Omit<NamedGrant, keyof AccountGrant>): NamedGrant => {
  const { username, displayName, organization } = row;
  return { ...toGrant(row), username, displayName, organization };
};

const namedOfAll = many((db, p: GrantPage) => named(db, p), toNamed);
const namedReached = many(
  (db, p: GrantPage & Reached) => named(db, p).where('g.organization_id', 'in', reachedOrganizations(p)),
  toNamed,
);

/** {@link listGrants} with the names of the accounts. */
export const listNamedGrants = listWithin({ order: 'oldest first', all: namedOfAll, reached: namedReached });

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
export function* insertGrant(
  grant: OperatorGrant & { accountId: string; madeBy: string | null; now: number },
): Work<void> {
  const { accountId: holderId, now: givenAt, ...given } = grant;
  yield* insert(grant);
  yield* recordGivenRight({ ...given, kind: 'role', holderId, givenAt });
}

interface GrantOfAccount {
  readonly accountId: string;
  readonly role: OperatorRole;
}

/** What is kept of a grant that is changed or taken away. */
const toFormer = ({ accountId, role, organizationId, expiresAt, madeBy, createdAt }: AccountGrant): FormerRole => ({
  ...{ kind: 'role', accountId, role, organizationId, expiresAt, madeBy },
  givenAt: createdAt ?? 0,
});

/**
 * Gives a grant in the place of the one of the same role and place, if the account has one. The unit of work has locked the account by
 * `lockOperator`.
 */
export function* replaceGrant(
  grant: OperatorGrant & { accountId: string; madeBy: string | null; now: number },
  held: AccountGrant | undefined,
  actor: RightActor,
): Work<void> {
  if (held !== undefined) yield* removeGrantById({ id: held.id });
  yield* insertGrant(grant);
  if (held?.expiresAt === grant.expiresAt && held.madeBy === grant.madeBy) return;
  const { accountId, role, organizationId } = grant;
  const right = { kind: 'role', accountId, role, organizationId } as const;
  yield* keepRightChange(actor, right, held === undefined ? null : toFormer(held));
}

const matching = (db: Kysely<Tables>, p: GrantOfAccount) =>
  db.deleteFrom('operator_grant').where('account_id', '=', p.accountId).where('role', '=', p.role).returning(COLUMNS);

const removeInInstallation = one(
  (db, p: GrantOfAccount) => matching(db, p).where('organization_id', 'is', null),
  toGrant,
);
const removeInOrganization = one(
  (db, p: GrantOfAccount & { organizationId: string }) =>
    matching(db, p).where('organization_id', '=', p.organizationId),
  toGrant,
);

/** Removes a grant; false where there is none. */
export function* removeGrant(
  { accountId, role, organizationId }: Omit<OperatorGrant, 'expiresAt'> & { accountId: string },
  actor: RightActor,
): Work<boolean> {
  const removed =
    organizationId === null
      ? yield* removeInInstallation({ accountId, role })
      : yield* removeInOrganization({ accountId, role, organizationId });
  if (removed === undefined) return false;
  const former = toFormer(removed);
  yield* keepRightChange(actor, former, former);
  return true;
}

/** Removes a grant that was read, as {@link removeGrant} does. */
export function* removeHeldGrant(grant: AccountGrant, actor: RightActor): Work<void> {
  if (!(yield* removeGrantById({ id: grant.id }))) return;
  const former = toFormer(grant);
  yield* keepRightChange(actor, former, former);
}

/** Removes a grant that ends with who gave it, or that is replaced: nothing of that is put back. */
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

/** How many operators are told of something at most. */
const MOST_TOLD = 50;

const administrators = many(
  (db, p: { organizationId: string; now: number }) =>
    db
      .selectFrom('operator_grant')
      .select('account_id')
      .where('role', 'in', ['owner', 'admin'])
      .where((eb) => eb.or([eb('organization_id', 'is', null), eb('organization_id', '=', p.organizationId)]))
      .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', p.now)]))
      .union(ofMemberships(db).clearSelect().select('account_id').where('organization_id', '=', p.organizationId))
      .orderBy('account_id')
      .limit(MOST_TOLD),
  (row) => row.account_id,
);

/** Some accounts that are owner or admin where something is: of its organization, if it is in one, or of the installation. */
export const listAdministrators = (organizationId: string | null, now: number): Work<readonly string[]> =>
  administrators({ organizationId: organizationId ?? '0', now });
