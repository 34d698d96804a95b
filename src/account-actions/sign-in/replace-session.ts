import { record } from '../../audit/audit.ts';
import { digest } from '../../platform/crypto/secrets.ts';
import type { Work } from '../../platform/database/database.ts';
import type { Origin } from '../../platform/validation/origin.ts';
import { MAX_SESSIONS } from '../../sessions/sessions.ts';
import { insertSession, removeOldestSessions, removeSession, type Session } from '../../sessions/store.ts';
import { endRemovedSession } from './end-sessions.ts';

/**
 * Replaces the session that this browser had. A person who signs in again keeps the `sid`, since the apps know the session by
 * it and are notified by it when it ends. Another person's session ends, and so do the least recently used ones of this account
 * beyond {@link MAX_SESSIONS}.
 */
export function* replaceSession(
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
