import { type Account, takeAccountLock } from '../accounts/store.ts';
import { record } from '../audit/audit.ts';
import { enqueueOtherSessionNotices, enqueueSessionNotices } from '../notices/enqueue.ts';
import type { Clock } from '../platform/clock.ts';
import type { Database, Work } from '../platform/database/database.ts';
import type { Origin } from '../platform/http/origin.ts';
import { isExpired } from '../sessions/sessions.ts';
import { removeSessions, type Session, type SessionSelector } from '../sessions/store.ts';
import { type Standing, type Stopped, whatStopped } from '../verdict/rules.ts';
import { dropCodes } from './code-store.ts';
import { killFamiliesOf } from './family-store.ts';
import { readStandings } from './standing-store.ts';

interface Parts {
  readonly database: Database;
  readonly clock: Clock;
}

/** Whose session it is, as of the verdict. */
interface Owner {
  readonly id: string;
  readonly generation: string;
}

/** Sessions that were ended from elsewhere, and what that was found to have stopped. */
export interface Ended extends Stopped {
  readonly at: number;
  /** Those that were alive. */
  readonly sessions: readonly Session[];
}

/**
 * Ends sessions of a person from another browser, or as an operator: whoever does so does not have that browser at hand, so
 * the codes and tokens that apps got there end as well, and the apps are let know. When this returns none of it works, on
 * any node; afterwards all of it is read and judged anew.
 */
export async function endSessions(
  { database, clock }: Parts,
  owner: Owner,
  which: SessionSelector,
  origin: Origin,
): Promise<Ended> {
  const at = clock();
  const accountId = owner.id;
  const sessions = await database.commit(function* end(): Work<readonly Session[]> {
    // Who signs in again in that browser goes on with the name of the session: before this, or after it under another name.
    yield* takeAccountLock({ id: accountId });
    // In this order: what waits for the session issues a code before it goes, and what redeems one makes a family.
    const ended = yield* removeSessions(accountId, which);
    if ('sid' in which && ended.length === 0) return [];
    yield* dropCodes(accountId, which);
    if ('sid' in which) yield* enqueueSessionNotices(accountId, which.sid, at);
    else yield* enqueueOtherSessionNotices(accountId, which.except, at);
    yield* killFamiliesOf(accountId, which, at);
    const alive = ended.filter((session) => session.generation === owner.generation && !isExpired(session, at));
    yield* record({ at, type: 'session.ended', origin, accountId, details: { ...which, sessions: alive.length } });
    return alive;
  });
  const found = await database.read(() => readStandings({ accountId, ...which }));
  return { at, sessions, ...whatStopped(found, (standing) => unended(standing, at), clock()) };
}

/** As it was before what happened at this instant. */
const unended = (standing: Standing, at: number): Standing =>
  standing.family?.deadAt === at ? { ...standing, family: { ...standing.family, deadAt: null } } : standing;

/**
 * Reads and judges anew the tokens that all apps held of an account, after it got another generation.
 * @param account as it was before
 */
export function endOfTokens({ database, clock }: Parts, account: Pick<Account, 'id' | 'generation'>): Promise<Stopped> {
  const { id: accountId, generation } = account;
  const before = (standing: Standing): Standing => ({
    ...standing,
    account: standing.account && { ...standing.account, generation },
  });
  return database.read(function* look(): Work<Stopped> {
    return whatStopped(yield* readStandings({ accountId, except: '' }), before, clock());
  });
}
