import { takeAccountLock } from '../accounts/store.ts';
import type { Clock } from '../platform/clock.ts';
import type { Database, Work } from '../platform/database/database.ts';
import { OAuthError } from '../platform/oauth-error.ts';
import { judgedSession } from './sessions.ts';
import { keepSession, type Session } from './store.ts';

/** The session behind a page of the account, or behind what was to be done there, is good no longer. */
export class SessionEnded extends OAuthError {
  constructor() {
    super(403, 'access_denied', 'Your session has ended. Sign in, then try again.', {}, 'session ended');
  }
}

/**
 * The database for what a person does in a session. A page decides on what it has read, and may wait meanwhile, for a hash or a
 * picture; so every unit of work that writes proves first, under the lock of the account, that the session is still good.
 * An act that ended it, and has returned, is never undone by what was under way.
 */
export const whileSignedIn = (
  { database, clock }: { readonly database: Database; readonly clock: Clock },
  session: Pick<Session, 'hash' | 'accountId'>,
): Database => ({
  ...database,
  commit<T>(work: () => Work<T>): Promise<T> {
    const now = clock();
    return database.commit(function* act(): Work<T> {
      yield* requireSession(session, now);
      return yield* work();
    });
  },
});

/** @throws {SessionEnded} where the session has ended, or its account is banned, suspended, secured anew or gone */
function* requireSession({ hash, accountId }: Pick<Session, 'hash' | 'accountId'>, now: number): Work<void> {
  yield* takeAccountLock({ id: accountId });
  const signedIn = yield* judgedSession(hash, now, keepSession);
  if (signedIn.kind !== 'somebody') throw new SessionEnded();
}
