import { type Account, findAccount } from '../accounts/store.ts';
import { type Clock, DAY, HOUR } from '../clock.ts';
import type { Database, Work } from '../database/database.ts';
import { type Origin, record } from '../events/audit.ts';
import { digest, randomIdentifier, randomSecret } from '../secrets.ts';
import { judgeSession } from '../verdict/rules.ts';
import type { Session } from './store.ts';
import * as store from './store.ts';

/** A session lasts this long at the most, and this long without use. */
export const SESSION_LIFETIME = 30 * DAY;
const SESSION_IDLE = 14 * DAY;

/** Who is signed in, by the verdict of this very moment. */
export type SignedIn =
  | { readonly kind: 'nobody' }
  | { readonly kind: 'banned' | 'suspended'; readonly account: Account }
  | { readonly kind: 'somebody'; readonly account: Account; readonly session: Session };

interface Parts {
  readonly database: Database;
  readonly clock: Clock;
}

/** Reads a session and judges it, inside a unit of work. */
export function* judgedSession(hash: string | undefined, now: number): Work<SignedIn> {
  const session = hash === undefined ? undefined : yield* store.findSession(hash);
  if (session === undefined || session.expiresAt <= now || session.lastSeenAt + SESSION_IDLE <= now) {
    return { kind: 'nobody' };
  }
  const account = yield* findAccount(session.accountId);
  const verdict = judgeSession(account ?? null, session.generation, now);
  if (account === undefined) return { kind: 'nobody' };
  if (verdict.kind === 'banned' || verdict.kind === 'suspended') return { kind: verdict.kind, account };
  return verdict.kind === 'live' ? { kind: 'somebody', account, session } : { kind: 'nobody' };
}

/** Who is signed in with a session's secret. */
export async function whoIs({ database, clock }: Parts, secret: string | undefined): Promise<SignedIn> {
  if (secret === undefined) return { kind: 'nobody' };
  const now = clock();
  const signedIn = await database.read(() => judgedSession(digest(secret), now));
  if (signedIn.kind === 'somebody' && isUseDue(signedIn.session, now)) {
    await database.commit(() => noteUse(signedIn.session, now));
  }
  return signedIn;
}

/** Idleness is counted to the hour, so that not every request writes. */
const isUseDue = (session: Session, now: number): boolean => session.lastSeenAt + HOUR <= now;

/** Notes that a session was used, inside a unit of work. */
export function* noteUse(session: Session, now: number): Work<void> {
  if (isUseDue(session, now)) yield* store.touchSession(session.hash, now);
}

/** A session about to be, and the secret for its cookie. */
export interface NewSession {
  readonly secret: string;
  readonly session: Session;
}

/** Always a new secret: one that was there before the sign-in never becomes signed in. */
export function newSession(account: Account, now: number): NewSession {
  const secret = randomSecret();
  const session = {
    hash: digest(secret),
    sid: randomIdentifier(),
    accountId: account.id,
    generation: account.generation,
    authTime: now,
    lastSeenAt: now,
    expiresAt: now + SESSION_LIFETIME,
  };
  return { secret, session };
}

/** Ends the session with this secret, on the server. Harmless where there is none. */
export async function endSession({ database, clock }: Parts, secret: string, origin: Origin): Promise<void> {
  await database.commit(function* end() {
    const ended = yield* store.removeSession(digest(secret));
    if (ended === undefined) return;
    yield* record({ at: clock(), type: 'sign_out', origin, accountId: ended.accountId, details: { sid: ended.sid } });
  });
}
