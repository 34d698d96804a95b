import { type Bar, freeFrom, remainingBar } from '../../accounts/rules/bar.ts';
import {
  forgetStatusChange,
  type StatusChange,
  saveFormerBar,
  statusChangesOf,
} from '../../accounts/status-change-store.ts';
import type { Account } from '../../accounts/store.ts';
import { record } from '../../audit/audit.ts';
import { INSTALLATION } from '../../operators/rights.ts';
import { randomIdentifier } from '../../platform/crypto/secrets.ts';
import type { Work } from '../../platform/database/database.ts';
import type { Origin } from '../../platform/validation/origin.ts';
import { saveChange } from '../accounts/accounts.ts';
import { endHandedOutBy } from '../accounts/keys-of-account.ts';
import { lastOwnerAmong } from '../accounts/last-owner.ts';
import { accountTime } from '../notices/account-time.ts';
import { ACCOUNT_PERMISSION_OF } from './account-permissions.ts';
import { isInSpan } from './rules/spans.ts';
import { endsWithin, type Suspect } from './suspects.ts';

/** Whether a decision on an account rests on those who are ended. */
const isOfSuspects = (suspects: readonly Suspect[], { operatorId, at }: StatusChange): boolean =>
  suspects.some(
    ({ id, accountsSince, until, within, keeps }) =>
      id === operatorId &&
      isInSpan({ since: accountsSince, until }, at) &&
      endsWithin(within, INSTALLATION) &&
      !keeps(ACCOUNT_PERMISSION_OF['let in again'], INSTALLATION),
  );

/** What would bar an account again. */
type EarlierBar = ReturnType<typeof remainingBar>;

/**
 * What barred an account before suspects let it in again, as far as it would still bar it: what others decided last. It is nothing where that
 * was too long ago.
 */
export function* earlierBar(accountId: string, suspects: readonly Suspect[], now: number): Work<EarlierBar> {
  const changes = yield* statusChangesOf({ accountId });
  const [first] = changes.slice(changes.findLastIndex((change) => !isOfSuspects(suspects, change)) + 1);
  return first === undefined ? {} : remainingBar(first.former, now);
}

/**
 * Forgets what suspects decided: others who decided afterwards did so on what there was before that. So the order in which several are ended
 * changes nothing.
 */
function* forgetDecisions(accountId: string, suspects: readonly Suspect[]): Work<void> {
  let former: Bar | undefined;
  for (const change of yield* statusChangesOf({ accountId })) {
    const { id } = change;
    if (isOfSuspects(suspects, change)) {
      former ??= change.former;
      yield* forgetStatusChange({ id });
    } else if (former !== undefined) {
      if (freeFrom(former) > freeFrom(change.former)) yield* saveFormerBar({ id, former });
      former = undefined;
    }
  }
}

export const barsAnything = (bar: EarlierBar): boolean => Object.keys(bar).length > 0;

/**
 * Bars an account as it was before suspects let it in again, unless it is the last owner's, inside the unit of work that holds its lock. What
 * was decided by them is forgotten: who lets the person in afterwards does so for themselves.
 */
export function* barAgain(account: Account, suspects: readonly Suspect[], origin: Origin, now: number): Work<void> {
  const { id: accountId } = account;
  if ((yield* lastOwnerAmong([accountId], now)) !== undefined) return;
  const bar = yield* earlierBar(accountId, suspects, now);
  yield* forgetDecisions(accountId, suspects);
  if (!barsAnything(bar)) return;
  const at = yield* accountTime(account, now);
  const { bannedUntil, banReason, suspensionReason } = yield* saveChange(
    account,
    { ...bar, generation: randomIdentifier() },
    at,
    now,
  );
  yield* endHandedOutBy(accountId, origin, now);
  const event = { at: now, origin, accountId };
  if ('bannedAt' in bar) {
    const details = { until: bannedUntil, reason: banReason, putBack: true };
    yield* record({ ...event, type: 'account.banned', details });
  }
  if ('suspendedAt' in bar) {
    yield* record({ ...event, type: 'account.suspended', details: { reason: suspensionReason, putBack: true } });
  }
}
