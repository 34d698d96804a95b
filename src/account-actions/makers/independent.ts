import type { Permission } from '../../operators/permissions.ts';
import { opensGiver, opensOwnAccount } from '../../operators/refusal.ts';
import { INSTALLATION, type Operator } from '../../operators/rights.ts';
import type { Work } from '../../platform/database/database.ts';
import { REPORT_LIFETIME } from '../notices/notices.ts';
import { suspectsOf } from './suspects.ts';

/**
 * Nobody changes as an operator how they sign in themselves, nor how somebody does who gave them the right to it in the last seven days,
 * directly or through others: the report of what was given is to outlive it.
 * @throws {InsufficientPermission}
 */
export function* requireIndependent(
  operator: Operator,
  accountId: string,
  permission: Permission,
  now: number,
): Work<void> {
  if (accountId === operator.id) throw opensOwnAccount(permission);
  const suspects = yield* suspectsOf(accountId, { since: now - REPORT_LIFETIME, now });
  // Whose account was opened got no right so.
  const given = suspects.find(({ id, openings }) => id === operator.id && openings.length === 0);
  if (given !== undefined && !given.keeps(permission, INSTALLATION)) throw opensGiver(permission);
}
