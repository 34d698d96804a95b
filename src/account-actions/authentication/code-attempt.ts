import { type BrowserMark, isKnownBrowser } from '../../accounts/known-browser-store.ts';
import { type Account, lockAccount } from '../../accounts/store.ts';
import { record } from '../../audit/audit.ts';
import type { Method } from '../../authenticators/rules/authentication-context.ts';
import type { Span } from '../../authenticators/rules/taking-back.ts';
import type { Sealer } from '../../keys/sealer.ts';
import { giveBack, ofAllAskers, take } from '../../limits/limits.ts';
import type { Limit } from '../../limits/settings.ts';
import type { Work } from '../../platform/database/database.ts';
import { addressBucket, type Origin } from '../../platform/validation/origin.ts';
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
  /** Whether a banned or suspended account may be acted on. */
  readonly isBarredToo?: boolean;
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
  const counted = await database.commit(function* count() {
    const { own, shared } = yield* bucketsOf(attempt, method);
    const all: (readonly [bucket: string, name: 'totpAccount' | 'recoveryCodeAccount', limit: Limit])[] = [
      [own, 'totpAccount', limits.totpAccount],
      ...(addsUp ? [[`recovery ${own}`, 'recoveryCodeAccount', limits.recoveryCodeAccount] as const] : []),
      ...(shared !== undefined
        ? [[shared, 'recoveryCodeAccount', ofAllAskers(limits.recoveryCodeAccount)] as const]
        : []),
    ];
    for (const [bucket, name, limit] of all) {
      const seconds = yield* take(bucket, limit, now, { ...about, name });
      if (seconds > 0) return { all, seconds };
    }
    return { all, seconds: 0 };
  });
  if (counted.seconds > 0) return { kind: 'limited', seconds: counted.seconds };
  const spend = await check();
  function* complete(): Work<Authenticated | AuthenticationRefusal> {
    const current = yield* lockAccount({ id: account.id });
    const refusal = refusalOf(attempt, current, now);
    if (current === undefined || refusal !== undefined) {
      yield* recordWrongCode(account, method, 'the account has changed', origin, now);
      return refusal ?? { kind: 'wrong' };
    }
    const factorSince = spend === undefined ? undefined : yield* spend();
    if (factorSince === undefined) {
      yield* recordWrongCode(account, method, 'wrong code', origin, now);
      return { kind: 'wrong' };
    }
    for (const [bucket, , limit] of counted.all) yield* giveBack(bucket, limit);
    return { kind: 'authenticated', account: current, method, factorSince };
  }
  return { kind: 'checked', complete };
}

/** What happened to the account since the person was asked. */
function refusalOf(
  { account: asked, isBarredToo = false }: CodeAttempt,
  current: Account | undefined,
  now: number,
): AuthenticationRefusal | undefined {
  if (current === undefined) return { kind: 'wrong' };
  const status = accountStatus(current, now);
  if (status !== 'active' && !isBarredToo) return { kind: status, account: current };
  return current.generation === asked.generation ? undefined : { kind: 'changed' };
}

/**
 * A person who knows the password cannot use up the tries of a browser that signed in to the account before (PW-08), nor those of a link that
 * was sent by mail, which may be the owner's only way back in. Nor can another reader of that mail, elsewhere: at a link, each IP address has
 * tries of its own. Codes of an app, which are short, are limited for all of them together besides; recovery codes cannot be guessed.
 */
function* bucketsOf(
  { account, browser, link, origin }: CodeAttempt,
  method: Method,
): Work<{ readonly own: string; readonly shared?: string }> {
  const isKnown = yield* isKnownBrowser(account.id, browser);
  const bucket = link === undefined ? `code of ${account.id}` : `code of ${account.id} by ${link}`;
  if (isKnown) return { own: `${bucket} ${browser.hash}` };
  if (link === undefined) return { own: bucket };
  const own = `${bucket} from ${addressBucket(origin.address)}`;
  return method === 'recovery code' ? { own } : { own, shared: `all ${bucket}` };
}

function recordWrongCode(account: Account, method: Method, reason: string, origin: Origin, at: number): Work<void> {
  const details = { reason, method };
  return record({ at, type: 'sign_in.failed', outcome: 'failure', origin, accountId: account.id, details });
}
