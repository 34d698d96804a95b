import { type BrowserMark, isKnownBrowser } from '../../accounts/known-browser-store.ts';
import { identifierKey } from '../../accounts/rules/profile.ts';
import { type Account, findByIdentifier, lockAccount, saveAccount } from '../../accounts/store.ts';
import { record } from '../../audit/audit.ts';
import { SIGN_IN_FROM } from '../../authenticators/rules/sign-in-bucket.ts';
import { giveBack, giveBackFrom, take, takeFrom } from '../../limits/limits.ts';
import type { Limits } from '../../limits/settings.ts';
import type { PasswordCheck, Passwords } from '../../platform/crypto/passwords.ts';
import { digest } from '../../platform/crypto/secrets.ts';
import type { Work } from '../../platform/database/database.ts';
import { Failure } from '../../platform/failure.ts';
import { addressFlows, type Origin } from '../../platform/validation/origin.ts';
import { accountStatus } from '../../verdict/rules.ts';
import type {
  AttemptsLimited,
  Authenticated,
  AuthenticationRefusal,
  AuthenticationServices,
  CheckedAttempt,
} from './authenticators.ts';

export interface PasswordAttempt {
  /** A user name or an email address, as typed. */
  readonly identifier: string;
  /** Exactly as typed. */
  readonly password: string;
  readonly browser: BrowserMark;
  readonly origin: Origin;
}

/**
 * Authenticates a person by password. The attempt is counted before the password is hashed, so that parallel guesses never get
 * more hashes than the limit, and is given back when it turns out to be right.
 */
export async function authenticateByPassword(
  services: AuthenticationServices,
  attempt: PasswordAttempt,
  now: number,
): Promise<CheckedAttempt | AttemptsLimited> {
  const { database, passwords, limits } = services;
  const { identifier, password, origin } = attempt;
  // No name or address contains a NUL, and PostgreSQL rejects one in a parameter.
  const account = identifier.includes('\0') ? undefined : await database.read(() => findByIdentifier(identifier));
  const buckets = await database.read(() => bucketsOf(account, attempt));
  const counted = await database.commit(() => count(buckets, limits, now, { origin, accountId: account?.id ?? null }));
  if (counted.kind === 'limited') return counted;
  const result = await checkCounted(services, counted, account, attempt, buckets.account);
  const { check, flows } = result;
  const rehashed = check === 'right, hash outdated' ? await rehash(passwords, password, flows) : undefined;
  const checked = { account, check, rehashed, counted };
  return { kind: 'checked', complete: () => complete(checked, limits, origin, now) };
}

interface CheckedPassword {
  readonly account: Account | undefined;
  readonly check: PasswordCheck;
  readonly rehashed: string | undefined;
  readonly counted: CountedAttempt;
}

function* complete(
  { account, check, rehashed, counted }: CheckedPassword,
  limits: Limits,
  origin: Origin,
  now: number,
): Work<Authenticated | AuthenticationRefusal> {
  const right = check !== 'wrong' && account !== undefined;
  const current = right ? yield* lockAccount({ id: account.id }) : undefined;
  // Since the check the password may have been changed, and the account deleted, banned or suspended.
  if (current === undefined || current.passwordHash !== account?.passwordHash) {
    const wrong = counted.isOverAccount ? 'too many attempts for the account' : 'unknown name or wrong password';
    yield* recordFailure(account, check === 'wrong' ? wrong : 'the account has changed', origin, now);
    return { kind: 'wrong' };
  }
  const status = accountStatus(current, now);
  // Counted like a wrong password: it costs the same, and is recorded each time.
  if (status !== 'active') {
    yield* recordFailure(account, status, origin, now);
    return { kind: status, account: current };
  }
  if (current.generation !== account.generation) {
    yield* recordFailure(account, 'the account has changed', origin, now);
    return { kind: 'changed' };
  }
  yield* uncount(counted, limits);
  if (rehashed !== undefined) yield* saveAccount({ ...current, passwordHash: rehashed });
  return { kind: 'authenticated', account: current, method: 'password', factorSince: current.passwordSetAt ?? 0 };
}

/**
 * Checks the password of a signed-in person once more, under the limits of a sign-in.
 * @returns undefined where it is right
 */
export async function confirmPassword(
  services: AuthenticationServices,
  account: Account,
  { password, browser, origin }: Omit<PasswordAttempt, 'identifier'>,
): Promise<AttemptsLimited | { readonly kind: 'wrong' } | undefined> {
  const { database, clock, limits } = services;
  const now = clock();
  const attempt = { identifier: account.profile.username, password, browser, origin };
  const buckets = await database.read(() => bucketsOf(account, attempt));
  const counted = await database.commit(() => countOwn(buckets, limits, now, { origin, accountId: account.id }));
  if (counted.kind === 'limited') return counted;
  const { check } = await checkCounted(services, counted, account, attempt, buckets.account);
  const right = check !== 'wrong';
  await database.commit(() =>
    right ? uncount(counted, limits) : recordFailure(account, 'wrong current password', origin, now),
  );
  return right ? undefined : { kind: 'wrong' };
}

interface CountedCheck {
  readonly check: PasswordCheck;
  /** The flows of the attempt in the queue of hashes: see `BoundedPool.run`. */
  readonly flows: readonly string[];
}

