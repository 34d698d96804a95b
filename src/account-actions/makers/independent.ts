import { behind } from '../../admin-keys/live.ts';
import type { Permission } from '../../operators/permissions.ts';
import { opensGiver, opensOpener, opensOwnAccount } from '../../operators/refusal.ts';
import { INSTALLATION, type Operator } from '../../operators/rights.ts';
import type { Work } from '../../platform/database/database.ts';
import { REPORT_LIFETIME, UNTOLD } from '../notices/notices.ts';
import { isInSpan } from './rules/spans.ts';
import { suspectsOf } from './suspects.ts';

/**
 * Nobody changes as an operator, or with any key of theirs, how they sign in themselves, or deletes their account. Nor does anybody do so to
 * somebody who gave them the right to it in the last seven days, directly or through others, or who lately set how the account signs in that
 * they act with: the report of that is to outlive it. A report reaches back {@link UNTOLD} further for what nobody is told of.
 * @throws {InsufficientPermission}
 */
export function* requireIndependent(
  operator: Operator,
  accountId: string,
  permission: Permission,
  now: number,
): Work<void> {
  if (accountId === (yield* behind(operator.id))) throw opensOwnAccount(permission);
  const since = now - REPORT_LIFETIME;
  const suspects = yield* suspectsOf(accountId, { since, openedSince: since - UNTOLD, now });
  for (const { id, openings, keeps, ...span } of suspects) {
    if (id !== operator.id || keeps(permission, INSTALLATION)) continue;
    if (openings.length === 0) throw opensGiver(permission);
    // Who has taken the account back since acts for themselves.
    if (isInSpan(span, now)) throw opensOpener(permission);
  }
}
