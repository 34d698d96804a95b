import type { Selectable } from 'kysely';
import { recordGivenRight } from '../operators/given-right-store.ts';
import {
  type FormerMember,
  keepMembershipLost,
  keepRightChange,
  type RightActor,
} from '../operators/right-change-store.ts';
import type { Work } from '../platform/database/database.ts';
import { changes, many, one } from '../platform/database/statement.ts';
import { type MemberOf, type Role, toRole } from './store.ts';
import type { MembershipTable } from './tables.ts';

const WHOLE = [
  ...(['account_id', 'organization_id', 'role', 'role_maker_id', 'role_given_at', 'maker_id', 'made_at'] as const),
] as const;

const toWhole = (row: Pick<Selectable<MembershipTable>, (typeof WHOLE)[number]>): FormerMember => ({
  ...{ kind: 'member', accountId: row.account_id, organizationId: row.organization_id, role: toRole(row.role) },
  ...{ roleMadeBy: row.role_maker_id, roleGivenAt: row.role_given_at, madeBy: row.maker_id, madeAt: row.made_at },
});

/** The membership of a person, with who gave it. */
export const findWholeMember = one(
  (db, p: { accountId: string }) => db.selectFrom('membership').select(WHOLE).where('account_id', '=', p.accountId),
  toWhole,
);

interface SetMember extends MemberOf {
  readonly role: Role | null;
  readonly roleMakerId: string | null;
  readonly givenAt: number | null;
  readonly madeBy: string | null;
  readonly now: number;
}

const upsert = one((db, p: SetMember) =>
  db
    .insertInto('membership')
    .values({
      account_id: p.accountId,
      organization_id: p.organizationId,
      role: p.role,
      role_maker_id: p.roleMakerId,
      role_given_at: p.givenAt,
      maker_id: p.madeBy,
      made_at: p.now,
    })
    .onConflict((conflict) =>
      conflict
        .column('account_id')
        .doUpdateSet((eb) => {
          // Who gives a role again, or a lower one, gives nothing.
          const goesOn = eb.or([
            eb('membership.role', '=', eb.ref('excluded.role')),
            eb.and([eb('membership.role', '=', 'OWNER'), eb('excluded.role', '=', 'ADMIN')]),
          ]);
          return {
            role: eb.ref('excluded.role'),
            role_maker_id: eb
              .case()
              .when(goesOn)
              .then(eb.ref('membership.role_maker_id'))
              .else(eb.ref('excluded.role_maker_id'))
              .end(),
            role_given_at: eb
              .case()
              .when(goesOn)
              .then(eb.ref('membership.role_given_at'))
              .else(eb.ref('excluded.role_given_at'))
              .end(),
          };
        })
        .whereRef('membership.organization_id', '=', 'excluded.organization_id'),
    )
    .returning(['role_maker_id', 'role_given_at']),
);

/** The role of an operator that the role of a member is. */
const roleOf = (role: Role | null): 'owner' | 'admin' | undefined =>
  role === 'OWNER' ? 'owner' : role === 'ADMIN' ? 'admin' : undefined;

/**
 * Makes a user a member or changes the role, unless the user belongs to another organization.
 * @param member.madeBy the operator who does; null for the command line. Who lets a person in stays the maker of the membership
 */
export function* upsertMember(
  member: MemberOf & { readonly role: Role | null; readonly madeBy: string | null; readonly now: number },
): Work<boolean> {
  const { accountId: holderId, organizationId, role, madeBy, now } = member;
  const given = roleOf(role);
  const roleMakerId = given === undefined ? null : madeBy;
  const former = yield* findWholeMember({ accountId: holderId });
  const stored = yield* upsert({ ...member, roleMakerId, givenAt: given === undefined ? null : now });
  if (stored === undefined) return false;
  if (former?.role !== role) {
    const right = { kind: 'member', accountId: holderId, organizationId } as const;
    yield* keepRightChange({ operatorId: madeBy, at: now }, right, former ?? null);
  }
  if (given === undefined || stored.role_maker_id !== madeBy || stored.role_given_at !== now) return true;
  const right = { role: given, organizationId, expiresAt: null } as const;
  yield* recordGivenRight({ kind: 'role', madeBy, holderId, givenAt: now, ...right });
  return true;
}