/** Checks the password of an attempt that was counted. Beyond the limit of the account, it takes the time and is wrong whatever it is. */
async function checkCounted(
  { database, passwords, limits }: AuthenticationServices,
  counted: CountedAttempt,
  account: Account | undefined,
  { password, origin }: Pick<PasswordAttempt, 'password' | 'origin'>,
  flow: string,
): Promise<CountedCheck> {
  const flows = [...addressFlows(origin), flow];
  const stored = counted.isOverAccount ? null : (account?.passwordHash ?? null);
  try {
    return { check: await passwords.check(password, stored, flows), flows };
  } catch (error) {
    // The queue of hashes is full: the attempt was not evaluated, so it does not count.
    await database.commit(() => uncount(counted, limits));
    throw error;
  }
}

/** A stronger hash of a right password; undefined where the queue is full, and the next sign-in makes it. */
async function rehash(passwords: Passwords, password: string, flows: readonly string[]): Promise<string | undefined> {
  try {
    return await passwords.hash(password, flows);
  } catch (error) {
    if (error instanceof Failure) return undefined;
    throw error;
  }
}

function recordFailure(account: Account | undefined, reason: string, origin: Origin, now: number): Work<void> {
  const accountId = account?.id ?? null;
  return record({ at: now, type: 'sign_in.failed', outcome: 'failure', origin, accountId, details: { reason } });
}

/** The rate limit buckets of an attempt. */
interface Buckets {
  /** Of the name as it was typed. */
  readonly identifier: string;
  /** Of the account, by whichever of its names it was typed. */
  readonly account: string;
}

/** A browser that signed in to the account before has its own count, so that a stranger cannot lock the owner out. */
function* bucketsOf(account: Account | undefined, { identifier, browser }: PasswordAttempt): Work<Buckets> {
  const known = account !== undefined && (yield* isKnownBrowser(account.id, browser));
  // Names are not stored as typed. Unknown ones are counted like accounts.
  const name = digest(identifierKey(identifier));
  const own = known ? ` ${browser.hash}` : '';
  return {
    identifier: identifierBucket(name, own),
    account: accountBucket(account?.id ?? `name ${name}`, own),
  };
}

const identifierBucket = (name: string, own: string): string => `sign-in as ${name}${own}`;
const accountBucket = (holder: string, own: string): string => `sign-in ${holder}${own}`;

/** The buckets of an account by one of its names, in any browser. */
export const passwordBuckets = (accountId: string, name: string, browsers: readonly string[]): readonly string[] =>
  ['', ...browsers.map((hash) => ` ${hash}`)].flatMap((own) => [
    identifierBucket(name, own),
    accountBucket(accountId, own),
  ]);

/** An attempt that may be made, with the buckets that count it. */
interface CountedAttempt {
  readonly kind: 'counted';
  readonly origin: Origin;
  readonly buckets: Partial<Buckets>;
  /** Whether the account has had too many, by any of its names. */
  readonly isOverAccount: boolean;
}

interface CountedSubject {
  readonly origin: Origin;
  readonly accountId: string | null;
}

/**
 * Counts an attempt to sign in. The address first: one that has used up its attempts must not use up those of accounts. Too many for a
 * name are told, whether or not an account has it. Too many for an account are not: that attempts by a username use up those by an
 * address would tell that they are one account's. Such an attempt is answered like a wrong password.
 */
function* count(
  { identifier, account }: Buckets,
  limits: Limits,
  now: number,
  about: CountedSubject,
): Work<CountedAttempt | AttemptsLimited> {
  const seconds =
    (yield* takeFrom(SIGN_IN_FROM, limits.signInAddress, now, { name: 'signInAddress', ...about })) ||
    (yield* take(identifier, limits.signInAccount, now, { name: 'signInAccount', ...about }));
  if (seconds > 0) return { kind: 'limited', seconds };
  const isOverAccount = (yield* take(account, limits.signInAccount, now, { name: 'signInAccount', ...about })) > 0;
  const buckets = { identifier, ...(!isOverAccount && { account }) };
  return { kind: 'counted', origin: about.origin, buckets, isOverAccount };
}

/** Counts an attempt of a person who is signed in to the account, who may be told. */
function* countOwn(
  { account }: Buckets,
  limits: Limits,
  now: number,
  about: CountedSubject,
): Work<CountedAttempt | AttemptsLimited> {
  const seconds =
    (yield* takeFrom(SIGN_IN_FROM, limits.signInAddress, now, { name: 'signInAddress', ...about })) ||
    (yield* take(account, limits.signInAccount, now, { name: 'signInAccount', ...about }));
  return seconds > 0
    ? { kind: 'limited', seconds }
    : { kind: 'counted', origin: about.origin, buckets: { account }, isOverAccount: false };
}

/** In the order of {@link count}, so that no two units of work wait for each other's locks. */
function* uncount({ origin, buckets: { identifier, account } }: CountedAttempt, limits: Limits): Work<void> {
  yield* giveBackFrom(SIGN_IN_FROM, limits.signInAddress, origin);
  if (identifier !== undefined) yield* giveBack(identifier, limits.signInAccount);
  if (account !== undefined) yield* giveBack(account, limits.signInAccount);
}
