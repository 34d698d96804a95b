import { type AccountGrant, grantsMadeBy } from '../../access/operator-grant-store.ts';
import type { OpeningKind } from '../../accounts/opening-store.ts';
import { type AdminKey, adminKeysMadeBy, grantOfKey } from '../../admin-keys/store.ts';
import { domainsUnblockedBy } from '../../clients/blocked-domains.ts';
import { clientsTouchedBy, type TouchedClient } from '../../clients/disable.ts';
import type { OperatorGrant } from '../../operators/rights.ts';
import type { Work } from '../../platform/database/database.ts';
import { type TouchedUpstream, upstreamsTouchedBy } from '../upstreams/undo-acts.ts';
import { type AccessOfMaker, accessMadeBy, type MadeAccess } from './made-access.ts';
import { type AccountsOfMaker, accountsMadeBy } from './made-accounts.ts';
import { type ChangedSettings, settingsChangedBy } from './made-settings.ts';
import { byOpenedAccount, mayEndOpened, openingsOf } from './opened-accounts.ts';
import { type ChangedRights, rightsChangedBy } from './rights-before.ts';
import { isInSpan, NO_END, type TimeSpan } from './rules/spans.ts';
import { endsUnblocking, endsUpstreams, endsWithin, type Remaining, type Suspect, suspectsOf } from './suspects.ts';

/** What an operator made that still counts. */
interface MadeAlone extends AccessOfMaker, AccountsOfMaker, ChangedRights {
  readonly adminKeys: readonly AdminKey[];
  readonly roles: readonly AccountGrant[];
  /** The active apps that they registered, accepted, enabled or approved, or whose secrets they added. */
  readonly apps: readonly TouchedClient[];
  /** The domains that they unblocked for apps that register themselves. */
  readonly unblockedDomains: readonly string[];
  /** What else they changed of apps, organizations and groups that may let somebody in. */
  readonly settings: readonly ChangedSettings[];
  /** The other providers that they registered, enabled or changed. */
  readonly upstreams: readonly TouchedUpstream[];
}

/** An account to which an operator could sign in, and what was made through it meanwhile. */
export interface OpenedAccount {
  readonly accountId: string;
  /** What the operator, or somebody who rests on them, did to the account for that. */
  readonly acts: readonly OpeningKind[];
  readonly since: number;
  /** When it ended; null where the operator may still be able to. */
  readonly until: number | null;
  /** Whether the account loses its password and is signed out with what was made, or is barred again. */
  readonly ends: boolean;
  readonly made: MadeAlone;
}

/** What an operator made that still counts, with what was made through the accounts of others. */
export interface Made extends MadeAlone {
  /** Of all that, what was made through each of these. */
  readonly through: readonly OpenedAccount[];
}

export const NOTHING_MADE: Made = {
  ...{ adminKeys: [], roles: [], apps: [], unblockedDomains: [], settings: [], upstreams: [] },
  ...{ access: [], hasMoreAccess: false, accounts: [], hasMoreAccounts: false, through: [] },
  ...{ changedRights: [], hasMoreChangedRights: false },
};

/** How many there are of each kind. */
const countsOf = (access: readonly MadeAccess[]) => ({
  assignments: access.filter(({ kind }) => kind === 'assignment').length,
  groupMembers: access.filter(({ kind }) => kind === 'group member').length,
  members: access.filter(({ kind }) => kind === 'member').length,
});

const isNothingAlone = (made: MadeAlone): boolean => ALL.every((name) => made[name].length === 0);
const ALL = [
  ...(['adminKeys', 'roles', 'apps', 'unblockedDomains', 'settings', 'upstreams', 'access', 'accounts'] as const),
  'changedRights',
] as const;

/** Whether that is nothing. */
export const isNothing = (made: Made): boolean => isNothingAlone(made) && made.through.length === 0;

/** What an event says of them. */
export const idsOfMade = ({ through, ...made }: Made) => ({
  ...idsOfMadeAlone(made),
  ...(through.length > 0 && {
    through: through.map(({ accountId, acts, ends, made: own }) => ({
      ...{ userId: accountId, acts, signedOut: ends },
      ...idsOfMadeAlone(own),
    })),
  }),
});

const idsOfMadeAlone = ({
  adminKeys,
  roles,
  apps,
  unblockedDomains,
  settings,
  upstreams,
  access,
  accounts,
  changedRights,
}: MadeAlone) => ({
  adminKeys: adminKeys.map(({ id }) => id),
  roles: roles.map(({ accountId, role, organizationId }) => ({ userId: accountId, role, organizationId })),
  ...(apps.length > 0 && { apps: apps.map(({ clientId, acts }) => ({ clientId, acts })) }),
  ...(unblockedDomains.length > 0 && { unblockedDomains }),
  ...(settings.length > 0 && { settings: settings.map(({ kind, id, fields, left }) => ({ kind, id, fields, left })) }),
  ...(upstreams.length > 0 && { upstreams: upstreams.map(({ upstreamId, acts }) => ({ upstreamId, acts })) }),
  ...(access.length > 0 && { access: countsOf(access) }),
  ...(changedRights.length > 0 && {
    changedRights: changedRights.map(({ former: { kind, accountId }, isWhole }) => ({
      kind,
      userId: accountId,
      asBefore: isWhole,
    })),
  }),
  ...(accounts.length > 0 && {
    accounts: accounts.map(({ accountId, acts, ends }) => ({ userId: accountId, acts, suspended: ends })),
  }),
});

