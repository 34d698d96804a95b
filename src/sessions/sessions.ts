import { type Account, takeAccountLock } from '../accounts/store.ts';
import type { AuthenticationContext } from '../authenticators/rules/authentication-context.ts';
import { type Clock, DAY, MINUTE } from '../platform/clock.ts';
import { digest, randomIdentifier, randomSecret } from '../platform/crypto/secrets.ts';
import type { Database, Work } from '../platform/database/database.ts';
import { Failure } from '../platform/failure.ts';
import type { Device } from '../platform/validation/origin.ts';
import { judgeSession } from '../verdict/rules.ts';
import type { Session } from './store.ts';
import * as store from './store.ts';

/** A session ends this long after the sign-in, in milliseconds, */
export const SESSION_LIFETIME = 30 * DAY;
/** and this long after its last use. */
export const IDLE_TIMEOUT = 14 * DAY;
/** The last use is recorded to this precision, so that not every request writes. */
const LAST_SEEN_PRECISION = 10 * MINUTE;
export const MAX_SESSIONS = 64;

export interface SessionServices {
  readonly database: Database;
  readonly clock: Clock;
}

/** Who sends a request with a browser's session, as of the moment when the session was judged. */
export type Visitor =
  | { readonly kind: 'anonymous' }
  | { readonly kind: 'banned' | 'suspended'; readonly account: Account }
  | {
      readonly kind: 'signed in';
      readonly account: Account;
      readonly session: Session;
      /** Whether the organization of the person requires a second factor. */
      readonly organizationRequires: boolean;
    };

export type SignedInVisitor = Extract<Visitor, { kind: 'signed in' }>;

const ANONYMOUS = { kind: 'anonymous' } as const;

/**
 * Reads and judges a session, inside a unit of work.
 * @param read {@link store.lockSession} where what the unit writes depends on the session
 */
export function* readVisitor(hash: string | undefined, now: number, read = store.findSession): Work<Visitor> {
  const found = hash === undefined ? undefined : yield* read({ hash });
  if (found === undefined || isExpired(found.session, now)) return ANONYMOUS;
  const { session, account, requiredBy } = found;
  const verdict = judgeSession(account, session.generation, now);
  if (verdict.kind === 'banned' || verdict.kind === 'suspended') return { kind: verdict.kind, account };
  if (verdict.kind !== 'live') return ANONYMOUS;
  return { kind: 'signed in', account, session, organizationRequires: requiredBy !== null };
}

export const isExpired = ({ expiresAt, lastSeenAt }: Session, now: number): boolean =>
  expiresAt <= now || lastSeenAt + IDLE_TIMEOUT <= now;

/** The visitor with this session secret. Using a session prolongs it. */
export async function findVisitor({ database, clock }: SessionServices, secret: string | undefined): Promise<Visitor> {
  if (secret === undefined) return ANONYMOUS;
  const now = clock();
  const visitor = await database.read(() => readVisitor(digest(secret), now));
  if (visitor.kind === 'signed in' && isUseDue(visitor.session, now)) {
    await database.commit(() => recordUse(visitor.session, now));
  }
  return visitor;
}

const isUseDue = (session: Session, now: number): boolean => session.lastSeenAt + LAST_SEEN_PRECISION <= now;

/** Records that a session was used, inside a unit of work. */
export function* recordUse(session: Session, now: number): Work<void> {
  if (isUseDue(session, now)) yield* store.updateLastSeen({ hash: session.hash, now });
}

/** The session in which something was to be done is no longer valid. */
export class SessionEnded extends Failure {
  constructor() {
    super('session ended', 'Your session has ended. Sign in, then try again.', { reason: 'session ended' });
  }
}

type SessionKey = Pick<Session, 'hash' | 'accountId'>;

/**
 * The database for what a person does in a session. A route decides on what it has read, and may wait meanwhile for a hash or a
 * picture. So every commit first checks, under the lock of the account, that the session is still valid: an act that ended it
 * meanwhile is never undone. Such a commit throws {@link SessionEnded} where the session is over.
 */
export const sessionDatabase = ({ database, clock }: SessionServices, session: SessionKey): Database => ({
  ...database,
  commit<T>(work: () => Work<T>): Promise<T> {
    const now = clock();
    return database.commit(() => inSession(session, now, work));
  },
});

function* inSession<T>({ hash, accountId }: SessionKey, now: number, work: () => Work<T>): Work<T> {
  yield* takeAccountLock({ id: accountId });
  const visitor = yield* readVisitor(hash, now, store.lockSession);
  if (visitor.kind !== 'signed in') throw new SessionEnded();
  return yield* work();
}

/** A session with the secret for its cookie. */
export interface NewSession {
  readonly secret: string;
  readonly session: Session;
}

/** What a session says of how it began. */
export type SessionStart = Device & AuthenticationContext & Pick<Session, 'authTime' | keyof SessionProof>;

/** What a session says of the last proof of who the person is. */
export type SessionProof = Pick<Session, 'provedAt' | 'provedBy' | 'provedFactorSince' | 'provedAfter'>;

/** Makes a session, always with a new secret: a cookie from before the sign-in never becomes a signed-in one. */
export function newSession(account: Account, now: number, start: SessionStart): NewSession {
  const secret = randomSecret();
  const { browser, system, network, amr, acr, authTime, provedAt, provedBy, provedFactorSince, provedAfter } = start;
  const session = {
    hash: digest(secret),
    sid: randomIdentifier(),
    accountId: account.id,
    generation: account.generation,
    authTime,
    lastSeenAt: now,
    // A session that is renewed without another sign-in ends when it would have.
    expiresAt: authTime + SESSION_LIFETIME,
    browser,
    system,
    network,
    amr,
    acr,
    provedAt,
    provedBy,
    provedFactorSince,
    provedAfter,
  };
  return { secret, session };
}
