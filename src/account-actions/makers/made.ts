import { type AccountGrant, grantsMadeBy, OF_MEMBERSHIP, removeGrantById } from '../../access/operator-grant-store.ts';
import { takeAccountLock } from '../../accounts/store.ts';
import {
  type AdminKey,
  adminKeysMadeBy,
  grantOfKey,
  markAdminKeyRevoked,
  waitForAdminKeyLocks,
} from '../../admin-keys/store.ts';
import { record } from '../../audit/audit.ts';
import { type ClientsUndone, clientsTouchedBy, endClientActs, type TouchedClient } from '../../clients/disable.ts';
import { endClientTokens } from '../../credentials/client-token-store.ts';
import { requireNotStronger } from '../../operators/refusal.ts';
import { excessOf, holds, INSTALLATION, type Operator, type OperatorGrant } from '../../operators/rights.ts';
import { lowerMember } from '../../organizations/store.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Database, Work } from '../../platform/database/database.ts';
import { type Origin, SYSTEM_ORIGIN } from '../../platform/validation/origin.ts';
import type { Upstream } from '../../upstreams/store.ts';
import { endHandedOut } from '../accounts/handed-out.ts';
import { lastOwnerAmong } from '../accounts/last-owner.ts';
import { endInvitationsBeyond } from '../operators/open-invitations.ts';
import { endSessionsThrough } from '../upstreams/end-upstream.ts';
import { endUpstreamActs, type TouchedUpstream, upstreamsTouchedBy } from '../upstreams/undo-acts.ts';
import {
  type AccessOfMaker,
  type AccessPosition,
  accessMadeBy,
  accessPositions,
  endSomeAccess,
  type MadeAccess,
} from './made-access.ts';
import { endsWithin, isOwners, type Remaining, type Suspect, suspectsOf } from './suspects.ts';

/** What an operator made that still counts. */
export interface Made extends AccessOfMaker {
  readonly adminKeys: readonly AdminKey[];
  readonly roles: readonly AccountGrant[];
  /** The active apps that they registered, accepted, enabled or approved, or whose secrets or redirect URIs they changed. */
  readonly apps: readonly TouchedClient[];
  /** The other providers that they registered, enabled or changed. */
  readonly upstreams: readonly TouchedUpstream[];
}

const NOTHING_MADE: Made = { adminKeys: [], roles: [], apps: [], upstreams: [], access: [], hasMoreAccess: false };

/** How many there are of each kind. */
const countsOf = (access: readonly MadeAccess[]) => ({
  assignments: access.filter(({ kind }) => kind === 'assignment').length,
  groupMembers: access.filter(({ kind }) => kind === 'group member').length,
  members: access.filter(({ kind }) => kind === 'member').length,
});

/** Whether that is nothing. */
export const isNothing = ({ adminKeys, roles, apps, upstreams, access }: Made): boolean =>
  [adminKeys, roles, apps, upstreams, access].every((made) => made.length === 0);

/** What an event says of them. */
export const idsOfMade = ({ adminKeys, roles, apps, upstreams, access }: Made) => ({
  adminKeys: adminKeys.map(({ id }) => id),
  roles: roles.map(({ accountId, role, organizationId }) => ({ userId: accountId, role, organizationId })),
  ...(apps.length > 0 && { apps: apps.map(({ clientId, acts }) => ({ clientId, acts })) }),
  ...(upstreams.length > 0 && { upstreams: upstreams.map(({ upstreamId, acts }) => ({ upstreamId, acts })) }),
  ...(access.length > 0 && { access: countsOf(access) }),
});

/** What is left to do after the commit that ended makers: see {@link finishEnding}. */
export interface EndedMakers {
  /** The keys and accounts whose rights ended. */
  readonly ids: readonly string[];
  /** The upstreams that were disabled. */
  readonly upstreams: readonly Upstream[];
  /** Where more of whom they let in is to be ended. */
  readonly access: readonly AccessPosition[];
  readonly origin: Origin;
}

/** Keys or accounts whose rights ended, and nothing else. */
export const onlyMakers = (...ids: readonly string[]): EndedMakers => ({
  ...{ ids, upstreams: [], access: [] },
  origin: SYSTEM_ORIGIN,
});