/**
 * @param since what was made earlier is left out
 * @param openedSince the same for what was done to accounts
 */
export function* madeBy(operatorId: string, now: number, since = 0, openedSince = since): Work<Made> {
  return yield* listMade(operatorId, yield* suspectsOf(operatorId, { since, openedSince, now }), now);
}

/** What somebody made who lost a grant, beyond what is left to them. */
export function* madeBeyond(accountId: string, remaining: Remaining, now: number): Work<Made> {
  return yield* listMade(accountId, yield* suspectsOf(accountId, { since: 0, now, remaining }), now);
}

/** The rights that somebody gave. */
export type MadeRights = Pick<Made, 'adminKeys' | 'roles'>;

/** What an operator made, and what those made whom the operator gave a right that is over: nothing else names them. */
function* listMade(operatorId: string, suspects: readonly Suspect[], now: number): Work<Made> {
  const listed = suspects.filter(({ id, isOver }) => id === operatorId || isOver);
  return { ...(yield* listAll(listed, suspects, now)), through: yield* openedAccounts(suspects, now) };
}

/** What an operator made, and what these made in turn, down to the last: what would end with it. */
export function* allMadeBy(operatorId: string, now: number): Work<Made> {
  const suspects = yield* suspectsOf(operatorId, { since: 0, now });
  return { ...(yield* listAll(suspects, suspects, now)), through: yield* openedAccounts(suspects, now) };
}

/** @param suspects the makers, and others who end with them */
function* listAll(makers: readonly Suspect[], suspects: readonly Suspect[], now: number): Work<MadeAlone> {
  const adminKeys: AdminKey[] = [];
  const roles: AccountGrant[] = [];
  for (const maker of makers) {
    const rights = yield* rightsToEnd(maker, now);
    adminKeys.push(...rights.adminKeys);
    roles.push(...rights.roles);
  }
  return {
    ...{ adminKeys, roles },
    apps: yield* clientsTouchedBy(makers, now),
    unblockedDomains: yield* domainsUnblockedBy(makers.filter(endsUnblocking)),
    settings: yield* settingsChangedBy(makers),
    upstreams: yield* upstreamsTouchedBy(makers.filter(endsUpstreams)),
    ...(yield* accessMadeBy(makers, suspects, now)),
    ...(yield* rightsChangedBy(suspects, makers, now)),
    ...(yield* accountsMadeBy(makers, { now, ending: roles })),
  };
}

function* rightsMadeBy({ id: madeBy, ...span }: TimeSpan & { readonly id: string }, now: number): Work<MadeRights> {
  const isOfThen = ({ createdAt }: { readonly createdAt: number | null }) => isInSpan(span, createdAt ?? 0);
  const adminKeys = yield* adminKeysMadeBy({ madeBy, now });
  return { adminKeys: adminKeys.filter(isOfThen), roles: (yield* grantsMadeBy({ madeBy })).filter(isOfThen) };
}

/** The rights that a suspect gave, and that rest on what is ended. */
export function* rightsToEnd({ id, since, until, carries, within }: Suspect, now: number): Work<MadeRights> {
  const { adminKeys, roles } = yield* rightsMadeBy({ id, since, until }, now);
  const isToEnd = (grant: OperatorGrant): boolean => endsWithin(within, grant) && !carries(grant);
  return { adminKeys: adminKeys.filter((key) => isToEnd(grantOfKey(key))), roles: roles.filter(isToEnd) };
}

/** The accounts that were opened to an operator, with what was made through each that still counts. */
export function* openedAccounts(suspects: readonly Suspect[], now: number): Work<readonly OpenedAccount[]> {
  const found: OpenedAccount[] = [];
  for (const [accountId, parts] of byOpenedAccount(suspects)) {
    const openings = openingsOf(parts);
    const until = Math.max(...parts.map((part) => part.until));
    const ends = yield* mayEndOpened(accountId, { openings, by: parts[0]?.by }, suspects, now);
    const made = yield* listAll(parts, suspects, now);
    if (!ends && isNothingAlone(made)) continue;
    found.push({
      ...{ accountId, ends, made },
      acts: [...new Set(openings.map(({ kind }) => kind))],
      since: Math.min(...parts.map((part) => part.since)),
      until: until === NO_END ? null : until,
    });
  }
  return found;
}
