import { accountStatus } from '../accounts/rules/standing.ts';
import { type Account, findByIdentifier, lockAccount, saveAccount } from '../accounts/store.ts';
import { record } from '../audit/audit.ts';
import { authenticationContext } from '../authenticators/rules/authentication-context.ts';
import { giveBack, take } from '../limits/limits.ts';
import type { Clock } from '../platform/clock.ts';
import type { Limits } from '../platform/config/limits.ts';
import type { Passwords } from '../platform/crypto/passwords.ts';
import { digest } from '../platform/crypto/secrets.ts';
import type { Database, Work } from '../platform/database/database.ts';
import { addressSharers, type Origin } from '../platform/http/origin.ts';
import { OAuthError } from '../platform/oauth-error.ts';
import { addressBucket } from '../platform/validation/ip-address.ts';
import { deviceOf } from './rules/device.ts';
import { type NewSession, newSession, replaceSession } from './sessions.ts';
import { isKnownBrowser, rememberBrowser } from './store.ts';

export interface SignInParts {
  readonly database: Database;
  readonly clock: Clock;
  readonly passwords: Passwords;
  readonly limits: Limits;
}

export interface SignInAttempt {
  /** A user name or an email address, as typed. */
  readonly identifier: string;
  /** Exactly as typed. */
  readonly password: string;
  readonly browserHash: string;
  /** What the browser says that it is. */
  readonly userAgent: string | undefined;
  /** The session that this browser had before: it ends with a new sign-in. */
  readonly previousSecret: string | undefined;
  readonly origin: Origin;
}

export type SignInOutcome =
  | { readonly kind: 'signed in'; readonly created: NewSession; readonly account: Account }
  /** Unknown name or wrong password: not told apart. */
  | { readonly kind: 'wrong' }
  /** Told only after the right password. */
  | { readonly kind: 'banned' | 'suspended'; readonly account: Account }
  /** The right password, but the account was secured while it was checked: AC-08. */
  | { readonly kind: 'changed' }
  | { readonly kind: 'limited'; readonly seconds: number };

/**
 * Signs a person in by password. The attempt is counted before the password is hashed, so parallel guesses never get
 * more hashes than the limit, and given back when it turns out to be right and a session begins.
 * @param onSignedIn more work of the same commit, for what waits for this sign-in
 */
export async function signIn(
  parts: SignInParts,
  attempt: SignInAttempt,
  onSignedIn: (session: NewSession['session']) => Work<void>,
): Promise<SignInOutcome> {
  const { database, clock, passwords, limits } = parts;
  const { identifier, password, browserHash, origin } = attempt;
  const now = clock();
  // No name and no address has a NUL, and not every database can be asked about one.
  const account = identifier.includes('\0') ? undefined : await database.read(() => findByIdentifier(identifier));
  const buckets = await database.read(() => bucketsOf(account, attempt));
  const wait = await database.commit(() => count(buckets, limits, now, { origin, accountId: account?.id ?? null }));
  if (wait > 0) return { kind: 'limited', seconds: wait };

  const sharers = [...addressSharers(origin), buckets.account];
  const check = await passwords
    .check(password, account?.passwordHash ?? null, sharers)
    .catch(async (error: unknown) => {
      // Too many hashes wait: the attempt was not evaluated, so it does not count.
      await database.commit(() => uncount(buckets, limits));
      throw error;
    });
  const failed = (reason: string): Work<void> =>
    record({
      at: now,
      type: 'sign_in.failed',
      outcome: 'failure',
      origin,
      accountId: account?.id ?? null,
      details: { reason },
    });
  const rehashed = check === 'right, hash outdated' ? await rehash(passwords, password, sharers) : undefined;
  return database.commit(function* finish(): Work<SignInOutcome> {
    const right = check !== 'wrong' && account !== undefined;
    const current = right ? yield* lockAccount({ id: account.id }) : undefined;
    // Between the check and now the password may have been changed, and the account deleted, banned or suspended.
    if (current === undefined || current.passwordHash !== account?.passwordHash) {
      yield* failed(check === 'wrong' ? 'unknown name or wrong password' : 'the account has changed');
      return { kind: 'wrong' };
    }
    const status = accountStatus(current, now);
    // Counted like a wrong password: it costs the same, and is recorded each time.
    if (status !== 'active') {
      yield* failed(status);
      return { kind: status, account: current };
    }
    if (current.generation !== account.generation) {
      yield* failed('the account has changed');
      return { kind: 'changed' };
    }
    yield* uncount(buckets, limits);
    if (rehashed !== undefined) yield* saveAccount({ ...current, passwordHash: rehashed });
    const { secret, session } = newSession(current, now, { ...deviceAt(attempt), ...authenticationContext(['pwd']) });
    const own: Origin = { ...origin, actor: { type: 'user', id: current.id } };
    const created = { secret, session: yield* replaceSession(session, attempt.previousSecret, now, own) };
    yield* rememberBrowser(current.id, browserHash, now);
    yield* onSignedIn(created.session);
    const details = { sid: created.session.sid };
    yield* record({ at: now, type: 'sign_in.succeeded', origin: own, accountId: current.id, details });
    return { kind: 'signed in', created, account: current };
  });
}

