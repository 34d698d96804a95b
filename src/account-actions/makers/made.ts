import { isDeepStrictEqual } from 'node:util';
import { type AccountGrant, liveGrantsOf, OF_MEMBERSHIP, removeGrantById } from '../../access/operator-grant-store.ts';
import { mayAct } from '../../accounts/rules/may-act.ts';
import { findAccount, takeAccountLock } from '../../accounts/store.ts';
import { makingDatabase } from '../../admin-keys/hand-out.ts';
import { type AdminKey, grantOfKey, markAdminKeyRevoked, waitForAdminKeyLocks } from '../../admin-keys/store.ts';
import { record } from '../../audit/audit.ts';
import { blockAgain } from '../../clients/blocked-domains.ts';
import { type ClientsUndone, clientsTouchedBy, endClientActs } from '../../clients/disable.ts';
import { endClientTokens } from '../../credentials/client-token-store.ts';
import { requireNotStronger } from '../../operators/refusal.ts';
import type { FormerRole, RightPlace } from '../../operators/right-change-store.ts';
import { lackingOf, type Operator } from '../../operators/rights.ts';
import { lowerMember } from '../../organizations/member-store.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Database, Work } from '../../platform/database/database.ts';
import { finishingDatabase } from '../../platform/database/finishing.ts';
import { type Origin, SYSTEM_ORIGIN } from '../../platform/validation/origin.ts';
import type { Upstream } from '../../upstreams/store.ts';
import { endHandedOut, endInvitationsOf } from '../accounts/handed-out.ts';
import { lastOwnerAmong } from '../accounts/last-owner.ts';
import { endRequestsBeyond, endRequestsOf } from '../accounts/waiting-requests.ts';
import { endInvitationsBeyond } from '../operators/open-invitations.ts';
import { type Eased, endIssuedSince } from '../sign-in/end-issued.ts';
import { endSessionsThrough } from '../upstreams/end-upstream.ts';
import { endUpstreamActs, upstreamsTouchedBy } from '../upstreams/undo-acts.ts';
import { endRightChanges, endSomeRightChanges, giveOwnerBack, type RightsLeft } from './end-right-changes.ts';
import { type Made, type MadeRights, NOTHING_MADE, openedAccounts, rightsToEnd } from './list-made.ts';
import { type AccessPosition, accessPositions, endSomeAccess, type MadeAccess } from './made-access.ts';
import { type AccountPosition, accountPositions, accountsMadeBy, endSomeAccounts } from './made-accounts.ts';
import { leftOfUpstreams, putSettingsBack } from './made-settings.ts';
import { endOpened, lockOpened } from './opened-accounts.ts';
import { type ChangedRight, rightsChangedBy } from './rights-before.ts';
import type { LetGo } from './rules/let-go.ts';
import { endsUnblocking, endsUpstreams, isOwners, type Remaining, type Suspect, suspectsOf } from './suspects.ts';

/** What is left to do after the commit that ended makers: see {@link finishEnding}. */
export interface EndedMakers {
  /** The keys and accounts whose rights ended. */
  readonly ids: readonly string[];
  /** The upstreams that were disabled. */
  readonly upstreams: readonly Upstream[];
  /** Of whom less was required meanwhile, also where that was required again. */
  readonly eased: readonly Eased[];
  /** Where more of what they changed of the rights of others is to be ended. */
  readonly rights: readonly RightsLeft[];
  /** Where more of whom they let in is to be ended. */
  readonly access: readonly AccessPosition[];
  /** Where more of the accounts that they created are to be suspended. */
  readonly accounts: readonly AccountPosition[];
  readonly origin: Origin;
}

/** Keys or accounts whose rights ended, and nothing else. */
export const onlyMakers = (...ids: readonly string[]): EndedMakers => ({
  ...{ ids, upstreams: [], eased: [], rights: [], access: [], accounts: [] },
  origin: SYSTEM_ORIGIN,
});

/** What was ended of an operator's, and whose rights ended with it. */
export interface EndedMade extends Made {
  readonly makers: EndedMakers;
  readonly clients: ClientsUndone;
}

export const NOTHING_ENDED: EndedMade = {
  ...{ ...NOTHING_MADE, makers: onlyMakers() },
  clients: { registered: 0, secrets: 0 },
};

/**
 * Finishes what ended makers, after its commit: waits until the units of work have ended that act with them, so that what those change is
 * there before the answer, and ends what people were signed in to through upstreams that were disabled, or got while less was
 * required of them, and of very many people whom the makers let in, or for whom they created accounts, the others. In the same unit of work, a stream
 * of requests could delay the end itself, or it could wait for a unit that waits for it. It may be repeated.
 */
