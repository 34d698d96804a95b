import { type BrowserMark, isKnownBrowser } from '../../accounts/known-browser-store.ts';
import { type Account, lockAccount } from '../../accounts/store.ts';
import { record } from '../../audit/audit.ts';
import type { Method } from '../../authenticators/rules/authentication-context.ts';
import type { Span } from '../../authenticators/rules/taking-back.ts';
import type { Sealer } from '../../keys/sealer.ts';
import { giveBack, take } from '../../limits/limits.ts';
import type { Work } from '../../platform/database/database.ts';
import type { Origin } from '../../platform/validation/origin.ts';
import { accountStatus } from '../../verdict/rules.ts';
import type {
  AttemptsLimited,
  Authenticated,
  AuthenticationRefusal,
  AuthenticationServices,
  CheckedAttempt,
} from './authenticators.ts';

export interface CodeServices extends AuthenticationServices {
  readonly sealer: Sealer;
}

/** A code that a person typed after the first factor. */
export interface CodeAttempt {
  /** As it was when the person was asked for the code. */
  readonly account: Account;
  /** As typed. */
  readonly code: string;
  readonly browser: BrowserMark;
  readonly origin: Origin;
  /** What was shown before the code, if it was not a first factor: it has a count of its own. */
  readonly link?: string;
  /** Where the account is taken back: the code is one of a factor that it had in this span. */
  readonly span?: Span;
}

/** Uses a code up, inside a unit of work. @returns when its factor was set up; undefined where it can no longer be used */
type SpendCode = () => Work<number | undefined>;

/**
 * Counts an attempt, then checks it. The attempt is counted before the code is compared, so that parallel guesses never get more
 * comparisons than the limit, and is given back when the code turns out to be right.
 * @param check finds how a code is used up; undefined where it is wrong
 */
export async function attemptCode(
  services: CodeServices,
  method: Method,
  attempt: CodeAttempt,
  now: number,
  check: () => Promise<SpendCode | undefined>,
): Promise<CheckedAttempt | AttemptsLimited> {
  const { database, limits } = services;
  const { account, origin } = attempt;
  const about = { origin, accountId: account.id };
  // Recovery codes do not change with time, so guesses at them add up. A link is good for days, and for the codes of earlier apps as well.
  const addsUp = method === 'recovery code' || attempt.link !== undefined;
  const { bucket, seconds } = await database.commit(function* count() {
    const bucket = yield* bucketOf(attempt);
    const seconds = yield* take(bucket, limits.totpAccount, now, { ...about, name: 'totpAccount' });
    if (seconds > 0 || !addsUp) return { bucket, seconds };
    const name = 'recoveryCodeAccount';
    return { bucket, seconds: yield* take(`recovery ${bucket}`, limits[name], now, { ...about, name }) };
  });
  if (seconds > 0) return { kind: 'limited', seconds };
  const spend = await check();
  function* complete(): Work<Authenticated | AuthenticationRefusal> {
    const current = yield* lockAccount({ id: account.id });
    const refusal = refusalOf(account, current, now);
    if (current === undefined || refusal !== undefined) {
      yield* recordWrongCode(account, method, 'the account has changed', origin, now);
      return refusal ?? { kind: 'wrong' };
    }
    const factorSince = spend === undefined ? undefined : yield* spend();
    if (factorSince === undefined) {
      yield* recordWrongCode(account, method, 'wrong code', origin, now);
      return { kind: 'wrong' };
    }
    yield* giveBack(bucket, limits.totpAccount);
    if (addsUp) yield* giveBack(`recovery ${bucket}`, limits.recoveryCodeAccount);
    return { kind: 'authenticated', account: current, method, factorSince };
  }
  return { kind: 'checked', complete };
}

/** What happened to the account since the person was asked. */
function refusalOf(asked: Account, current: Account | undefined, now: number): AuthenticationRefusal | undefined {
  if (current === undefined) return { kind: 'wrong' };
  const status = accountStatus(current, now);
  if (status !== 'active') return { kind: status, account: current };
  return current.generation === asked.generation ? undefined : { kind: 'changed' };
}

/**
 * A person who knows the password cannot use up the tries of a browser that signed in to the account before (PW-08), nor those of a link that
 * was sent by mail, which may be the owner's only way back in.
 */
function* bucketOf({ account, browser, link }: CodeAttempt): Work<string> {
  const known = yield* isKnownBrowser(account.id, browser);
  const bucket = link === undefined ? `code of ${account.id}` : `code of ${account.id} by ${link}`;
  return known ? `${bucket} ${browser.hash}` : bucket;
}

function recordWrongCode(account: Account, method: Method, reason: string, origin: Origin, at: number): Work<void> {
  const details = { reason, method };
  return record({ at, type: 'sign_in.failed', outcome: 'failure', origin, accountId: account.id, details });
}
