import type { Account } from '../../accounts/store.ts';
import { newestChallengeAt } from '../../mail/challenges.ts';
import type { Work } from '../../platform/database/database.ts';

/**
 * The time of an act in the history of its account, inside a unit of work that holds the account's lock: later than every act before it,
 * whatever the clocks of the nodes say. What was set up before a report or a change of address is told by it from what was set up since.
 * @param now by the clock of this node
 */
export function* accountTime({ id, updatedAt }: Pick<Account, 'id' | 'updatedAt'>, now: number): Work<number> {
  // Some acts change nothing of the account itself, but are reported.
  const reportedAt = (yield* newestChallengeAt(id, 'secure account')) ?? 0;
  return Math.max(now, updatedAt + 1, reportedAt + 1);
}
