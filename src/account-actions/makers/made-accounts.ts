import { type AccountGrant, liveGrantsOf, operatorsAmong } from '../../access/operator-grant-store.ts';
import {
  type AccountAct,
  type AccountActKind,
  accountActsOf,
  actingOnAccountsAmong,
  unclaimedAmong,
  unclaimedCreations,
} from '../../accounts/act-store.ts';
import { lockAccount } from '../../accounts/store.ts';
import { lackingForKeysOf } from '../../admin-keys/live.ts';
import { record } from '../../audit/audit.ts';
import { withFactorAmong } from '../../authenticators/factor-store.ts';
import { holdsEverything, INSTALLATION, type Operator } from '../../operators/rights.ts';
import { randomIdentifier } from '../../platform/crypto/secrets.ts';
import type { Work } from '../../platform/database/database.ts';
import type { Origin } from '../../platform/validation/origin.ts';
import { accountEffectsOf, havingEffectsAmong, type UpstreamEffectKind } from '../../upstreams/effect-store.ts';
import { withIdentityAmong } from '../../upstreams/identity-store.ts';
import { saveChange } from '../accounts/accounts.ts';
import { endHandedOutBy } from '../accounts/keys-of-account.ts';
import { recordStatusDecision } from '../accounts/status.ts';
import { accountTime } from '../notices/account-time.ts';
import { ACCOUNT_PERMISSION_OF } from './account-permissions.ts';
import { endsWithin, type Suspect } from './suspects.ts';

/** What an operator did to an account, or what happened to it through another provider by what the operator had done to that. */
export type MadeAccountAct = AccountActKind | UpstreamEffectKind;

/** An account, and what an operator did to it. */
export interface MadeAccount {
  readonly accountId: string;
  readonly acts: readonly MadeAccountAct[];
  /**
   * Whether it is suspended with what else the operator made: the operator created it, and since then nobody has proved to be its owner. Any
   * other goes on, for an operator to look at: it may be that of a person who knows nothing of this.
   */
  readonly ends: boolean;
}

/** The accounts that an operator created or changed. */
export interface AccountsOfMaker {
  readonly accounts: readonly MadeAccount[];
  /** Whether there are more than these. */
  readonly hasMoreAccounts: boolean;
}

/** How many acts of an operator are listed, and how many effects of what they did to other providers. */
const LISTED = 50;

/** How many accounts one commit suspends: each takes many statements, and others wait for the commit. */
const BATCH = 10;

/** Greater than every id of an act. */
const NEWEST = String(Number.MAX_SAFE_INTEGER);

/** Where the ending of what a maker did to accounts goes on. */
export interface AccountPosition {
  readonly maker: Suspect;
  /** The id of the last act before. */
  readonly before: string;
}

/** Whether an act of a maker goes on. A role of an organization reaches no account. */
const goesOn = ({ keeps }: Suspect, kind: MadeAccountAct): boolean => keeps(ACCOUNT_PERMISSION_OF[kind], INSTALLATION);

/** What is known when it is asked to whom accounts belong. */
interface Asked {
  readonly now: number;
  /** Who ends it: what is stronger goes on. */
  readonly by: Operator | undefined;
  /** Roles that end as well: they do not show that an account is a colleague's. */
  readonly ending: readonly AccountGrant[];
}

/**
 * Those of some accounts of which nobody has proved to be the owner, beyond what operators gave to them: by a password of their own, an
 * address that they verified, another factor or a provider; and which hold no role that somebody gave them,
 * nor made a key that is beyond who ends it.
 */
function* unownedAmong(accountIds: readonly string[], { now, by, ending }: Asked): Work<ReadonlySet<string>> {
  const unowned = new Set(yield* unclaimedAmong(accountIds));
  for (const id of yield* withFactorAmong([...unowned])) unowned.delete(id);
  for (const id of yield* withIdentityAmong([...unowned])) unowned.delete(id);
  const ends = new Set(ending.map(nameOf));
  for (const id of yield* operatorsAmong([...unowned])) {
    if ((yield* liveGrantsOf(id, now)).some((grant) => !ends.has(nameOf(grant)))) unowned.delete(id);
  }
  if (by === undefined || holdsEverything(by)) return unowned;
  for (const id of unowned) if ((yield* lackingForKeysOf(by, id, now)) !== undefined) unowned.delete(id);
  return unowned;
}

const nameOf = ({ accountId, role, organizationId }: AccountGrant): string => [accountId, role, organizationId].join();

interface ListedAct extends Pick<AccountAct, 'accountId' | 'actedAt'> {
  readonly kind: MadeAccountAct;
}