export async function finishEnding(
  { database: own, clock }: { readonly database: Database; readonly clock: Clock },
  { ids, upstreams, eased, rights, access, accounts, origin }: EndedMakers,
): Promise<void> {
  const database = finishingDatabase(own);
  for (const id of ids) {
    await database.commit(function* waiting(): Work<void> {
      yield* waitForAdminKeyLocks({ id });
      yield* takeAccountLock({ id });
    });
  }
  for (const upstream of upstreams) await endSessionsThrough({ database, clock }, upstream, origin);
  for (const one of eased) await endIssuedSince({ database, clock }, one, origin);
  // First: an assignment that was there before does not end.
  for (const position of rights) {
    for (let at: RightsLeft | undefined = position; at !== undefined; ) {
      const from: RightsLeft = at;
      const ended = await makingDatabase(database).commit(() => endSomeRightChanges(from, origin, clock()));
      for (const one of ended.eased) await endIssuedSince({ database, clock }, one, origin);
      at = ended.next;
    }
  }
  for (const position of access) {
    for (let at: AccessPosition | undefined = position; at !== undefined; ) {
      const from: AccessPosition = at;
      at = (await database.commit(() => endSomeAccess(from, origin, clock()))).next;
    }
  }
  for (const position of accounts) {
    for (let at: AccountPosition | undefined = position; at !== undefined; ) {
      const from: AccountPosition = at;
      at = await database.commit(() => endSomeAccounts(from, origin, clock()));
    }
  }
}

/**
 * Everybody whose acts end with an operator. Where no owner would be left, those are owners again whom they removed, or else the last one stays,
 * whose acts go on.
 */
function* findSuspects(
  operatorId: string,
  { since = 0, openedSince = since, now, remaining, letGo, operator: by }: MadeEnding,
): Work<{
  readonly suspects: readonly Suspect[];
  readonly kept: string | undefined;
  readonly former: readonly FormerRole[];
}> {
  const ended = { since, openedSince, now, remaining, letGo, by };
  const suspects = yield* suspectsOf(operatorId, ended);
  const owners: string[] = [];
  for (const suspect of suspects) {
    const { roles } = yield* rightsToEnd(suspect, now);
    owners.push(...roles.filter(isOwners).map(({ accountId }) => accountId));
  }
  const last = yield* lastOwnerAmong(owners, now);
  const former = last === undefined ? [] : yield* findFormerOwners(suspects, now);
  const kept = former.length === 0 ? last : undefined;
  return {
    suspects: kept === undefined ? suspects : yield* suspectsOf(operatorId, { ...ended, kept }),
    ...{ kept, former },
  };
}

const isOfInstallation = (place: RightPlace): boolean => place.kind === 'role' && place.organizationId === null;

/** The owners whom suspects removed, and who may act. */
function* findFormerOwners(suspects: readonly Suspect[], now: number): Work<readonly FormerRole[]> {
  const { changedRights } = yield* rightsChangedBy(suspects, suspects, now, isOfInstallation);
  const found: FormerRole[] = [];
  for (const { former } of changedRights) {
    if (former.kind !== 'role' || !isOwners(former)) continue;
    const account = yield* findAccount({ id: former.accountId });
    if (account !== undefined && mayAct(account, now)) found.push(former);
  }
  return found;
}

/** A right of an owner who is owner again is all that it was. */
const asGivenBack = (changed: ChangedRight, former: readonly FormerRole[]): ChangedRight =>
  former.some((owner) => isDeepStrictEqual(owner, changed.former))
    ? { former: changed.former, kept: changed.former, isWhole: true }
    : changed;

/** How what an operator made is ended. */
interface MadeEnding {
  readonly operator: Operator | undefined;
  readonly origin: Origin;
  readonly now: number;
  readonly since?: number;
  readonly openedSince?: number | undefined;
  readonly remaining?: Remaining | undefined;
  readonly letGo?: readonly LetGo[];
  readonly sparesStronger?: boolean;
  readonly alsoEnd?: (maker: Suspect) => Work<void>;
}

/**
 * The keys and roles that an operator may end: nobody acts on somebody who holds a permission that they lack.
 * @throws {InsufficientPermission} where one is beyond the operator, unless it is to be left
 */
