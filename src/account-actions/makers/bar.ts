import { makingDatabase } from '../../admin-keys/hand-out.ts';
import { lacksPermission } from '../../operators/refusal.ts';
import { holds, INSTALLATION, type Operator } from '../../operators/rights.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Database, Work } from '../../platform/database/database.ts';
import type { Origin } from '../../platform/validation/origin.ts';
import type { ActingOperator } from '../operators/grants.ts';
import { allMadeBy, type Made } from './list-made.ts';
import { type EndedMade, endAllMadeBy, finishEnding, NOTHING_ENDED } from './made.ts';
import type { TakeOptions } from './taken-grant.ts';

/** What an act that bars or deletes an account answers, and what its person made as an operator. */
export interface Barred<T> {
  readonly result: T;
  /** What was ended, or else what goes on; undefined where the operator who acts may not see it. */
  readonly made: Made | undefined;
}

interface BarContext extends ActingOperator {
  readonly database: Database;
  readonly clock: Clock;
}

/** Whether an operator may see what people made as operators, and end it: undefined for the command line. */
export const mayEndMade = (operator: Operator | undefined): boolean =>
  operator === undefined || holds(operator, 'operators.manage', INSTALLATION);

/** What a person made as an operator, and what these made, that goes on when the account is barred. */
export const madeOf = ({ database, clock }: BarContext, accountId: string): Promise<Made> =>
  database.read(() => allMadeBy(accountId, clock()));

/**
 * Does an act that bars or deletes an account, and finds what its person made as an operator or, with `endMade`, ends it in the same commit.
 * @param act is given the database that it acts with
 * @throws {InsufficientPermission} where the operator may not end it
 */
export async function barMaker<T>(
  context: BarContext,
  accountId: string,
  origin: Origin,
  { endMade = false }: TakeOptions,
  act: (database: Database) => Promise<T>,
): Promise<Barred<T>> {
  const { clock, operator } = context;
  if (!endMade) {
    const result = await act(context.database);
    // After the commit, so that nobody waits longer for it.
    return { result, made: mayEndMade(operator) ? await madeOf(context, accountId) : undefined };
  }
  const base = makingDatabase(context.database);
  let ended: EndedMade = NOTHING_ENDED;
  const database: Database = {
    ...base,
    commit<U>(work: () => Work<U>): Promise<U> {
      return base.commit(function* barring(): Work<U> {
        const result = yield* work();
        if (!mayEndMade(operator)) throw lacksPermission('operators.manage');
        ended = yield* endAllMadeBy(accountId, { operator, origin, now: clock() });
        return result;
      });
    },
  };
  const result = await act(database);
  const { makers, clients: _, ...made } = ended;
  await finishEnding(context, makers);
  return { result, made };
}
