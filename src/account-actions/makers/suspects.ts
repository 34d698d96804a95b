import { type AccountGrant, liveGrantsOf } from '../../access/operator-grant-store.ts';
import { LET_IN } from '../../accounts/opening-store.ts';
import { keysInChainOf } from '../../admin-keys/live.ts';
import { isKeyOnRecord } from '../../admin-keys/store.ts';
import type { ClientActKind, MakerOfClients } from '../../clients/act-store.ts';
import { rightsGivenBy } from '../../operators/given-right-store.ts';
import type { Permission } from '../../operators/permissions.ts';
import { giverOf, type RightChange, rightChangesOf } from '../../operators/right-change-store.ts';
import {
  excessOf,
  heldByRoles,
  holds,
  INSTALLATION,
  liveGrants,
  type Operator,
  type OperatorGrant,
  type Place,
} from '../../operators/rights.ts';
import type { Work } from '../../platform/database/database.ts';
import { grantOfRight } from '../operators/grants.ts';
import { ACCOUNT_PERMISSION_OF } from './account-permissions.ts';
import { type Opening, openingsBy } from './opening-query-store.ts';
import { type LetGo, letsActGo, letsRightGo } from './rules/let-go.ts';
import { cutAt, isInSpan, NO_END, outsideOf, type TimeSpan, withSpan } from './rules/spans.ts';

/**
 * An operator whose acts end: who is ended, whose rights came from that one, or whose account that one could sign in to. One whose acts end
 * in several spans of time is several suspects.
 */
export interface Suspect extends MakerOfClients {
  /** Since when what it did to accounts ends. */
  readonly accountsSince: number;
  /** By what of one account the operator that is ended could act meanwhile with it, or its keys; empty where only rights came from that one. */
  readonly openings: readonly Opening[];
  /** What the operator holds besides: what this allows goes on. Nothing does of what was made through an account that was opened. */
  readonly rest: readonly OperatorGrant[];
  /** Whether a right that it gave goes on: by what it holds besides, or because it was let go on. */
  readonly carries: (grant: OperatorGrant) => boolean;
  /** Whether nothing goes on of what it did, wherever that is, but for what is beyond who ends it. */
  readonly isWhole: boolean;
  /** The organization outside of which nothing ends; undefined for everything. */
  readonly within: string | undefined;
  /** Who ends what the suspect did; undefined for the command line, for the person of the account, and where nothing ends. */
  readonly by: Operator | undefined;
  /**
   * Whether what was done by a permission goes on: the suspect holds it from elsewhere, it was let go on, it is where nothing ends, or who ends
   * the rest may not do so there.
   */
  readonly keeps: (permission: Permission, place: Place) => boolean;
  /** Whether nothing is left of the rights that it got so, by which it would be listed itself. */
  readonly isOver: boolean;
}

/** What is left to somebody from whom one grant was taken: what this allows goes on. */
export interface Remaining {
  readonly keeps: readonly AccountGrant[];
  /** The organization in which the grant counted; null for the installation. */
  readonly organizationId: string | null;
}

type MadeGrant = OperatorGrant & {
  readonly madeBy: string | null;
  readonly createdAt: number | null;
  /** Whether it was changed or taken away. */
  readonly isFormer?: true;
};

const countPresent = (grants: readonly MadeGrant[] = []): number => grants.filter(({ isFormer }) => !isFormer).length;

/** What a person needs to do this to an app. */
const PERMISSION_OF: Readonly<Record<ClientActKind, Permission>> = {
  registered: 'apps.create',
  accepted: 'apps.admit',
  enabled: 'apps.assign',
  secret: 'apps.manage',
  approved: 'apps.approve',
};

/** When what somebody does rests on the operator that is ended. */
interface Reach {
  /** Since when by a right; infinite for never. */
  readonly given: number;
  /** When by signing in to the account, in spans that do not touch. */
  readonly opened: readonly TimeSpan[];
}

const NEVER: Reach = { given: Number.POSITIVE_INFINITY, opened: [] };

