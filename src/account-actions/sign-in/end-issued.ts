import { findAccount, takeAccountLock } from '../../accounts/store.ts';
import { record } from '../../audit/audit.ts';
import { enqueueFamilyNotice, enqueueSessionNotices } from '../../credentials/logout-notices.ts';
import { dropCodes, familiesBegunSince } from '../../credentials/revocation-store.ts';
import { revokeFamily } from '../../credentials/token-family-store.ts';
import { listMembers } from '../../organizations/store.ts';
import { CLOCK_SKEW, type Clock } from '../../platform/clock.ts';
import type { Database, Work } from '../../platform/database/database.ts';
import type { Origin } from '../../platform/validation/origin.ts';
import { isExpired } from '../../sessions/sessions.ts';
import { listAccountSessions, removeSession } from '../../sessions/store.ts';
import { accountsOfUpstream } from '../../upstreams/session-store.ts';

/** A person, or the members of an organization, of whom less was required from an instant on, or who signs in through a provider that let in more. */
export type Eased =
  | { readonly accountId: string; readonly since: number }
  | { readonly organizationId: string; readonly since: number }
  | { readonly upstreamId: string; readonly since: number };

/**
 * Ends the sessions, codes and tokens that people got since less was required of them, however they signed in: each account by itself, so that it
 * can be run again.
 */
export async function endIssuedSince(
  { database, clock }: { readonly database: Database; readonly clock: Clock },
  eased: Eased,
  origin: Origin,
): Promise<void> {
  for await (const id of accountsOf(database, eased)) {
    await database.commit(() => endIssued(id, eased.since, origin, clock()));
  }
}

/** How many accounts are read at a time. */
const BATCH = 500;

async function* accountsOf(database: Database, eased: Eased): AsyncGenerator<string> {
  if ('accountId' in eased) yield eased.accountId;
  if ('organizationId' in eased) for (const { userId } of await database.read(() => listMembers(eased))) yield userId;
  if (!('upstreamId' in eased)) return;
  const { upstreamId } = eased;
  for (let after: string | undefined = '0'; after !== undefined; ) {
    const from: string = after;
    const page = await database.read(() => accountsOfUpstream({ upstreamId, after: from, limit: BATCH }));
    yield* page;
    after = page.length < BATCH ? undefined : page.at(-1);
  }
}

function* endIssued(accountId: string, easedAt: number, origin: Origin, now: number): Work<void> {
  yield* takeAccountLock({ id: accountId });
  const account = yield* findAccount({ id: accountId });
  if (account === undefined) return;
  // The clock of the node that issued it may be behind.
  const since = easedAt - CLOCK_SKEW;
  // In this order, as in endSessions: a unit that waits for the session's row may issue a code, and one that waits for the code a family.
  const removed = (yield* listAccountSessions({ accountId })).filter(({ authTime }) => authTime >= since);
  for (const { hash } of removed) yield* removeSession({ hash });
  yield* dropCodes({ accountId, except: '' });
  for (const { sid } of removed) yield* enqueueSessionNotices(accountId, sid, now);
  const families = yield* familiesBegunSince({ accountId, since });
  for (const { familyId, sid } of families) {
    if (!removed.some((session) => session.sid === sid)) yield* enqueueFamilyNotice(accountId, familyId, now);
    yield* revokeFamily({ familyId, reason: 'session ended', now });
  }
  const sessions = removed.filter((one) => one.generation === account.generation && !isExpired(one, now)).length;
  if (sessions + families.length === 0) return;
  const details = { sessions, authorizations: families.length, since };
  yield* record({ at: now, type: 'session.ended', origin, accountId, details });
}