function* rightsWithin(
  operator: Operator | undefined,
  sparesStronger: boolean,
  { adminKeys, roles }: MadeRights,
  now: number,
): Work<MadeRights> {
  if (operator === undefined) return { adminKeys, roles };
  const within: { readonly adminKeys: AdminKey[]; readonly roles: AccountGrant[] } = { adminKeys: [], roles: [] };
  for (const key of adminKeys) {
    if (!sparesStronger) requireNotStronger(operator, [grantOfKey(key)]);
    if (lackingOf(operator, [grantOfKey(key)]) === undefined) within.adminKeys.push(key);
  }
  for (const role of roles) {
    const held = [role, ...(yield* liveGrantsOf(role.accountId, now))];
    if (!sparesStronger) requireNotStronger(operator, held);
    if (lackingOf(operator, held) === undefined) within.roles.push(role);
  }
  return within;
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
 * registered, accepted or enabled are disabled, the secrets that they added end, and people are asked where they approved.
 * Settings that they changed are put back (`putSettingsBack`). What they did to upstreams ends likewise (`endUpstreamActs`), and so do
 * assignments to apps and memberships that they gave. Accounts that they created are suspended, unless an owner has proved themselves since;
 * others are listed. Accounts of operators that were opened are closed (`endOpened`). The last owner keeps the role, and what they made. The caller then calls {@link finishEnding}.
 * @param by.operator who acts; undefined for the command line, and for the person whose account was in foreign hands. What they may not end goes on
 * @param by.since what was made earlier stays
 * @param by.openedSince the same for what was done to accounts, of which nobody is told when it is done
 * @param by.remaining where only one grant of the operator ended
 * @param by.letGo what other operators let go on
 * @param by.alsoEnd ends more of what a maker made
 * @param by.sparesStronger leaves the keys and roles that have a permission which the operator lacks: their maker once had it
 * @throws {InsufficientPermission} where one of them has such a permission, and they are not to be left
 */
export function* endAllMadeBy(operatorId: string, ending: MadeEnding): Work<EndedMade> {
  const { operator, origin, now, sparesStronger = false, alsoEnd } = ending;
  const adminKeys: AdminKey[] = [];
  const roles: AccountGrant[] = [];
  const { suspects, kept, former } = yield* findSuspects(operatorId, ending);
  // First, so that what is under way in these accounts is there before it is read what they made.
  yield* lockOpened(suspects);
  const through = yield* openedAccounts(suspects, now);
  yield* endOpened(suspects, origin, now);
  for (const suspect of suspects) {
    const { id: maker, rest } = suspect;
    // Where the maker holds more than what ends, the end of each role ends what that allowed.
    if (suspect.openings.length > 0) {
      yield* endInvitationsOf(suspect, origin, now);
      yield* endRequestsOf(suspect, origin, now);
      yield* endHandedOut(maker, false, now);
    } else if (alsoEnd !== undefined && rest.length === 0) yield* alsoEnd(suspect);
    const made = yield* rightsWithin(operator, sparesStronger, yield* rightsToEnd(suspect, now), now);
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
      roles.push(role);
    }
  }
  const {
    left: leftRights,
    eased: members,
    changedRights,
    hasMoreChangedRights,
  } = yield* endRightChanges(suspects, roles, origin, now);
  for (const owner of former) yield* giveOwnerBack(owner, origin, now);
  const rights = { changedRights: changedRights.map((one) => asGivenBack(one, former)), hasMoreChangedRights };
  for (const { accountId } of roles) {
    yield* endInvitationsBeyond(accountId, origin, now);
    yield* endRequestsBeyond(accountId, origin, now);
  }
  const accounts = yield* accountsMadeBy(suspects, { now, ending: [] });
  const leftAccounts = yield* endAccounts(suspects, origin, now);
  const apps = yield* clientsTouchedBy(suspects, now);
  // Before any app is locked, as where a domain is blocked.
  const unblockedDomains = yield* blockAgain(suspects.filter(endsUnblocking), origin, now);
  const { endedSecrets, ...clients } = yield* endClientActs(suspects, origin, now);
  for (const { clientId, addedAt } of endedSecrets) yield* endClientTokens({ clientId, since: addedAt, now });
  const ofUpstreams = suspects.filter(endsUpstreams);
  const upstreams = yield* upstreamsTouchedBy(ofUpstreams);
  const leftSettings = yield* leftOfUpstreams(suspects);
  const { disabled, eased: throughUpstreams } = yield* endUpstreamActs(ofUpstreams, origin, now);
  const ids = [...adminKeys.map(({ id }) => id), ...new Set(roles.map(({ accountId }) => accountId))];
  const { access, left } = yield* endAccess(suspects, origin, now);
  const { settings, eased } = yield* putSettingsBack(suspects, origin, now);
  return {
    ...{
      adminKeys,
      roles,
      apps,
      unblockedDomains,
      settings: [...settings, ...leftSettings],
      upstreams,
      clients,
      access,
      hasMoreAccess: left.length > 0,
    },
    ...{ ...accounts, ...rights },
    through,
    makers: {
      ids,
      upstreams: disabled,
      eased: [...members, ...eased, ...throughUpstreams],
      rights: leftRights,
      access: left,
      accounts: leftAccounts,
      origin,
    },
  };
}

/** Suspends the accounts that operators created, of very many the first ones. */
function* endAccounts(suspects: readonly Suspect[], origin: Origin, now: number): Work<readonly AccountPosition[]> {
  const left: AccountPosition[] = [];
  for (const position of yield* accountPositions(suspects)) {
    const next = yield* endSomeAccounts(position, origin, now);
    if (next !== undefined) left.push(next);
  }
  return left;
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