const beginningOf = ({ given, opened }: Reach): number => Math.min(given, ...opened.map(({ since }) => since));
const isOpenedAt = ({ opened }: Reach, at: number): boolean => opened.some((span) => isInSpan(span, at));
const isReachedAt = (reach: Reach, at: number): boolean => reach.given <= at || isOpenedAt(reach, at);

/** What is known while the suspects are sought. */
interface Chain {
  readonly operatorId: string;
  readonly openedSince: number;
  readonly within: string | undefined;
  readonly kept: string | undefined;
  readonly letGo: readonly LetGo[];
  readonly now: number;
  readonly reached: Map<string, Reach>;
  readonly held: Map<string, readonly MadeGrant[]>;
  readonly keys: Set<string>;
  /** Of whom it is still to be asked to whom they gave rights. */
  readonly queue: Set<string>;
  /** The openings by those who were asked for them, since an instant each. */
  readonly openings: Map<string, Opening>;
  readonly asked: Map<string, number>;
  /** Who could act by what was done to an account, by its opening. */
  readonly acting: Map<string, readonly string[]>;
}

function reach(chain: Chain, id: string, changed: Partial<Reach>): void {
  chain.reached.set(id, { ...(chain.reached.get(id) ?? NEVER), ...changed });
  chain.queue.add(id);
}

/** Follows the rights that were given, down to the last. */
function* followRights(chain: Chain): Work<void> {
  const { reached, held, keys, queue, within, now } = chain;
  // Who is added is visited as well.
  for (const id of queue) {
    queue.delete(id);
    const from = reached.get(id) ?? NEVER;
    // Also those that were taken away since, or went with their account or organization: what was made by them is still there.
    for (const { kind, holderId, givenAt, ...right } of yield* rightsGivenBy({
      madeBy: id,
      since: beginningOf(from),
    })) {
      if (!isReachedAt(from, givenAt) || !endsWithin(within, right)) continue;
      if (kind === 'admin key') keys.add(holderId);
      if (kind === 'admin key') held.set(holderId, [{ ...right, createdAt: givenAt }]);
      else if (!held.has(holderId)) {
        held.set(holderId, [...(yield* liveGrantsOf(holderId, now)), ...(yield* formerGrantsOf(chain, holderId))]);
      }
      if ((reached.get(holderId)?.given ?? NEVER.given) > givenAt) reach(chain, holderId, { given: givenAt });
    }
  }
}

/** What somebody held before those who end changed it or took it away: what it allowed goes on. */
function* formerGrantsOf({ reached, now }: Chain, accountId: string): Work<readonly MadeGrant[]> {
  const found: MadeGrant[] = [];
  const byPlace = Map.groupBy(yield* rightChangesOf({ accountId }), ({ place }) =>
    place.kind === 'role' ? place.organizationId : place.kind,
  );
  for (const changes of byPlace.values()) {
    const isOthers = ({ operatorId, at }: RightChange): boolean =>
      !isReachedAt(reached.get(operatorId ?? '') ?? NEVER, at);
    const since = changes.slice(changes.findLastIndex(isOthers) + 1);
    for (const [first] of Map.groupBy(since, ({ item }) => item).values()) {
      const grant = grantOfRight(first?.former ?? null);
      if (first?.former == null || grant === undefined) continue;
      const { madeBy, givenAt: createdAt } = giverOf(first.former);
      const { role, organizationId, expiresAt } = grant;
      found.push(...liveGrants([{ role, organizationId, expiresAt, madeBy, createdAt, isFormer: true as const }], now));
    }
  }
  return found;
}

