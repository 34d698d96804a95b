import type { Account } from '../accounts/store.ts';
import { record } from '../audit/audit.ts';
import {
  type AuthenticationRefusal,
  type AuthenticationServices,
  authenticators,
} from '../authenticators/authenticators.ts';
import { rememberBrowser } from '../authenticators/known-browser-store.ts';
import type { PasswordAttempt } from '../authenticators/password.ts';
import { authenticationContext } from '../authenticators/rules/authentication-context.ts';
import { digest } from '../platform/crypto/secrets.ts';
import type { Work } from '../platform/database/database.ts';
import type { Origin } from '../platform/validation/origin.ts';
import { addressBucket } from '../platform/validation/origin.ts';
import { deviceOf } from '../sessions/rules/device.ts';
import { MAX_SESSIONS, type NewSession, newSession } from '../sessions/sessions.ts';
import { insertSession, removeOldestSessions, removeSession, type Session } from '../sessions/store.ts';
import { endRemovedSession } from './end-sessions.ts';

export interface SignInAttempt extends PasswordAttempt {
  /** The header of the browser. */
  readonly userAgent: string | undefined;
  /** The session that this browser had before, which ends with a new sign-in. */
  readonly previousSecret: string | undefined;
}

export type SignInResult =
  | { readonly kind: 'signed in'; readonly created: NewSession; readonly account: Account }
  | AuthenticationRefusal;

/**
 * Signs a person in: authenticates them, then starts a session, in one commit with the last checks of the authentication.
 * @param onSignedIn more work of the same commit, for the request that waits for this sign-in
 */
export async function signIn(
  services: AuthenticationServices,
  attempt: SignInAttempt,
  onSignedIn: (session: Session) => Work<void>,
): Promise<SignInResult> {
  const now = services.clock();
  const checked = await authenticators.password(services, attempt, now);
  if (checked.kind === 'limited') return checked;
  return services.database.commit(function* startSession(): Work<SignInResult> {
    const authentication = yield* checked.complete();
    if (authentication.kind !== 'authenticated') return authentication;
    const { account, amr } = authentication;
    const origin: Origin = { ...attempt.origin, actor: { type: 'user', id: account.id } };
    const { secret, session } = newSession(account, now, { ...deviceAt(attempt), ...authenticationContext(amr) });
    const created = { secret, session: yield* replaceSession(session, attempt.previousSecret, now, origin) };
    yield* rememberBrowser(account.id, attempt.browserHash, now);
    yield* onSignedIn(created.session);
    const details = { sid: created.session.sid };
    yield* record({ at: now, type: 'sign_in.succeeded', origin, accountId: account.id, details });
    return { kind: 'signed in', created, account };
  });
}

const deviceAt = ({ userAgent, origin }: SignInAttempt) =>
  deviceOf(userAgent, origin.address === null ? null : addressBucket(origin.address));

/**
 * Replaces the session that this browser had. A person who signs in again keeps the `sid`, since the apps know the session by
 * it and are notified by it when it ends. Another person's session ends, and so do the least recently used ones of this account
 * beyond {@link MAX_SESSIONS}.
 */
function* replaceSession(
  created: Session,
  previousSecret: string | undefined,
  now: number,
  origin: Origin,
): Work<Session> {
  const previous = previousSecret === undefined ? undefined : yield* removeSession({ hash: digest(previousSecret) });
  const same = previous?.accountId === created.accountId && previous.generation === created.generation;
  if (previous !== undefined && !same) yield* endRemovedSession(previous, now);
  const session = same ? { ...created, sid: previous.sid } : created;
  yield* endExcessSessions(created, now, origin);
  yield* insertSession(session);
  return session;
}

/** Ends sessions of an account, so that it may have one more. */
function* endExcessSessions({ accountId, generation }: Session, now: number, origin: Origin): Work<void> {
  for (const ended of yield* removeOldestSessions({ accountId, generation, kept: MAX_SESSIONS - 1 })) {
    // The apps of an earlier generation were notified when that ended.
    if (ended.generation !== generation) continue;
    const { sid } = ended;
    yield* endRemovedSession(ended, now);
    yield* record({ at: now, type: 'sign_out', origin, accountId, details: { sid, reason: 'too many sessions' } });
  }
}
