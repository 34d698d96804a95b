import { type AccountGrant, liveGrantsOf } from '../../access/operator-grant-store.ts';
import { endOpening, LET_IN } from '../../accounts/opening-store.ts';
import { type Account, findAccount, lockAccount, takeAccountLock } from '../../accounts/store.ts';
import { lackingOf, type Operator } from '../../operators/rights.ts';
import type { Work } from '../../platform/database/database.ts';
import type { Origin } from '../../platform/validation/origin.ts';
import { barAgain, barsAnything, earlierBar } from './bar-again.ts';
import { closeAccount } from './close-account.ts';
import type { Opening } from './opening-query-store.ts';
import type { Suspect } from './suspects.ts';

/*
 * Accounts of operators to which another operator could sign in, who had set how. What was made through them meanwhile ends with that one
 * (`suspects.ts`), and so does what lets that one in. That holds also of accounts without a role with which something was made: the policy of
 * the installation may let them go on, or a role may come back. Any other is only listed (`made-accounts.ts`).
 */

interface Opened {
  readonly openings: readonly Opening[];
  /** Who ends it: nobody acts on somebody who holds a permission that they lack. */
  readonly by: Operator | undefined;
}

const mayEnd = ({ by }: Opened, grants: readonly AccountGrant[]): boolean =>
  by === undefined || lackingOf(by, grants) === undefined;

const isWayIn = ({ kind, isOpen }: Opening): boolean => isOpen && kind !== LET_IN;

/** Whether somebody let the person in: the decisions on the account say what bars it again, also where another one answers for that since. */
const isLetIn = ({ openings }: Opened): boolean => openings.some(({ kind }) => kind === LET_IN);

/** Whether an account that was opened is closed, or barred again, where the operator is ended. */
export function* mayEndOpened(
  accountId: string,
  opened: Opened,
  suspects: readonly Suspect[],
  now: number,
): Work<boolean> {
  if ((yield* findAccount({ id: accountId })) === undefined) return false;
  if (!mayEnd(opened, yield* liveGrantsOf(accountId, now))) return false;
  if (opened.openings.some(isWayIn)) return true;
  return isLetIn(opened) && barsAnything(yield* earlierBar(accountId, suspects, now));
}

/** Those who acted with accounts that were opened, or with keys of these, by account. */
export function byOpenedAccount(suspects: readonly Suspect[]): readonly (readonly [string, readonly Suspect[]])[] {
  const found = new Map<string, Suspect[]>();
  for (const suspect of suspects) {
    const [opening] = suspect.openings;
    if (opening !== undefined) found.set(opening.accountId, [...(found.get(opening.accountId) ?? []), suspect]);
  }
  // Always in this order, so that no two units of work wait for each other.
  return [...found].sort(([one], [other]) => (BigInt(one) < BigInt(other) ? -1 : 1));
}

/** What was done to the account with which suspects acted. */
export const openingsOf = (parts: readonly Suspect[]): readonly Opening[] => [
  ...new Set(parts.flatMap(({ openings }) => openings)),
];

/** Locks the accounts that were opened: no unit of work goes on that acts in them. */
export function* lockOpened(suspects: readonly Suspect[]): Work<void> {
  for (const [id] of byOpenedAccount(suspects)) yield* takeAccountLock({ id });
}

/**
 * Closes the accounts that were opened (`closeAccount`), inside the unit of work that ends what was made through them. One that was only let
 * in again is barred as before.
 */
export function* endOpened(suspects: readonly Suspect[], origin: Origin, now: number): Work<void> {
  for (const [id, parts] of byOpenedAccount(suspects)) {
    const account = yield* lockAccount({ id });
    const opened = { openings: openingsOf(parts), by: parts[0]?.by };
    if (account === undefined || !mayEnd(opened, yield* liveGrantsOf(id, now))) continue;
    const waysIn = opened.openings.filter(isWayIn);
    const closed = waysIn.length === 0 ? account : yield* close(account, waysIn, origin, now);
    if (isLetIn(opened)) yield* barAgain(closed, suspects, origin, now);
    for (const { id: openingId, isOpen } of opened.openings) if (isOpen) yield* endOpening({ id: openingId, at: now });
  }
}

function* close(account: Account, openings: readonly Opening[], origin: Origin, now: number): Work<Account> {
  const details = {
    reason: 'An operator who was ended with all that they made had set how this person signs in.',
    openedBy: [...new Set(openings.map(({ operatorId }) => operatorId))],
  };
  const since = Math.min(...openings.map(({ span }) => span.since));
  const doubtedOf = openings.find(({ isMoved }) => isMoved)?.operatorId;
  return yield* closeAccount(account, { since, doubtedOf, details }, origin, now);
}