/** The accounts that operators created or changed: of each operator those of the newest acts. */
export function* accountsMadeBy(makers: readonly Suspect[], asked: Omit<Asked, 'by'>): Work<AccountsOfMaker> {
  const acts: ListedAct[] = [];
  let hasMoreAccounts = false;
  const list = (maker: Suspect, page: readonly ListedAct[]): void => {
    acts.push(...page.filter(({ kind }) => !goesOn(maker, kind)));
    hasMoreAccounts ||= page.length === LISTED;
  };
  for (const maker of yield* actingAmong(makers)) {
    list(
      maker,
      yield* accountActsOf({
        operatorId: maker.id,
        since: maker.accountsSince,
        until: maker.until,
        before: NEWEST,
        limit: LISTED,
      }),
    );
  }
  for (const maker of yield* havingEffects(makers)) {
    list(
      maker,
      yield* accountEffectsOf({ operatorId: maker.id, since: maker.since, until: maker.until, limit: LISTED }),
    );
  }
  const created = acts.filter(({ kind }) => kind === 'created').map(({ accountId }) => accountId);
  const unowned = yield* unownedAmong(created, { ...asked, by: makers[0]?.by });
  const accounts = [...Map.groupBy(acts, ({ accountId }) => accountId)].map(([accountId, own]) => ({
    ...{ accountId, acts: kindsOf(own) },
    ends: unowned.has(accountId),
  }));
  return { accounts: accounts.sort((one, other) => byId(one.accountId, other.accountId)), hasMoreAccounts };
}

/** Those of some operators who did anything to accounts: of very many makers, few did. */
function* actingAmong(makers: readonly Suspect[]): Work<readonly Suspect[]> {
  const reaching = makers.filter(reachesAccounts);
  const acting = yield* actingOnAccountsAmong(reaching.map(({ id }) => id));
  return reaching.filter(({ id }) => acting.has(id));
}

const reachesAccounts = ({ within }: Suspect): boolean => endsWithin(within, INSTALLATION);

/** Those who did something to other providers by which anything happened to accounts. */
function* havingEffects(makers: readonly Suspect[]): Work<readonly Suspect[]> {
  const reaching = makers.filter(reachesAccounts);
  const found = yield* havingEffectsAmong(reaching.map(({ id }) => id));
  return reaching.filter(({ id }) => found.includes(id));
}

const byId = (one: string, other: string): number => (BigInt(one) < BigInt(other) ? -1 : 1);

/** An account that was created with a verified address did not get another one. */
function kindsOf(acts: readonly ListedAct[]): readonly MadeAccountAct[] {
  const createdAt = acts.find(({ kind }) => kind === 'created')?.actedAt;
  const counting = acts.filter(({ kind, actedAt }) => kind !== 'address' || actedAt !== createdAt);
  return [...new Set(counting.map(({ kind }) => kind))];
}

/** Where the suspending of accounts that operators created begins. */
export function* accountPositions(makers: readonly Suspect[]): Work<readonly AccountPosition[]> {
  const acting = yield* actingAmong(makers);
  return acting.filter((maker) => !goesOn(maker, 'created')).map((maker) => ({ maker, before: NEWEST }));
}

/**
 * Suspends a part of the accounts that an operator created, inside a unit of work; those whose owners have proved themselves since stay.
 * @returns where it goes on; undefined at the end
 */
export function* endSomeAccounts(
  { maker, before }: AccountPosition,
  origin: Origin,
  now: number,
): Work<AccountPosition | undefined> {
  const page = yield* unclaimedCreations({
    operatorId: maker.id,
    since: maker.accountsSince,
    until: maker.until,
    before,
    limit: BATCH,
  });
  // Always in this order, so that no two units of work wait for each other.
  const ids = page.map(({ accountId }) => accountId).sort(byId);
  const unowned = yield* unownedAmong(ids, { now, by: maker.by, ending: [] });
  for (const id of ids) if (unowned.has(id)) yield* suspend(id, maker, origin, now);
  const last = page.at(-1);
  return page.length < BATCH || last === undefined ? undefined : { maker, before: last.id };
}

function* suspend(accountId: string, { id: makerId, by }: Suspect, origin: Origin, now: number): Work<void> {
  const account = yield* lockAccount({ id: accountId });
  // Until the lock, its owner may have proved to be that.
  const unowned = yield* unownedAmong([accountId], { now, by, ending: [] });
  if (account === undefined || account.suspendedAt !== null || !unowned.has(accountId)) return;
  const at = yield* accountTime(account, now);
  const reason = `Created by the operator ${makerId}, which was ended with all that it made.`;
  const ended = { suspendedAt: now, suspensionReason: reason, generation: randomIdentifier() };
  yield* recordStatusDecision({ operator: by }, account, yield* saveChange(account, ended, at, now), now);
  const details = { reason, madeBy: makerId, ...(yield* endHandedOutBy(accountId, origin, now)) };
  yield* record({ at: now, type: 'account.suspended', origin, accountId, details });
}
