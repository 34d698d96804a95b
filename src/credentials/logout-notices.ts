import type { Work } from '../platform/database/database.ts';
import {
  clientsOfAccount,
  clientsOfAccountRange,
  clientsOfFamily,
  clientsOfGrant,
  clientsOfOtherSessions,
  clientsOfSession,
  clientsOfSignIn,
  insertNotice,
} from './logout-notice-store.ts';
import { accountNotices, type LogoutNotice, type NotifiedClient, sessionNotices } from './rules/logout-notices.ts';
import type { PastSignIn } from './sign-in-store.ts';

/*
 * Each of these is part of the unit of work that ends the session or the access: the notices commit with it or not at all. Any
 * node may deliver them afterwards.
 */

/** Enqueues the notices of the end of one session. */
export function* enqueueSessionNotices(accountId: string, sid: string, now: number): Work<void> {
  yield* insertAll(accountId, sessionNotices(yield* clientsOfSession({ accountId, sid })), now);
}

/** Enqueues the notices of the end of what apps got in one sign-in of a session. */
export function* enqueueSignInNotices(accountId: string, { amr, ...signIn }: PastSignIn, now: number): Work<void> {
  const found = yield* clientsOfSignIn({ accountId, ...signIn, amr: JSON.stringify(amr) });
  yield* insertAll(accountId, sessionNotices(found), now);
}

/** Enqueues the notices of the end of every session of a person but one. */
export function* enqueueOtherSessionNotices(accountId: string, sid: string, now: number): Work<void> {
  yield* insertAll(accountId, sessionNotices(yield* clientsOfOtherSessions({ accountId, sid })), now);
}

/** Enqueues the notices of the end of every session. Call it before the account gets its new generation or is deleted. */
export function* enqueueAccountNotices(accountId: string, now: number): Work<void> {
  yield* insertAll(accountId, accountNotices(yield* clientsOfAccount({ accountId })), now);
}

/** {@link enqueueAccountNotices} for every account with an id greater than `after`, up to `through`. */
export function* enqueueAccountRangeNotices(after: string, through: string, now: number): Work<void> {
  for (const [accountId, clients] of yield* clientsOfAccountRange({ after, through })) {
    yield* insertAll(accountId, accountNotices(clients), now);
  }
}

/** Enqueues the notices of the end of a client's access, which may have a grant of each set of endpoints. */
export function* enqueueGrantNotices(accountId: string, grantIds: readonly string[], now: number): Work<void> {
  const clients: NotifiedClient[] = [];
  for (const grantId of grantIds) clients.push(...(yield* clientsOfGrant({ grantId })));
  yield* insertAll(accountId, accountNotices(clients), now);
}

/** Enqueues the notice of the end of one token family. Call it before the family is revoked. */
export function* enqueueFamilyNotice(accountId: string, familyId: string, now: number): Work<void> {
  yield* insertAll(accountId, sessionNotices(yield* clientsOfFamily({ familyId })), now);
}

function* insertAll(accountId: string, notices: readonly LogoutNotice[], now: number): Work<void> {
  for (const notice of notices) yield* insertNotice({ ...notice, accountId, now });
}
