import type { SecondFactorSetting } from '../../accounts/second-factor-setting.ts';
import type { Account } from '../../accounts/store.ts';
import { countRecoveryCodes } from '../../authenticators/recovery-code-store.ts';
import { requiresRecoveryCode } from '../../authenticators/recovery-setting-store.ts';
import type { Factor } from '../../authenticators/rules/factors.ts';
import { type WayIn, type WaysInState, waysIn, waysInWithout } from '../../authenticators/rules/ways-in.ts';
import type { Mailer } from '../../mail/mail.ts';
import { isSecondFactorRequired } from '../../organizations/requirement.ts';
import type { Work } from '../../platform/database/database.ts';
import { type ConnectedIdentity, listIdentities } from '../../upstreams/identity-store.ts';

/** What decides beside a person's factors how they get into their account. */
export interface WayInServices {
  readonly mail: Pick<Mailer, 'available'>;
  readonly secondFactor: SecondFactorSetting;
}

/** What a person gives up: every factor of a kind, or one of their identities at other providers. */
export type Spared = { readonly kind: Factor['kind'] } | { readonly kind: 'identity'; readonly id: string };

/** What decides how a person gets into their account, but for recovery codes: read once for everything that they could give up. */
interface WayState extends Omit<WaysInState, 'identities' | 'recoveryCodes'> {
  /** Those at other providers, usable or not. */
  readonly connected: readonly ConnectedIdentity[];
}

function* readState(
  { mail, secondFactor }: WayInServices,
  account: Account,
  factors: readonly Factor[],
): Work<WayState> {
  const codeRequired =
    (yield* isSecondFactorRequired(secondFactor, account)) || (yield* requiresRecoveryCode(account.id));
  const connected = yield* listIdentities({ accountId: account.id });
  return { factors, connected, codeRequired, mailAvailable: mail.available && account.profile.emailVerified };
}

/** The state with so many recovery codes, and without one of the identities. */
const stateOf = ({ connected, ...state }: WayState, recoveryCodes: number, without?: string): WaysInState => ({
  ...state,
  recoveryCodes,
  identities: connected.filter(({ id, isActive }) => isActive && id !== without).length,
});

/** Recovery codes make no difference: they are used up, and then mail must be enough, as a recovery asks (`account-actions/recovery/complete.ts`). */
const spares = (state: WayState, spared: Spared): boolean =>
  (spared.kind === 'identity' ? waysIn(stateOf(state, 0, spared.id)) : waysInWithout(stateOf(state, 0), spared.kind))
    .length > 0;

/** Whether a person could still get into their account without something, inside a unit of work that holds the account's lock. */
export function* canSpare(
  services: WayInServices,
  account: Account,
  factors: readonly Factor[],
  spared: Spared,
): Work<boolean> {
  return spares(yield* readState(services, account, factors), spared);
}

function* codesLeft({ id: accountId }: Account): Work<number> {
  return (yield* countRecoveryCodes({ accountId }))?.left ?? 0;
}

/** How a person gets into their account when they have removed something: with the factors that are left. */
export function* waysLeft(
  services: WayInServices,
  account: Account,
  factors: readonly Factor[],
): Work<readonly WayIn[]> {
  return waysIn(stateOf(yield* readState(services, account, factors), yield* codesLeft(account)));
}

/** The identities of a person at other providers, each with the ways in that are left without it; none where it cannot be spared. */
export function* waysWithoutIdentities(
  services: WayInServices,
  account: Account,
  factors: readonly Factor[],
): Work<readonly { readonly identity: ConnectedIdentity; readonly ways: readonly WayIn[] }[]> {
  const state = yield* readState(services, account, factors);
  const codes = yield* codesLeft(account);
  return state.connected.map((identity) => {
    const { id } = identity;
    return { identity, ways: spares(state, { kind: 'identity', id }) ? waysIn(stateOf(state, codes, id)) : [] };
  });
}

/** Factors without one of a kind. */
export function withoutOne(factors: readonly Factor[], kind: Factor['kind']): readonly Factor[] {
  const removed = factors.find((factor) => factor.kind === kind);
  return factors.filter((factor) => factor !== removed);
}