/** A member whom an operator let in, with no more than the role of a member. */
export interface MadeMember {
  readonly id: string;
  readonly organizationId: string;
  readonly accountId: string;
}

/** A part of the members whom an operator let in from one instant on, and before another one, in the order in which they joined: no owners and admins. */
export const membersMadeBy = many(
  (db, p: { madeBy: string; since: number; until: number; after: string; limit: number }) =>
    db
      .selectFrom('membership')
      .select(['id', 'organization_id', 'account_id'])
      .where('maker_id', '=', p.madeBy)
      .where('made_at', '>=', p.since)
      .where('made_at', '<', p.until)
      .where((eb) => eb.or([eb('role', 'is', null), eb('role', '=', 'MEMBER')]))
      .where('id', '>', p.after)
      .orderBy('id')
      .limit(p.limit),
  (row): MadeMember => ({ id: row.id, organizationId: row.organization_id, accountId: row.account_id }),
);

/** Makes an owner or admin of an organization a member as others are; false where the user is neither. */
export const lowerMember = changes((db, p: MemberOf) =>
  db
    .updateTable('membership')
    .set({ role: 'MEMBER', role_maker_id: null, role_given_at: null })
    .where('account_id', '=', p.accountId)
    .where('organization_id', '=', p.organizationId)
    .where('role', 'in', ['OWNER', 'ADMIN'])
    .returning('id'),
);

const upsertWhole = changes((db, p: Omit<FormerMember, 'kind'>) =>
  db
    .insertInto('membership')
    .values({
      account_id: p.accountId,
      organization_id: p.organizationId,
      role: p.role,
      role_maker_id: p.roleMadeBy,
      role_given_at: p.roleGivenAt,
      maker_id: p.madeBy,
      made_at: p.madeAt,
    })
    .onConflict((conflict) =>
      conflict
        .column('account_id')
        .doUpdateSet((eb) => ({
          role: eb.ref('excluded.role'),
          role_maker_id: eb.ref('excluded.role_maker_id'),
          role_given_at: eb.ref('excluded.role_given_at'),
          maker_id: eb.ref('excluded.maker_id'),
          made_at: eb.ref('excluded.made_at'),
        }))
        .whereRef('membership.organization_id', '=', 'excluded.organization_id'),
    )
    .returning('account_id'),
);

/**
 * Gives a person the membership again that they had, with its role and those who gave it; false where they are in another organization. The
 * unit of work holds the account's lock.
 */
export function* putMemberBack({ kind: _, ...former }: FormerMember): Work<boolean> {
  if (!(yield* upsertWhole(former))) return false;
  const { accountId: holderId, organizationId, role, roleMadeBy: madeBy, roleGivenAt } = former;
  const given = roleOf(role);
  if (given === undefined) return true;
  const right = { role: given, organizationId, expiresAt: null };
  yield* recordGivenRight({ kind: 'role', madeBy, holderId, givenAt: roleGivenAt ?? 0, ...right });
  return true;
}

const deleteRow = changes((db, p: MemberOf) =>
  db
    .deleteFrom('membership')
    .where('account_id', '=', p.accountId)
    .where('organization_id', '=', p.organizationId)
    .returning('account_id'),
);

/**
 * Removes a member; false where the user is not one.
 * @param by who removes the person; undefined where the membership ends with who let the person in
 */
export function* deleteMember(member: MemberOf, by: RightActor | undefined): Work<boolean> {
  const former = yield* findWholeMember(member);
  if (!(yield* deleteRow(member))) return false;
  if (by !== undefined && former !== undefined) yield* keepRightChange(by, former, former);
  return true;
}

const removeSome = many(
  (db, p: { organizationId: string; limit: number }) =>
    db
      .deleteFrom('membership')
      .where('id', 'in', (eb) =>
        eb.selectFrom('membership').select('id').where('organization_id', '=', p.organizationId).limit(p.limit),
      )
      .returning(WHOLE),
  toWhole,
);

/**
 * Removes some members of an organization that is deleted.
 * @param by who required less of them before, or does by that
 * @returns whether there were any
 */
export function* removeSomeMembersOf(
  page: { readonly organizationId: string; readonly limit: number },
  by: readonly RightActor[],
): Work<boolean> {
  const removed = yield* removeSome(page);
  for (const former of removed) for (const actor of by) yield* keepMembershipLost(actor, former);
  return removed.length > 0;
}
