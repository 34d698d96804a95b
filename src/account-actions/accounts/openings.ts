import { type AccountActor, recordAccountAct, recordPasswordByAddress } from '../../accounts/act-store.ts';
import {
  endReplacedOpenings,
  NO_OPERATOR,
  type OpeningKind,
  type ProviderOpening,
  type Recovered,
  recordAddressDecision,
  recordLostGuard,
  recordOpening,
  recordOpeningOnce,
  settleRecoveredOpenings,
} from '../../accounts/opening-store.ts';
import { emailKey } from '../../accounts/rules/profile.ts';
import type { Account } from '../../accounts/store.ts';
import { listFactors } from '../../authenticators/factor-store.ts';
import { findTotpSeed } from '../../authenticators/totp-store.ts';
import type { Work } from '../../platform/database/database.ts';
import { listIdentities } from '../../upstreams/identity-store.ts';
import { operatorsBehind } from '../../upstreams/operators-behind.ts';
import type { Upstream } from '../../upstreams/store.ts';

/** Records what an operator did to an account with which they may sign in to it, in the unit of work that did it and holds its lock. */
export function* recordAccountOpening(
  actor: AccountActor,
  accountId: string,
  kind: OpeningKind,
  actedAt: number,
): Work<void> {
  if (actor.operator === undefined) return;
  const isGuarded = (yield* findTotpSeed({ accountId })) !== undefined;
  yield* recordOpening(actor, { accountId, kind, actedAt, isGuarded });
}

/**
 * Records that an account has an identity at a provider, in the unit of work that holds the account's lock or creates it. An operator who
 * registered or enabled the provider may be who runs it, and signs in with that identity.
 * @param connectedAt when the identity was connected, where it was before: who acted earlier was recorded then
 */
export function* recordProviderOpening(
  upstream: Upstream,
  accountId: string,
  kind: ProviderOpening,
  opensAt: number,
  connectedAt = 0,
): Work<void> {
  const behind = (yield* operatorsBehind(upstream, { by: 'identity' })).filter(({ actedAt }) => actedAt > connectedAt);
  if (behind.length === 0) return;
  const isGuarded = (yield* findTotpSeed({ accountId })) !== undefined;
  for (const { operatorId, actedAt } of behind) {
    yield* recordOpeningOnce(operatorId, { accountId, kind, actedAt, opensAt, isGuarded });
  }
}

/** When the youngest was set up of what lets somebody in beside a password and the address, or is asked for beside them. */
function* youngestWayIn(account: Pick<Account, 'id' | 'passwordHash'>): Work<number> {
  const factors = yield* listFactors(account);
  const identities = yield* listIdentities({ accountId: account.id });
  return Math.max(0, ...[...factors, ...identities].map(({ createdAt }) => createdAt));
}

/**
 * Records that an operator decided which address an account has. Who gives one, declares it verified, or names one that another operator gave,
 * answers for it from then on. An authenticator app keeps nobody out that others could have set up who opened the account before.
 */
function* recordNamedAddress(actor: AccountActor, before: Account, after: Account, isMoved: boolean): Work<void> {
  const { id: accountId, updatedAt: at } = after;
  const { movedAt, isUsable } = yield* recordAddressDecision(actor, { accountId, isMoved, at });
  const isDeclared = after.profile.emailVerified && !before.profile.emailVerified;
  if (!isMoved && !isDeclared && movedAt === undefined) return;
  const isGuarded = !isUsable && (yield* findTotpSeed({ accountId })) !== undefined;
  yield* recordOpening(actor, { accountId, kind: 'address', actedAt: at, movedAt, isGuarded });
}

/**
 * Records what an operator changed of an account with which they may sign in to it. A password that an operator sets ends what others opened,
 * where nothing else has changed since then by which these get in.
 * @param isNamed whether the operator named the address, be it the present one
 */
export function* recordChangedWaysIn(
  actor: AccountActor,
  before: Account,
  after: Account,
  { isNamed, isNewPassword }: { readonly isNamed: boolean; readonly isNewPassword: boolean },
): Work<void> {
  const { id, updatedAt: at } = after;
  const isMoved = emailKey(before.profile.email) !== emailKey(after.profile.email);
  if (isNamed) yield* recordNamedAddress(actor, before, after, isMoved);
  if (isNewPassword) {
    const since = yield* youngestWayIn(after);
    yield* endReplacedOpenings({ accountId: id, since, except: actor.operator?.id ?? NO_OPERATOR, at });
  }
  if (isNewPassword) yield* recordAccountOpening(actor, id, 'password', at);
}

/**
 * Records that an account was recovered, in the unit of work that did it and holds its lock.
 * @param actor whose link it was; undefined for a recovery by mail
 */
export function* recordRecovery(actor: AccountActor | undefined, recovered: Recovered): Work<void> {
  const { accountId, shownSince, at } = recovered;
  yield* settleRecoveredOpenings(recovered);
  if (actor === undefined) {
    yield* recordPasswordByAddress(accountId, shownSince, at);
    return;
  }
  yield* recordAccountAct(actor, accountId, 'recovered', at);
  // Who had the link alone could not use it.
  const isGuarded = shownSince !== undefined;
  yield* recordOpening(actor, { accountId, kind: 'recovered', actedAt: at, isGuarded });
}

/** Ends what operators opened of an account whose person chose another password and showed a factor from before it. */
export function* endOpeningsByOwner(account: Account, shownSince: number): Work<void> {
  const since = Math.max(shownSince, yield* youngestWayIn(account));
  yield* endReplacedOpenings({ accountId: account.id, since, except: NO_OPERATOR, at: account.updatedAt });
}

/** Records that an account has lost its authenticator app, in the unit of work that removed it. */
export function* recordLostApp({ id: accountId, updatedAt: at }: Pick<Account, 'id' | 'updatedAt'>): Work<void> {
  if ((yield* findTotpSeed({ accountId })) === undefined) yield* recordLostGuard({ accountId, at });
}
