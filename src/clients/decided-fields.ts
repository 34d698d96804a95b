import { lacksPermission } from '../operators/refusal.ts';
import { holds, type Operator } from '../operators/rights.ts';
import type { Work } from '../platform/database/database.ts';
import { isDisabledBy } from './act-store.ts';
import type { Client } from './store.ts';

/** What only those decide on an app who decide who may use it. The developer of the app chooses it once, by registering the app. */
const DECIDED = ['access', 'requireSecondFactor'] as const satisfies readonly (keyof Client)[];

const PERMISSION = 'apps.assign';

/** Whether an operator may enable a client that is disabled: its developer only where the developer disabled it. */
export function* mayEnable(operator: Operator, client: Client): Work<boolean> {
  return holds(operator, PERMISSION, client) || (yield* isDisabledBy({ clientId: client.id, operatorId: operator.id }));
}

/**
 * Part of the unit of work that changes a client: a developer does not undo what was decided about the app.
 * @param operator who acts; undefined for the command line on the server
 * @throws {InsufficientPermission}
 */
export function* requireMayDecide(operator: Operator | undefined, before: Client, after: Client): Work<void> {
  if (operator === undefined || holds(operator, PERMISSION, before)) return;
  const enables = before.status === 'disabled' && after.status === 'active';
  if (DECIDED.some((field) => before[field] !== after[field]) || (enables && !(yield* mayEnable(operator, before)))) {
    throw lacksPermission(PERMISSION);
  }
}
