import { take } from '../../limits/limits.ts';
import type { Limits } from '../../limits/settings.ts';
import type { Permission } from '../../operators/permissions.ts';
import { holdsByPolicyAlone, type Operator } from '../../operators/rights.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Database } from '../../platform/database/database.ts';
import type { Origin } from '../../platform/validation/origin.ts';

interface PolicyLimitServices {
  readonly database: Database;
  readonly clock: Clock;
  readonly limits: Limits;
}

/**
 * Counts a write of somebody who may do it by the policy of the installation alone: no operator chose them, and each write adds to the audit
 * trail, which is kept.
 * @returns 0 when it is within the limit, else the seconds until the window ends
 */
export async function countPolicyWrite(
  { database, clock, limits }: PolicyLimitServices,
  operator: Operator,
  permission: Permission,
  origin: Origin,
): Promise<number> {
  if (!holdsByPolicyAlone(operator, permission)) return 0;
  const [now, about] = [clock(), { name: 'developerAccount', origin, accountId: operator.id } as const];
  return database.commit(() => take(`developer ${operator.id}`, limits.developerAccount, now, about));
}
