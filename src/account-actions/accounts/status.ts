import { type AccountActor, recordAccountAct } from '../../accounts/act-store.ts';
import { endLetIn, LET_IN, recordOpening } from '../../accounts/opening-store.ts';
import { barOf, freeFrom } from '../../accounts/rules/bar.ts';
import { keepStatusChange } from '../../accounts/status-change-store.ts';
import type { Account } from '../../accounts/store.ts';
import { behind } from '../../admin-keys/live.ts';
import type { Work } from '../../platform/database/database.ts';

/**
 * Records that an operator decided on whether an account is barred, in the unit of work that does so and holds the account's lock. Who lifts
 * a bar, or makes it end sooner, opens the account to its person: what that one makes until the bar would have ended rests on the operator. So
 * does it where others had let the person in before: a short bar by the operator leaves them in after it.
 */
export function* recordStatusDecision(
  { operator }: AccountActor,
  before: Account,
  after: Account,
  now: number,
): Work<void> {
  const { id: accountId } = after;
  yield* keepStatusChange(accountId, { operatorId: operator?.id ?? null, former: barOf(before), at: now });
  // The person decides nothing about that with a key of theirs: who let them in still answers for it.
  if (operator !== undefined && (yield* behind(operator.id)) === accountId) return;
  const was = Math.max(freeFrom(before), yield* endLetIn({ accountId, at: now }));
  const is = freeFrom(after);
  if (was <= now || is >= was) return;
  const opensAt = Math.max(now, is);
  const endsAt = Number.isFinite(was) ? was : undefined;
  yield* recordOpening({ operator }, { accountId, kind: LET_IN, actedAt: now, opensAt, endsAt, isGuarded: false });
}

/** The same where the bar is lifted. */
export function* recordLetIn(actor: AccountActor, before: Account, after: Account, now: number): Work<void> {
  yield* recordStatusDecision(actor, before, after, now);
  yield* recordAccountAct(actor, after.id, LET_IN, now);
}