/** What those who got rights hold from elsewhere: it carries what was given by it, so it grows until nothing is added. */
function restOf({ reached, held, kept, operatorId, letGo }: Chain): ReadonlyMap<string, readonly MadeGrant[]> {
  const rest = new Map<string, readonly MadeGrant[]>();
  const isFromElsewhere = (accountId: string, { madeBy, createdAt, ...grant }: MadeGrant): boolean => {
    const from = madeBy === null ? undefined : reached.get(madeBy);
    const at = createdAt ?? 0;
    if (from === undefined || !isReachedAt(from, at) || (accountId === kept && isOwners(grant))) return true;
    if (madeBy === operatorId && letsRightGo(letGo, at, grant)) return true;
    return !isOpenedAt(from, at) && excessOf({ grants: rest.get(madeBy ?? '') ?? [] }, grant) === undefined;
  };
  for (let grew = true; grew; ) {
    grew = false;
    for (const [id, grants] of held) {
      const own = grants.filter((grant) => isFromElsewhere(id, grant));
      if (own.length > (rest.get(id)?.length ?? 0)) grew = true;
      rest.set(id, own);
    }
  }
  return rest;
}

/** When what somebody does to accounts rests on the operator that is ended. */
function reachToAccounts({ reached, operatorId, openedSince }: Chain, id: string): Reach {
  const from = reached.get(id) ?? NEVER;
  return id === operatorId ? { ...from, given: Math.min(from.given, openedSince) } : from;
}

/** Whether what somebody did to an account rests on the operator that is ended. */
function isSuspicious(
  chain: Chain,
  rest: ReadonlyMap<string, readonly MadeGrant[]>,
  { operatorId: id, actedAt, kind }: Opening,
): boolean {
  const from = reachToAccounts(chain, id);
  if (isOpenedAt(from, actedAt)) return true;
  const permission = ACCOUNT_PERMISSION_OF[kind];
  if (id === chain.operatorId && letsActGo(chain.letGo, actedAt, id, permission, INSTALLATION)) return false;
  return from.given <= actedAt && !holds({ id, ...heldByRoles(rest.get(id) ?? []) }, permission, INSTALLATION);
}

/** Who can act by what was done to an account: with its person, who was let in again, the keys that were made before. */
function* actingBy({ accountId, kind }: Opening): Work<readonly string[]> {
  if (kind !== LET_IN) return [accountId];
  return [accountId, ...(yield* keysInChainOf(accountId)).map(({ id }) => id)];
}

/** Follows the accounts that were opened, by one step. @returns whether there were more than before */
function* followOpenings(chain: Chain, rest: ReadonlyMap<string, readonly MadeGrant[]>): Work<boolean> {
  const { reached, openings, asked, acting, operatorId, within, now } = chain;
  // A role of an organization reaches no account.
  if (!endsWithin(within, INSTALLATION)) return false;
  const beginning = (id: string): number => beginningOf(reachToAccounts(chain, id));
  const ids = [...reached.keys()].filter((id) => beginning(id) < (asked.get(id) ?? Number.POSITIVE_INFINITY));
  const since = Math.min(...ids.map(beginning));
  for (const id of ids) asked.set(id, since);
  for (const opening of yield* openingsBy(ids, { since, now })) openings.set(opening.id, opening);
  let grew = false;
  for (const opening of openings.values()) {
    const { id, accountId, span } = opening;
    // What becomes of the operator that is ended is decided elsewhere.
    if (accountId === operatorId || acting.has(id) || !isSuspicious(chain, rest, opening)) continue;
    const ids = yield* actingBy(opening);
    acting.set(id, ids);
    for (const one of ids) reach(chain, one, { opened: withSpan((reached.get(one) ?? NEVER).opened, span) });
    grew = true;
  }
  return grew;
}

/**
 * The operator that is ended, everybody who got a right from it, and whose account it could sign in to, down to the last. What they hold
 * from elsewhere is their own: what it allows does not rest on the operator. A right that they gave themselves, or each other, is none from
 * elsewhere.
 * @param since what was made earlier stays
 * @param openedSince what the operator did to accounts earlier stays, of which nobody is told when it is done; by default the same
 * @param kept the last owner, whose role does not end
 * @param remaining where only one grant of the operator ended; nothing is left by default
 * @param by who ends it: what they may not end goes on
 * @param letGo what other operators let go on of what the operator did; nothing by default
 */
