import { type AccountGrant, grantsMadeBy, grantsOf } from '../../access/operator-grant-store.ts';
import { adminKeysEverMadeBy, grantOfKey } from '../../admin-keys/store.ts';
import type { ClientActKind, MakerOfClients } from '../../clients/act-store.ts';
import type { Permission } from '../../operators/permissions.ts';
import { excessOf, holds, liveGrants, type OperatorGrant } from '../../operators/rights.ts';
import type { Work } from '../../platform/database/database.ts';

/** An operator whose acts end: whose rights came from the operator that is ended, or the latter itself. */
export interface Suspect extends MakerOfClients {
  /** What the operator holds besides: what this allows goes on. */
  readonly rest: readonly OperatorGrant[];
  /** The organization outside of which nothing ends; undefined for everything. */
  readonly within: string | undefined;
}

/** What is left to somebody from whom one grant was taken: what this allows goes on. */
export interface Remaining {
  readonly keeps: readonly AccountGrant[];
  /** The organization in which the grant counted; null for the installation. */
  readonly organizationId: string | null;
}

type MadeGrant = OperatorGrant & { readonly madeBy: string | null; readonly createdAt: number | null };

/** What a person needs to do this to an app. */
const PERMISSION_OF: Readonly<Record<ClientActKind, Permission>> = {
  registered: 'apps.create',
  accepted: 'apps.admit',
  enabled: 'apps.assign',
  secret: 'apps.manage',
  'redirect URIs': 'apps.manage',
  approved: 'apps.approve',
};

/**
 * The operator that is ended, and everybody who got a right from it, down to the last, each from that moment on. What they hold from elsewhere
 * is their own: what it allows does not rest on the operator. A right that they gave themselves, or each other, is none from elsewhere.
 * @param since what was made earlier stays
 * @param kept the last owner, whose role does not end
 * @param remaining where only one grant of the operator ended; nothing is left by default
 */
export function* suspectsOf(
  operatorId: string,
  {
    since,
    now,
    kept,
    remaining,
  }: {
    readonly since: number;
    readonly now: number;
    readonly kept?: string | undefined;
    readonly remaining?: Remaining | undefined;
  },
): Work<readonly Suspect[]> {
  const within = remaining?.organizationId ?? undefined;
  const reached = new Map([[operatorId, since]]);
  const held = new Map<string, readonly MadeGrant[]>();
  const queue = [operatorId];
  const reach = (id: string, at: number): void => {
    if ((reached.get(id) ?? Number.POSITIVE_INFINITY) <= at) return;
    reached.set(id, at);
    queue.push(id);
  };
  for (const id of queue) {
    const from = reached.get(id) ?? since;
    for (const key of yield* adminKeysEverMadeBy({ madeBy: id, since: from })) {
      if (!endsWithin(within, key)) continue;
      held.set(key.id, [{ ...grantOfKey(key), madeBy: key.madeBy, createdAt: key.createdAt }]);
      reach(key.id, key.createdAt);
    }
    for (const { accountId, createdAt, organizationId } of yield* grantsMadeBy({ madeBy: id })) {
      if ((createdAt ?? 0) < from || !endsWithin(within, { organizationId })) continue;
      if (!held.has(accountId)) held.set(accountId, liveGrants(yield* grantsOf(accountId), now));
      reach(accountId, createdAt ?? 0);
    }
  }
  held.set(operatorId, remaining?.keeps ?? []);

  const rest = new Map<string, readonly MadeGrant[]>();
  const isFromElsewhere = (accountId: string, { madeBy, createdAt, ...grant }: MadeGrant): boolean => {
    const from = madeBy === null ? undefined : reached.get(madeBy);
    if (from === undefined || (createdAt ?? 0) < from || (accountId === kept && isOwners(grant))) return true;
    return excessOf({ grants: rest.get(madeBy ?? '') ?? [] }, grant) === undefined;
  };
  // What is from elsewhere carries what was given by it, so it grows until nothing is added.
  for (let grew = true; grew; ) {
    grew = false;
    for (const [id, grants] of held) {
      const own = grants.filter((grant) => isFromElsewhere(id, grant));
      if (own.length > (rest.get(id)?.length ?? 0)) grew = true;
      rest.set(id, own);
    }
  }
  return [...reached].map(([id, from]) => {
    const grants = rest.get(id) ?? [];
    return {
      ...{ id, since: from, rest: grants, within },
      goesOn: (kind, place) => !endsWithin(within, place) || holds({ id, grants }, PERMISSION_OF[kind], place),
    };
  });
}

/** Whether what is in an organization, or in the installation, may end with what counted in one. */
export const endsWithin = (
  within: string | undefined,
  { organizationId }: { readonly organizationId: string | null },
): boolean => within === undefined || organizationId === within;

/** Whether a role is that of an owner of the installation without an end. */
export const isOwners = ({ role, organizationId, expiresAt }: OperatorGrant): boolean =>
  role === 'owner' && organizationId === null && expiresAt === null;
