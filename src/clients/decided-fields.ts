import { record } from '../audit/audit.ts';
import { lacksPermission } from '../operators/refusal.ts';
import { holds, type Operator } from '../operators/rights.ts';
import type { Work } from '../platform/database/database.ts';
import type { Origin } from '../platform/validation/origin.ts';
import { isDisabledBy, isDisabledByOther, recordStatusAct } from './act-store.ts';
import type { Client, Narrowed } from './store.ts';

/** What only those decide on an app who decide who may use it. The developer of the app chooses it once, by registering the app. */
const DECIDED = ['access', 'requireSecondFactor'] as const satisfies readonly (keyof Client)[];

const PERMISSION = 'apps.assign';

/** Of these, a developer takes back nothing that was taken from the app. */
const NARROWED = ['scopes', 'endpoints', 'grantTypes'] as const satisfies readonly (keyof Narrowed)[];

/** Null is everything. */
const isWithin = (chosen: readonly string[] | null, most: readonly string[] | null): boolean =>
  most === null || (chosen?.every((one) => most.includes(one)) ?? false);

/** A client with what is left of its fields, where who decides on the app of a developer takes something from it or decides on it again. */
export function narrowed(operator: Operator | undefined, before: Client, after: Client): Client {
  if (before.developerId === null || (operator !== undefined && !holds(operator, PERMISSION, before))) return after;
  const left = { ...before.narrowed };
  for (const field of NARROWED) {
    const kept = after[field];
    if (kept === null) delete left[field];
    else if (!isWithin(before[field], kept) || left[field] !== undefined) left[field] = kept;
  }
  return { ...after, narrowed: Object.keys(left).length === 0 ? null : left };
}

/** Whether a change gives the app something back that was taken from it. */
const widens = (before: Client, after: Client): boolean =>
  NARROWED.some((field) => {
    const left = before.narrowed?.[field];
    return left !== undefined && !isWithin(after[field], [...left, ...(before[field] ?? [])]);
  });

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
  const decides = DECIDED.some((field) => before[field] !== after[field]) || widens(before, after);
  if (decides || (enables && !(yield* mayEnable(operator, before)))) {
    throw lacksPermission(PERMISSION);
  }
}

/**
 * Part of the unit of work in which an operator disables a client that is disabled: who decides on the app takes it over, so that a developer
 * who had disabled it does not enable it any more.
 */
export function* takeOverDisabling(
  operator: Operator | undefined,
  client: Client,
  origin: Origin,
  now: number,
): Work<void> {
  if (operator !== undefined && !holds(operator, PERMISSION, client)) return;
  if (!(yield* isDisabledByOther({ clientId: client.id, operatorId: operator?.id ?? NOBODY }))) return;
  yield* recordStatusAct({ operator }, client.id, 'disabled', now, { isTakenOver: true });
  yield* record({ at: now, type: 'client.disabled', origin, clientId: client.id, details: { fields: [] } });
}

/** No operator has this id. */
const NOBODY = '0';
