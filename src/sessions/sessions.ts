import { type Account, findAccount } from '../accounts/store.ts';
import { record } from '../audit/audit.ts';
import type { AuthenticationContext } from '../authenticators/rules/authentication-context.ts';
import { enqueueSessionNotices } from '../notices/enqueue.ts';
import { type Clock, DAY, iso, MINUTE } from '../platform/clock.ts';
import { digest, randomIdentifier, randomSecret } from '../platform/crypto/secrets.ts';
import type { Database, Work } from '../platform/database/database.ts';
import { Id, Instant, nullableField } from '../platform/http/operation.ts';
import type { Origin } from '../platform/http/origin.ts';
import * as Type from '../platform/validation/type.ts';
import { judgeSession } from '../verdict/rules.ts';
import type { Device } from './rules/device.ts';
import type { Session } from './store.ts';
import * as store from './store.ts';

/** A session lasts this long at the most, and this long without use. */
export const SESSION_LIFETIME = 30 * DAY;
/** An account has so many sessions at the most. */
const MOST_SESSIONS = 64;
const SESSION_IDLE = 14 * DAY;
/** Use is noted to so much, so that not every request writes. */
const USE_NOTED = 10 * MINUTE;

/** Who is signed in, by the verdict of this very moment. */
export type SignedIn =
  | { readonly kind: 'nobody' }
  | { readonly kind: 'banned' | 'suspended'; readonly account: Account }
  | { readonly kind: 'somebody'; readonly account: Account; readonly session: Session };

interface Parts {
  readonly database: Database;
  readonly clock: Clock;
}

/**
 * Reads a session and judges it, inside a unit of work.
 * @param read {@link store.keepSession} where what the unit writes rests on the session
 */
export function* judgedSession(hash: string | undefined, now: number, read = store.findSession): Work<SignedIn> {
  const session = hash === undefined ? undefined : yield* read(hash);
  if (session === undefined || isOver(session, now)) return { kind: 'nobody' };
  const account = yield* findAccount({ id: session.accountId });
  const verdict = judgeSession(account ?? null, session.generation, now);
  if (account === undefined) return { kind: 'nobody' };
  if (verdict.kind === 'banned' || verdict.kind === 'suspended') return { kind: verdict.kind, account };
  return verdict.kind === 'live' ? { kind: 'somebody', account, session } : { kind: 'nobody' };
}

/** Whether its time has passed. */
export const isOver = ({ expiresAt, lastSeenAt }: Session, now: number): boolean =>
  expiresAt <= now || lastSeenAt + SESSION_IDLE <= now;

/** Whether a text can be the public name of a session. */
export const isSid = (text: string): boolean => /^[A-Za-z0-9_-]{16,64}$/.test(text);

/** A session with the apps that hold tokens which they got there. */
export interface ListedSession extends Session {
  readonly apps: readonly store.SessionApp[];
}

/**
 * The sessions in which a person is signed in, the latest sign-in first.
 * @param part.except the name of one that is left out
 */
export async function sessionsOf(
  { database, clock }: Parts,
  { id: accountId, generation }: Pick<Account, 'id' | 'generation'>,
  part: { readonly skip: number; readonly limit: number; readonly except?: string } = { skip: 0, limit: MOST_SESSIONS },
): Promise<ListedSession[]> {
  const now = clock();
  const whose = { accountId, generation, now, idleSince: now - SESSION_IDLE, except: part.except ?? '' };
  return database.read(function* list(): Work<ListedSession[]> {
    const apps = yield* store.listSessionApps(whose);
    return (yield* store.listSessions(whose, part)).map((session) => ({
      ...session,
      apps: apps.get(session.sid) ?? [],
    }));
  });
}

/** A session as operators see it: the shape of {@link sessionView}. */
export const SessionRecord = Type.Object(
  {
    id: Type.String({ about: 'Its public name, which is `sid` in ID tokens.' }),
    browser: nullableField(Type.String(), 'Null where it did not say.'),
    system: nullableField(Type.String(), 'Null where it did not say.'),
    network: nullableField(
      Type.String(),
      'Where it signed in from, without the part that tells one home from the next.',
    ),
    apps: Type.Array(Type.Object({ clientId: Id, name: Type.String() }), {
      about: 'Those that hold tokens which they got in it.',
    }),
    signedInAt: Instant,
    lastUsedAt: Instant,
    endsAt: Instant,
  },
  { title: 'Session' },
);

export const sessionView = ({ sid, browser, system, network, apps, ...session }: ListedSession) => ({
  id: sid,
  browser,
  system,
  network,
  apps,
  signedInAt: iso(session.authTime),
  lastUsedAt: iso(session.lastSeenAt),
  endsAt: iso(session.expiresAt),
});

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

const isUseDue = (session: Session, now: number): boolean => session.lastSeenAt + USE_NOTED <= now;

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
export function newSession(account: Account, now: number, how: Device & AuthenticationContext): NewSession {
  const { browser, system, network, amr, acr } = how;
  const secret = randomSecret();
  const session = {
    hash: digest(secret),
    sid: randomIdentifier(),
    accountId: account.id,
    generation: account.generation,
    authTime: now,
    lastSeenAt: now,
    expiresAt: now + SESSION_LIFETIME,
    browser,
    system,
    network,
    amr,
    acr,
  };
  return { secret, session };
}

/**
 * Ends the session with this secret, on the server, and lets the apps know that were signed in to there. Harmless where there
 * is none.
 * @param clientId the app that asked for it, if one did
 */
export async function endSession(
  { database, clock }: Parts,
  secret: string,
  origin: Origin,
  clientId: string | null = null,
): Promise<void> {
  const now = clock();
  await database.commit(function* end() {
    const ended = yield* store.removeSession(digest(secret));
    if (ended === undefined) return;
    const { accountId, sid } = ended;
    yield* enqueueSessionNotices(accountId, sid, now);
    yield* record({ at: now, type: 'sign_out', origin, accountId, clientId, details: { sid } });
  });
}

/**
 * Puts a new session in the place of the one that this browser had. Who signs in again goes on with the public name of the
 * session: the apps know it by that, and are told by it when it ends. Another person's session ends here, and so do those of
 * this person that were not used for the longest, where there would be more than {@link MOST_SESSIONS}.
 */
export function* replaceSession(
  created: Session,
  previousSecret: string | undefined,
  now: number,
  origin: Origin,
): Work<Session> {
  const previous = previousSecret === undefined ? undefined : yield* store.removeSession(digest(previousSecret));
  const same = previous?.accountId === created.accountId && previous.generation === created.generation;
  if (previous !== undefined && !same) yield* enqueueSessionNotices(previous.accountId, previous.sid, now);
  const session = same ? { ...created, sid: previous.sid } : created;
  yield* makeRoom(created, now, origin);
  yield* store.insertSession(session);
  return session;
}

/** Ends sessions of an account as if their time had passed, so that it may have one more; apps that they signed in to are told. */
function* makeRoom({ accountId, generation }: Session, now: number, origin: Origin): Work<void> {
  for (const ended of yield* store.removeOldestSessions(accountId, generation, MOST_SESSIONS - 1)) {
    // Dead ones were told of when their generation ended.
    if (ended.generation !== generation) continue;
    const { sid } = ended;
    yield* enqueueSessionNotices(accountId, sid, now);
    yield* record({ at: now, type: 'sign_out', origin, accountId, details: { sid, reason: 'too many sessions' } });
  }
}
