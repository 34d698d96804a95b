import { type BrowserMark, isKnownBrowser } from '../../accounts/known-browser-store.ts';
import type { SecondFactorSetting } from '../../accounts/second-factor-setting.ts';
import { type Account, findAccount, takeAccountLock } from '../../accounts/store.ts';
import { record } from '../../audit/audit.ts';
import { listFactors } from '../../authenticators/factor-store.ts';
import { requiresRecoveryCode } from '../../authenticators/recovery-setting-store.ts';
import { secondFactors } from '../../authenticators/rules/factors.ts';
import { SIGN_IN_FROM } from '../../authenticators/rules/sign-in-bucket.ts';
import { giveBackFrom, takeFrom } from '../../limits/limits.ts';
import { findChallengeOfBrowser, tryCode } from '../../mail/challenges.ts';
import { isSecondFactorRequired } from '../../organizations/requirement.ts';
import type { Work } from '../../platform/database/database.ts';
import type { Origin } from '../../platform/validation/origin.ts';
import { accountStatus } from '../../verdict/rules.ts';
import type { AttemptsLimited, Authenticated, AuthenticationRefusal, CheckedAttempt } from './authenticators.ts';
import type { CodeServices } from './code-attempt.ts';

export interface MailCodeServices extends CodeServices {
  readonly secondFactor: SecondFactorSetting;
}

/** A code of a message, typed into the browser that asked for it. */
export interface MailCodeAttempt {
  /** As typed. */
  readonly code: string;
  readonly browser: BrowserMark;
  readonly origin: Origin;
}

/** Stands for the account of a challenge without one, so that the lock costs the same. */
const NO_ACCOUNT = '0';

/**
 * Whether a code by mail signs in to an account: only one that was sent to a verified address, and not where mail alone must not open the
 * account, by the person's choice or because a second factor is required of them and none would be asked for after the code.
 */
export function* acceptsMailCode(setting: SecondFactorSetting, account: Account): Work<boolean> {
  if (!account.profile.emailVerified || (yield* requiresRecoveryCode(account.id))) return false;
  if (!(yield* isSecondFactorRequired(setting, account))) return true;
  return secondFactors(['mail code'], yield* listFactors(account)).length > 0;
}

/**
 * Authenticates a person by a code that was sent to their address. Where there is no account, a challenge that nothing answers is tried
 * instead. A wrong code, an expired one, too many tries and a name without an account get the same answer. Attempts are counted for the
 * address as well: a browser that has asked for no code may send any number of them.
 */
export async function authenticateByMailCode(
  services: MailCodeServices,
  { code, browser, origin }: MailCodeAttempt,
  now: number,
): Promise<CheckedAttempt | AttemptsLimited> {
  const { database, sealer, limits, secondFactor } = services;
  const { hash: browserHash } = browser;
  const seconds = await database.commit(() =>
    takeFrom(SIGN_IN_FROM, limits.signInAddress, now, { name: 'signInAddress', origin }),
  );
  if (seconds > 0) return { kind: 'limited', seconds };
  const asked = await database.read(() => findChallengeOfBrowser(sealer, browserHash, 'sign in', now));
  const accountId = asked?.accountId ?? null;

  function* refuse(refusal: AuthenticationRefusal, reason: string): Work<AuthenticationRefusal> {
    const details = { reason, method: 'mail code' };
    yield* record({ at: now, type: 'sign_in.failed', outcome: 'failure', origin, accountId, details });
    return refusal;
  }

  function* complete(): Work<Authenticated | AuthenticationRefusal> {
    // The account before the challenge, in the order in which a new code is made.
    // It is read only after a right code: a wrong one costs the same where there is no account.
    const id = accountId ?? NO_ACCOUNT;
    yield* takeAccountLock({ id });
    const isKnown = yield* isKnownBrowser(id, browser);
    const result = yield* tryCode(services, { purpose: 'sign in', browserHash, isKnown, code, origin }, now);
    // Reaching the limit is an event already.
    if (result.kind === 'limited') return { kind: 'wrong' };
    if (result.kind === 'wrong') {
      // An event of an account is in more indexes than one without, which could be measured: here the details name the account.
      const details = { reason: 'wrong code', method: 'mail code', userId: accountId };
      yield* record({ at: now, type: 'sign_in.failed', outcome: 'failure', origin, details });
      return { kind: 'wrong' };
    }
    const { challenge } = result;
    const account = accountId === null ? undefined : yield* findAccount({ id: accountId });
    if (account === undefined || challenge.accountId !== account.id) {
      return yield* refuse({ kind: 'changed' }, 'the account has changed');
    }
    const status = accountStatus(account, now);
    if (status !== 'active') return yield* refuse({ kind: status, account }, status);
    const isSame =
      account.generation === challenge.generation && account.profile.email.toLowerCase() === challenge.address;
    if (!isSame || !(yield* acceptsMailCode(secondFactor, account))) {
      return yield* refuse({ kind: 'changed' }, 'the account has changed');
    }
    yield* giveBackFrom(SIGN_IN_FROM, limits.signInAddress, origin);
    return { kind: 'authenticated', account, method: 'mail code', factorSince: null };
  }
  return { kind: 'checked', complete };
}
