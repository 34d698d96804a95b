import { type Account, takeAccountLock } from '../../accounts/store.ts';
import { record } from '../../audit/audit.ts';
import { enqueueOtherSessionNotices, enqueueSessionNotices } from '../../credentials/logout-notices.ts';
import {
  dropCodes,
  dropCodesBoundTo,
  readFamilyStates,
  revokeFamiliesBoundTo,
  revokeFamiliesOf,
} from '../../credentials/revocation-store.ts';
import type { Clock } from '../../platform/clock.ts';
import { digest } from '../../platform/crypto/secrets.ts';
import type { Database, Work } from '../../platform/database/database.ts';
import type { Origin } from '../../platform/validation/origin.ts';
import { isExpired } from '../../sessions/sessions.ts';
import { removeSession, removeSessions, type Session, type SessionSelector } from '../../sessions/store.ts';
import { type CredentialState, type RevocationSummary, summarizeRevocation } from '../../verdict/rules.ts';

interface Parts {
  readonly database: Database;
  readonly clock: Clock;
}

/** The account whose sessions are ended. */
interface Owner {
  readonly id: string;
  readonly generation: string;
}

/** Sessions that were ended from another browser or by an operator, and what that revoked. */
export interface EndedSessions extends RevocationSummary {
  readonly at: number;
  /** Those that were valid until then. */
  readonly sessions: readonly Session[];
}

/**
 * Ends sessions from another browser, or as an operator. The browser itself may be in foreign hands, so the codes and tokens
 * that apps got in those sessions are revoked too, and the apps are notified. When this returns, no node accepts any of them;
 * the summary is computed from what the database says afterwards.
 */
export async function endSessions(
  { database, clock }: Parts,
  owner: Owner,
  which: SessionSelector,
  origin: Origin,
): Promise<EndedSessions> {
  const at = clock();
  const accountId = owner.id;
  const sessions = await database.commit(function* end(): Work<readonly Session[]> {
    // A new sign-in in that browser keeps the `sid`: with the lock it comes either before this, or after it with a new `sid`.
    yield* takeAccountLock({ id: accountId });
    // In this order: a unit that waits for the session's row may issue a code, and one that waits for the code a family.
    const ended = yield* removeSessions(accountId, which);
    if ('sid' in which && ended.length === 0) return [];
    yield* dropCodes({ accountId, ...which });
    if ('sid' in which) yield* enqueueSessionNotices(accountId, which.sid, at);
    else yield* enqueueOtherSessionNotices(accountId, which.except, at);
    yield* revokeFamiliesOf({ accountId, ...which }, at);
    const alive = ended.filter((session) => session.generation === owner.generation && !isExpired(session, at));
    yield* record({ at, type: 'session.ended', origin, accountId, details: { ...which, sessions: alive.length } });
    return alive;
  });
  const found = await database.read(() => readFamilyStates({ accountId, ...which }));
  return { at, sessions, ...summarizeRevocation(found, (state) => beforeRevocation(state, at), clock()) };
}

/** The state before a revocation at this instant. */
const beforeRevocation = (state: CredentialState, at: number): CredentialState =>
  state.family?.deadAt === at ? { ...state, family: { ...state.family, deadAt: null } } : state;

/**
 * What a new generation of an account revoked: the tokens of all apps, read and judged afterwards.
 * @param account as it was before the change
 */
export function endOfTokens(
  { database, clock }: Parts,
  account: Pick<Account, 'id' | 'generation'>,
): Promise<RevocationSummary> {
  const { id: accountId, generation } = account;
  const before = (state: CredentialState): CredentialState => ({
    ...state,
    account: state.account && { ...state.account, generation },
  });
  return database.read(function* look(): Work<RevocationSummary> {
    return summarizeRevocation(yield* readFamilyStates({ accountId, except: '' }), before, clock());
  });
}

/**
 * Ends what depends on a session that the unit of work has removed, and notifies the apps that got tokens in it. Tokens that may
 * outlive the session stay valid, and so do those of a session that had run out before.
 */
export function* endRemovedSession(session: Session, now: number): Work<void> {
  const { accountId, sid } = session;
  const isOver = isExpired(session, now);
  // In this order: see endSessions.
  if (!isOver) yield* dropCodesBoundTo({ accountId, sid });
  yield* enqueueSessionNotices(accountId, sid, now);
  if (!isOver) yield* revokeFamiliesBoundTo({ accountId, sid, now });
}

/**
 * Ends the sessions with these secrets, as the person who is signed in with them. Does nothing where there is none.
 * @param clientId the app that asked for it, if one did
 */
export async function endSession(
  { database, clock }: Parts,
  secret: string | undefined,
  origin: Origin,
  clientId: string | null = null,
): Promise<void> {
  if (secret === undefined) return;
  const now = clock();
  await database.commit(function* end() {
    const ended = yield* removeSession({ hash: digest(secret) });
    if (ended === undefined) return;
    const { accountId, sid } = ended;
    yield* endRemovedSession(ended, now);
    yield* record({ at: now, type: 'sign_out', origin, accountId, clientId, details: { sid } });
  });
}
