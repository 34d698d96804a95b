import type { Work } from '../platform/database/database.ts';
import {
  insertNotice,
  listenersOfAccount,
  listenersOfAccounts,
  listenersOfGrant,
  listenersOfOthers,
  listenersOfSession,
} from './notice-store.ts';
import { type Notice, noticesOfAll, noticesOfSession } from './rules/notices.ts';

/*
 * Each of these is part of the unit of work that ends something: the notices commit with it or not at all, and whichever
 * process comes first delivers them afterwards.
 */

/** One session of a person has ended. */
export function* announceSessionEnd(accountId: string, sid: string, now: number): Work<void> {
  yield* insertAll(accountId, noticesOfSession(yield* listenersOfSession(accountId, sid)), now);
}

/** Every session of a person but one has ended. */
export function* announceOthersEnd(accountId: string, sid: string, now: number): Work<void> {
  yield* insertAll(accountId, noticesOfSession(yield* listenersOfOthers(accountId, sid)), now);
}

/** Every session of a person is about to end: this comes before the account gets its new generation, or goes. */
export function* announceAccountEnd(accountId: string, now: number): Work<void> {
  yield* insertAll(accountId, noticesOfAll(yield* listenersOfAccount(accountId)), now);
}

/** The same for every person from after one id through another. */
export function* announceAccountsEnd(after: string, through: string, now: number): Work<void> {
  for (const [accountId, listeners] of yield* listenersOfAccounts(after, through)) {
    yield* insertAll(accountId, noticesOfAll(listeners), now);
  }
}

/** The access of one app has ended. */
export function* announceAccessEnd(accountId: string, grantId: string, now: number): Work<void> {
  yield* insertAll(accountId, noticesOfAll(yield* listenersOfGrant(grantId)), now);
}

function* insertAll(accountId: string, notices: readonly Notice[], now: number): Work<void> {
  for (const notice of notices) yield* insertNotice({ ...notice, accountId }, now);
}
