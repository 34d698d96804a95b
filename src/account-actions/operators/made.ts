import { type AccountGrant, grantsMadeBy, OF_MEMBERSHIP, removeGrantById } from '../../access/operator-grant-store.ts';
import { takeAccountLock } from '../../accounts/store.ts';
import {
  type AdminKey,
  adminKeyIdsEverMadeBy,
  adminKeysMadeBy,
  grantOfKey,
  markAdminKeyRevoked,
  waitForAdminKeyLocks,
} from '../../admin-keys/store.ts';
import { record } from '../../audit/audit.ts';
import { endApprovals } from '../../clients/disable.ts';
import { requireNotStronger } from '../../operators/refusal.ts';
import type { Operator } from '../../operators/rights.ts';
import { lowerMember } from '../../organizations/store.ts';
import type { Database, Work } from '../../platform/database/database.ts';
import type { Origin } from '../../platform/validation/origin.ts';
import { isLastOwner } from '../accounts/last-owner.ts';
import { endHandedOut, endInvitationsInRole } from './handed-out.ts';

/** The valid keys and roles that an operator made. */
export interface Made {
  readonly adminKeys: readonly AdminKey[];
  readonly roles: readonly AccountGrant[];
}

/** What an event says of them. */
export const idsOfMade = ({ adminKeys, roles }: Made) => ({
  adminKeys: adminKeys.map(({ id }) => id),
  roles: roles.map(({ accountId, role, organizationId }) => ({ userId: accountId, role, organizationId })),
});

/** What was ended of an operator's, and whose rights ended with it. */
export interface EndedMade extends Made {
  /** The keys and accounts to wait for: see {@link waitForMakers}. */
  readonly makers: readonly string[];
}

export const NOTHING_ENDED: EndedMade = { adminKeys: [], roles: [], makers: [] };

/**
 * Waits, after the commit that ended the rights of keys and accounts, until the units of work have ended that act with them: what those
 * change is there before the answer. In the same unit of work, a stream of requests could delay the end itself, or it could wait for a unit
 * that waits for it.
 */
export async function waitForMakers(database: Database, makers: readonly string[]): Promise<void> {
  for (const id of makers) {
    await database.commit(function* waiting(): Work<void> {
      yield* waitForAdminKeyLocks({ id });
      yield* takeAccountLock({ id });
    });
  }
}

export function* madeBy(operatorId: string, now: number): Work<Made> {
  return {
    adminKeys: yield* adminKeysMadeBy({ madeBy: operatorId, now }),
    roles: yield* grantsMadeBy({ madeBy: operatorId }),
  };
}

/** Ends a role. A person who is owner or admin of an organization by a membership stays a member. */
const endRole = ({ id, accountId, organizationId }: AccountGrant): Work<boolean> =>
  id === OF_MEMBERSHIP
    ? lowerMember({ accountId, organizationId: organizationId ?? NOWHERE })
    : removeGrantById({ id });

/** No organization has this id. */
const NOWHERE = '0';

/**
 * Ends the keys and roles that an operator made, those of memberships included, and what these made in turn, inside a unit of work of
 * `makingDatabase`: also where a key between them has ended before. What they approved for the people who use an app is withdrawn. The last
 * owner keeps the role, and what they made.
 * @param by.operator who acts; undefined for the command line, and for the person whose account was in foreign hands
 * @param by.since what was made earlier stays
 * @param by.alsoEnd ends more of what a maker made
 * @throws {InsufficientPermission} where one of them has a permission that the operator lacks: its maker once had it
 */
export function* endAllMadeBy(
  operatorId: string,
  {
    operator,
    origin,
    now,
    since = 0,
    alsoEnd,
  }: {
    readonly operator: Operator | undefined;
    readonly origin: Origin;
    readonly now: number;
    readonly since?: number;
    readonly alsoEnd?: (maker: string) => Work<void>;
  },
): Work<EndedMade> {
  const adminKeys: AdminKey[] = [];
  const roles: AccountGrant[] = [];
  const makers = [operatorId];
  for (const maker of makers) {
    if (alsoEnd !== undefined) yield* alsoEnd(maker);
    const all = yield* madeBy(maker, now);
    const isOfThen = ({ createdAt }: { readonly createdAt: number | null }) => (createdAt ?? 0) >= since;
    const made = { adminKeys: all.adminKeys.filter(isOfThen), roles: all.roles.filter(isOfThen) };
    if (operator !== undefined) requireNotStronger(operator, [...made.adminKeys.map(grantOfKey), ...made.roles]);
    for (const key of made.adminKeys) {
      if (!(yield* markAdminKeyRevoked({ id: key.id, now }))) continue;
      const details = { adminKeyId: key.id, madeBy: maker, ...(yield* endHandedOut(key.id, false, now)) };
      yield* record({ at: now, type: 'admin_key.revoked', origin, details });
      adminKeys.push(key);
    }
    for (const role of made.roles) {
      const isOwner = role.role === 'owner' && role.organizationId === null;
      if (isOwner && (yield* isLastOwner(role.accountId, now))) continue;
      if (!makers.includes(role.accountId)) makers.push(role.accountId);
      if (!(yield* endRole(role))) continue;
      const details = { role: role.role, organizationId: role.organizationId, madeBy: maker };
      yield* record({ at: now, type: 'operator.role_revoked', origin, accountId: role.accountId, details });
      yield* endInvitationsInRole(
        role.accountId,
        origin,
        now,
        role.id === OF_MEMBERSHIP ? (role.organizationId ?? NOWHERE) : undefined,
      );
      roles.push(role);
    }
    for (const id of yield* adminKeyIdsEverMadeBy({ madeBy: maker, since })) if (!makers.includes(id)) makers.push(id);
  }
  // Otherwise an app that one of them approved would go on getting data of people without asking them.
  yield* endApprovals(makers, since, origin, now);
  const makersEnded = [...adminKeys.map(({ id }) => id), ...new Set(roles.map(({ accountId }) => accountId))];
  return { adminKeys, roles, makers: makersEnded };
}
