import { type Account, findByIdentifier, lockAccount, saveAccount } from '../accounts/store.ts';
import { record } from '../audit/audit.ts';
import { giveBack, take } from '../limits/limits.ts';
import type { Limits } from '../platform/config/limits.ts';
import type { PasswordCheck, Passwords } from '../platform/crypto/passwords.ts';
import { digest } from '../platform/crypto/secrets.ts';
import type { Work } from '../platform/database/database.ts';
import { OAuthError } from '../platform/oauth-error.ts';
import { addressFlows, type Origin } from '../platform/validation/origin.ts';
import { accountStatus } from '../verdict/rules.ts';
import type {
  AttemptsLimited,
  Authenticated,
  AuthenticationRefusal,
  AuthenticationServices,
  CheckedAttempt,
} from './authenticators.ts';
import { isKnownBrowser } from './known-browser-store.ts';
import { signInBucket } from './rules/sign-in-bucket.ts';

export interface PasswordAttempt {
  /** A user name or an email address, as typed. */
  readonly identifier: string;
  /** Exactly as typed. */
  readonly password: string;
  readonly browserHash: string;
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
  const result = await checkCounted(services, account, attempt, now);
  if (result.kind === 'limited') return result;
  const { check, buckets, flows } = result;
  const rehashed = check === 'right, hash outdated' ? await rehash(passwords, password, flows) : undefined;
  const checked = { account, check, rehashed, buckets };
  return { kind: 'checked', complete: () => complete(checked, limits, origin, now) };
}

interface CheckedPassword {
  readonly account: Account | undefined;
  readonly check: PasswordCheck;
  readonly rehashed: string | undefined;
  readonly buckets: Buckets;
}

function* complete(
  { account, check, rehashed, buckets }: CheckedPassword,
  limits: Limits,
  origin: Origin,
  now: number,
): Work<Authenticated | AuthenticationRefusal> {
  const right = check !== 'wrong' && account !== undefined;
  const current = right ? yield* lockAccount({ id: account.id }) : undefined;
  // Since the check the password may have been changed, and the account deleted, banned or suspended.
  if (current === undefined || current.passwordHash !== account?.passwordHash) {
    const reason = check === 'wrong' ? 'unknown name or wrong password' : 'the account has changed';
    yield* recordFailure(account, reason, origin, now);
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
  yield* uncount(buckets, limits);
  if (rehashed !== undefined) yield* saveAccount({ ...current, passwordHash: rehashed });
  return { kind: 'authenticated', account: current, method: 'password' };
}

/**
 * Checks the password of a signed-in person once more, under the limits of a sign-in.
 * @returns undefined where it is right
 */
export async function confirmPassword(
  services: AuthenticationServices,
  account: Account,
  { password, browserHash, origin }: Omit<PasswordAttempt, 'identifier'>,
): Promise<AttemptsLimited | { readonly kind: 'wrong' } | undefined> {
  const { database, clock, limits } = services;
  const now = clock();
  const attempt = { identifier: account.profile.username, password, browserHash, origin };
  const result = await checkCounted(services, account, attempt, now);
  if (result.kind === 'limited') return result;
  const right = result.check !== 'wrong';
  await database.commit(() =>
    right ? uncount(result.buckets, limits) : recordFailure(account, 'wrong current password', origin, now),
  );
  return right ? undefined : { kind: 'wrong' };
}

interface CountedCheck {
  readonly kind: 'checked';
  readonly check: PasswordCheck;
  readonly buckets: Buckets;
  /** The flows of the attempt in the queue of hashes: see `BoundedPool.run`. */
  readonly flows: readonly string[];
}

/** Counts an attempt, then checks the password unless there were too many. */
async function checkCounted(
  { database, passwords, limits }: AuthenticationServices,
  account: Account | undefined,
  attempt: PasswordAttempt,
  now: number,
): Promise<CountedCheck | AttemptsLimited> {
  const { password, origin } = attempt;
  const buckets = await database.read(() => bucketsOf(account, attempt));
  const about = { origin, accountId: account?.id ?? null };
  const seconds = await database.commit(() => count(buckets, limits, now, about));
  if (seconds > 0) return { kind: 'limited', seconds };
  const flows = [...addressFlows(origin), buckets.account];
  try {
    const check = await passwords.check(password, account?.passwordHash ?? null, flows);
    return { kind: 'checked', check, buckets, flows };
  } catch (error) {
    // The queue of hashes is full: the attempt was not evaluated, so it does not count.
    await database.commit(() => uncount(buckets, limits));
    throw error;
  }
}

/** A stronger hash of a right password; undefined where the queue is full, and the next sign-in makes it. */
async function rehash(passwords: Passwords, password: string, flows: readonly string[]): Promise<string | undefined> {
  try {
    return await passwords.hash(password, flows);
  } catch (error) {
    if (error instanceof OAuthError) return undefined;
    throw error;
  }
}

function recordFailure(account: Account | undefined, reason: string, origin: Origin, now: number): Work<void> {
  const accountId = account?.id ?? null;
  return record({ at: now, type: 'sign_in.failed', outcome: 'failure', origin, accountId, details: { reason } });
}

/** The rate limit buckets of an attempt. */
interface Buckets {
  readonly account: string;
  readonly address: string;
}

/** A browser that signed in to the account before has its own count, so that a stranger cannot lock the owner out. */
function* bucketsOf(account: Account | undefined, { identifier, browserHash, origin }: PasswordAttempt): Work<Buckets> {
  const known = account !== undefined && (yield* isKnownBrowser(account.id, browserHash));
  // One count for all spellings of an account's name. Unknown names are counted like accounts, but not stored as typed.
  const who = account?.id ?? `name ${digest(identifier.toLowerCase())}`;
  return {
    account: known ? `sign-in ${who} ${browserHash}` : `sign-in ${who}`,
    address: signInBucket(origin),
  };
}

/** The address first: one that has used up its attempts must not use up those of accounts. */
function* count(
  buckets: Buckets,
  limits: Limits,
  now: number,
  about: { readonly origin: Origin; readonly accountId: string | null },
): Work<number> {
  return (
    (yield* take(buckets.address, limits.signInAddress, now, { name: 'signInAddress', ...about })) ||
    (yield* take(buckets.account, limits.signInAccount, now, { name: 'signInAccount', ...about }))
  );
}

/** In the order of {@link count}, so that no two units of work wait for each other's locks. */
function* uncount(buckets: Buckets, limits: Limits): Work<void> {
  yield* giveBack(buckets.address, limits.signInAddress);
  yield* giveBack(buckets.account, limits.signInAccount);
}