/** What was ended of an operator's, and whose rights ended with it. */
export interface EndedMade extends Made {
  readonly makers: EndedMakers;
  readonly clients: ClientsUndone;
}

export const NOTHING_ENDED: EndedMade = {
  ...{ ...NOTHING_MADE, makers: onlyMakers() },
  clients: { registered: 0, secrets: 0, redirected: [] },
};

/**
 * Finishes what ended makers, after its commit: waits until the units of work have ended that act with them, so that what those change is
 * there before the answer, and ends what people were signed in to through upstreams that were disabled, and of very many people whom the
 * makers let in the others. In the same unit of work, a stream
 * of requests could delay the end itself, or it could wait for a unit that waits for it. It may be repeated.
 */
export async function finishEnding(
  { database, clock }: { readonly database: Database; readonly clock: Clock },
  { ids, upstreams, access, origin }: EndedMakers,
): Promise<void> {
  for (const id of ids) {
    await database.commit(function* waiting(): Work<void> {
      yield* waitForAdminKeyLocks({ id });
      yield* takeAccountLock({ id });
    });
  }
  for (const upstream of upstreams) await endSessionsThrough({ database, clock }, upstream, origin);
  for (const position of access) {
    for (let at: AccessPosition | undefined = position; at !== undefined; ) {
      const from: AccessPosition = at;
      at = (await database.commit(() => endSomeAccess(from, origin, clock()))).next;
    }
  }
}

/** @param since what was made earlier is left out */
export const madeBy = (operatorId: string, now: number, since = 0): Work<Made> =>
  madeBySuspect({ id: operatorId, since, rest: [], within: undefined, goesOn: () => false }, now);

/** What somebody made who lost a grant, beyond what is left to them. */
export function* madeBeyond(accountId: string, remaining: Remaining, now: number): Work<Made> {
  const suspects = yield* suspectsOf(accountId, { since: 0, now, remaining });
  const own = suspects.find(({ id }) => id === accountId);
  return own === undefined ? NOTHING_MADE : yield* madeBySuspect(own, now);
}

function* madeBySuspect(suspect: Suspect, now: number): Work<Made> {
  return {
    ...(yield* rightsToEnd(suspect, now)),
    apps: yield* clientsTouchedBy([suspect], now),
    upstreams: yield* upstreamsTouchedBy([suspect].filter(endsUpstreams)),
    ...(yield* accessMadeBy([suspect])),
  };
}

/** Whether what a suspect did to upstreams ends: they are of the installation. */
const endsUpstreams = ({ id, rest, within }: Suspect): boolean =>
  within === undefined && !holds({ id, grants: rest }, 'upstreams.manage', INSTALLATION);

function* rightsMadeBy(madeBy: string, since: number, now: number): Work<Pick<Made, 'adminKeys' | 'roles'>> {
  const isOfThen = ({ createdAt }: { readonly createdAt: number | null }) => (createdAt ?? 0) >= since;
  const adminKeys = yield* adminKeysMadeBy({ madeBy, now });
  return { adminKeys: adminKeys.filter(isOfThen), roles: (yield* grantsMadeBy({ madeBy })).filter(isOfThen) };
}

/** The rights that a suspect gave, and that rest on what is ended. */
function* rightsToEnd({ id, since, rest, within }: Suspect, now: number): Work<Pick<Made, 'adminKeys' | 'roles'>> {
  const { adminKeys, roles } = yield* rightsMadeBy(id, since, now);
  const isToEnd = (grant: OperatorGrant): boolean =>
    endsWithin(within, grant) && excessOf({ grants: rest }, grant) !== undefined;
  return { adminKeys: adminKeys.filter((key) => isToEnd(grantOfKey(key))), roles: roles.filter(isToEnd) };
}