export function* suspectsOf(
  operatorId: string,
  {
    since,
    openedSince = since,
    now,
    kept,
    remaining,
    by,
    letGo = [],
  }: {
    readonly since: number;
    readonly openedSince?: number | undefined;
    readonly now: number;
    readonly kept?: string | undefined;
    readonly remaining?: Remaining | undefined;
    readonly by?: Operator | undefined;
    readonly letGo?: readonly LetGo[] | undefined;
  },
): Work<readonly Suspect[]> {
  const within = remaining?.organizationId ?? undefined;
  const chain: Chain = {
    ...{ operatorId, openedSince, within, kept, letGo, now },
    reached: new Map([[operatorId, { given: since, opened: [] }]]),
    held: new Map([[operatorId, remaining?.keeps ?? []]]),
    keys: new Set(),
    queue: new Set([operatorId]),
    openings: new Map(),
    asked: new Map(),
    acting: new Map(),
  };
  let rest: ReadonlyMap<string, readonly MadeGrant[]>;
  do {
    yield* followRights(chain);
    rest = restOf(chain);
  } while (yield* followOpenings(chain, rest));

  const suspects: Suspect[] = [];
  for (const [id, { given, opened }] of chain.reached) {
    const suspect = (
      span: TimeSpan,
      grants: readonly MadeGrant[],
      isOver: boolean,
      accountsSince = span.since,
    ): Suspect => {
      const decisions = id === operatorId ? letGo.filter(({ at }) => at > accountsSince) : [];
      const keeps = (permission: Permission, place: Place): boolean =>
        !endsWithin(within, place) ||
        holds({ id, ...heldByRoles(grants) }, permission, place) ||
        letsActGo(decisions, accountsSince, id, permission, place) ||
        (by !== undefined && !holds(by, permission, place));
      const of = ({ id: openingId, span: { since: at } }: Opening) =>
        isInSpan(span, at) && chain.acting.get(openingId)?.includes(id) === true;
      const openings = [...chain.openings.values()].filter((one) => of(one) && isSuspicious(chain, rest, one));
      return {
        ...{ id, ...span, accountsSince, rest: grants, within, by, isOver, keeps },
        carries: (grant) => excessOf({ grants }, grant) === undefined || letsRightGo(decisions, accountsSince, grant),
        isWhole: grants.length === 0 && within === undefined && decisions.length === 0,
        openings: isOpenedAt({ given, opened }, span.since) ? openings : [],
        goesOn: (kind, place) => keeps(PERMISSION_OF[kind], place),
      };
    };
    const grants = rest.get(id) ?? [];
    const isOver = chain.keys.has(id)
      ? !(yield* isKeyOnRecord(id, now))
      : countPresent(grants) === countPresent(chain.held.get(id));
    if (id === operatorId) {
      // What was let go on is that of before a decision.
      const parts = cutAt(
        { since: Math.min(given, openedSince), until: NO_END },
        letGo.map(({ at }) => at),
      );
      for (const { since: from, until } of parts) {
        suspects.push(suspect({ since: Math.min(Math.max(from, given), until), until }, grants, isOver, from));
      }
      continue;
    }
    const left = given === NEVER.given ? [] : outsideOf(opened, { since: given, until: NO_END });
    suspects.push(...left.map((span) => suspect(span, grants, isOver)));
    suspects.push(...opened.map((span) => suspect(span, [], true)));
  }
  return suspects;
}

/** Whether what is in an organization, or in the installation, may end with what counted in one. */
export const endsWithin = (
  within: string | undefined,
  { organizationId }: { readonly organizationId: string | null },
): boolean => within === undefined || organizationId === within;

/** Whether what a suspect did to upstreams ends: they are of the installation. */
export const endsUpstreams = ({ keeps }: Suspect): boolean => !keeps('upstreams.manage', INSTALLATION);

/** Whether what a suspect unblocked is blocked again: the list is of the installation. */
export const endsUnblocking = ({ keeps }: Suspect): boolean => !keeps('apps.admit', INSTALLATION);

/** Whether a role is that of an owner of the installation without an end. */
export const isOwners = ({ role, organizationId, expiresAt }: OperatorGrant): boolean =>
  role === 'owner' && organizationId === null && expiresAt === null;