/** A stronger hash of a right password; where the queue is full, the next sign-in makes it. */
async function rehash(passwords: Passwords, password: string, sharers: readonly string[]): Promise<string | undefined> {
  try {
    return await passwords.hash(password, sharers);
  } catch (error) {
    if (error instanceof OAuthError) return undefined;
    throw error;
  }
}

const deviceAt = ({ userAgent, origin }: SignInAttempt) =>
  deviceOf(userAgent, origin.address === null ? null : addressBucket(origin.address));

/** Whom guesses are for, and where they come from. */
interface Whose {
  readonly origin: Origin;
  readonly accountId: string | null;
}

interface Buckets {
  readonly account: string;
  readonly address: string;
}

/** A browser that signed in to the account before has a count of its own, so that no stranger can lock its owner out. */
function* bucketsOf(account: Account | undefined, { identifier, browserHash, origin }: SignInAttempt): Work<Buckets> {
  const known = account !== undefined && (yield* isKnownBrowser(account.id, browserHash));
  // One count for all spellings of one account; unknown names are counted like accounts, but not kept as typed.
  const who = account?.id ?? `name ${digest(identifier.toLowerCase())}`;
  return {
    account: known ? `sign-in ${who} ${browserHash}` : `sign-in ${who}`,
    address: `sign-in from ${addressBucket(origin.address ?? '')}`,
  };
}

/** The address first: one that has used up its attempts must not use up those of accounts. */
function* count(buckets: Buckets, limits: Limits, now: number, whose: Whose): Work<number> {
  return (
    (yield* take(buckets.address, limits.signInAddress, now, { name: 'signInAddress', ...whose })) ||
    (yield* take(buckets.account, limits.signInAccount, now, { name: 'signInAccount', ...whose }))
  );
}

/** In the order in which they were counted, so that no two units each hold what the other waits for. */
function* uncount(buckets: Buckets, limits: Limits): Work<void> {
  yield* giveBack(buckets.address, limits.signInAddress);
  yield* giveBack(buckets.account, limits.signInAccount);
}

/**
 * Checks the password of a person who is signed in once more, under the limits of a sign-in.
 * @returns the seconds to wait where there were too many attempts
 */
export async function confirmPassword(
  { database, clock, passwords, limits }: SignInParts,
  account: Account,
  attempt: Omit<SignInAttempt, 'identifier' | 'previousSecret' | 'userAgent'>,
): Promise<'right' | 'wrong' | { readonly seconds: number }> {
  const now = clock();
  const whole = { ...attempt, identifier: account.profile.username, previousSecret: undefined, userAgent: undefined };
  const buckets = await database.read(() => bucketsOf(account, whole));
  const seconds = await database.commit(() =>
    count(buckets, limits, now, { origin: attempt.origin, accountId: account.id }),
  );
  if (seconds > 0) return { seconds };
  const sharers = [...addressSharers(attempt.origin), buckets.account];
  const check = await passwords.check(attempt.password, account.passwordHash, sharers).catch(async (error: unknown) => {
    await database.commit(() => uncount(buckets, limits));
    throw error;
  });
  await database.commit(function* finish(): Work<void> {
    if (check !== 'wrong') return yield* uncount(buckets, limits);
    const details = { reason: 'wrong current password' };
    const { origin } = attempt;
    yield* record({ at: now, type: 'sign_in.failed', origin, outcome: 'failure', accountId: account.id, details });
  });
  return check === 'wrong' ? 'wrong' : 'right';
}