/** Everybody whose acts end with an operator; without the last owner, whose role and acts go on. */
function* findSuspects(
  operatorId: string,
  since: number,
  now: number,
  remaining: Remaining | undefined,
): Work<{ readonly suspects: readonly Suspect[]; readonly kept: string | undefined }> {
  const suspects = yield* suspectsOf(operatorId, { since, now, remaining });
  const owners: string[] = [];
  for (const suspect of suspects) {
    const { roles } = yield* rightsToEnd(suspect, now);
    owners.push(...roles.filter(isOwners).map(({ accountId }) => accountId));
  }
  const kept = yield* lastOwnerAmong(owners, now);
  return {
    suspects: kept === undefined ? suspects : yield* suspectsOf(operatorId, { since, now, kept, remaining }),
    kept,
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
 * `makingDatabase`: also where a key between them has ended before. What people may do by a role from elsewhere goes on. The apps that they
 * registered, accepted or enabled are disabled, the secrets that they added end, and people are asked where they approved; redirect URIs that
 * they changed are listed. What they did to upstreams ends likewise (`endUpstreamActs`), and so do assignments to apps and memberships that
 * they gave. The last owner keeps the role, and what they made. The caller then calls
 * {@link finishEnding}.
 * @param by.operator who acts; undefined for the command line, and for the person whose account was in foreign hands
 * @param by.since what was made earlier stays
 * @param by.remaining where only one grant of the operator ended
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
    remaining,
    alsoEnd,
  }: {
    readonly operator: Operator | undefined;
    readonly origin: Origin;
    readonly now: number;
    readonly since?: number;
    readonly remaining?: Remaining;
    readonly alsoEnd?: (maker: Suspect) => Work<void>;
  },
): Work<EndedMade> {
  const adminKeys: AdminKey[] = [];
  const roles: AccountGrant[] = [];
  const { suspects, kept } = yield* findSuspects(operatorId, since, now, remaining);
  for (const suspect of suspects) {
    const { id: maker, rest } = suspect;
    // Where the maker holds more than what ends, the end of each role ends what that allowed.
    if (alsoEnd !== undefined && rest.length === 0) yield* alsoEnd(suspect);
    const made = yield* rightsToEnd(suspect, now);
    if (operator !== undefined) requireNotStronger(operator, [...made.adminKeys.map(grantOfKey), ...made.roles]);
    for (const key of made.adminKeys) {
      if (!(yield* markAdminKeyRevoked({ id: key.id, now }))) continue;
      const details = { adminKeyId: key.id, madeBy: maker, ...(yield* endHandedOut(key.id, false, now)) };
      yield* record({ at: now, type: 'admin_key.revoked', origin, details });
      adminKeys.push(key);
    }
    for (const role of made.roles) {
      if ((isOwners(role) && role.accountId === kept) || !(yield* endRole(role))) continue;
      const details = { role: role.role, organizationId: role.organizationId, madeBy: maker };
      yield* record({ at: now, type: 'operator.role_revoked', origin, accountId: role.accountId, details });
      yield* endInvitationsBeyond(role.accountId, origin, now);
      roles.push(role);
    }
  }
  const apps = yield* clientsTouchedBy(suspects, now);
  const { endedSecrets, ...clients } = yield* endClientActs(suspects, origin, now);
  for (const { clientId, addedAt } of endedSecrets) yield* endClientTokens({ clientId, since: addedAt, now });
  const ofUpstreams = suspects.filter(endsUpstreams);
  const upstreams = yield* upstreamsTouchedBy(ofUpstreams);
  const disabled = yield* endUpstreamActs(ofUpstreams, origin, now);
  const ids = [...adminKeys.map(({ id }) => id), ...new Set(roles.map(({ accountId }) => accountId))];
  const { access, left } = yield* endAccess(suspects, origin, now);
  return {
    ...{ adminKeys, roles, apps, upstreams, clients, access, hasMoreAccess: left.length > 0 },
    makers: { ids, upstreams: disabled, access: left, origin },
  };
}

/** Ends whom operators let in, of very many the first ones. */
function* endAccess(suspects: readonly Suspect[], origin: Origin, now: number) {
  const access: MadeAccess[] = [];
  const left: AccessPosition[] = [];
  for (const position of accessPositions(suspects)) {
    const { access: ended, next } = yield* endSomeAccess(position, origin, now);
    access.push(...ended);
    if (next !== undefined) left.push(next);
  }
  return { access, left };
}
