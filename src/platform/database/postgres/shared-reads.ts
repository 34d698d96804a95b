import type { DatabaseMeter, Row, Step } from '../database.ts';
import { type Ask, type Connections, deadline } from './connections.ts';
import { CALLER_NUMBER } from './dialect.ts';
import { isData } from './errors.ts';
import type { ReadableQuery } from './readable-query.ts';
import { listsOf, type SharedStatement, sharedStatements } from './shared-statements.ts';

interface Caller {
  readonly values: readonly unknown[];
  resolve(rows: readonly Row[]): void;
  reject(error: unknown): void;
}

/** A statement with its callers. */
interface Group {
  readonly prepared: SharedStatement;
  readonly callers: readonly Caller[];
}

interface PreparedGroup extends Group {
  readonly query: ReadableQuery;
}

/**
 * Batches the reads of one turn of the event loop: calls of the same statement become one query. It is sent after all of its
 * callers have called, so none of them reads data that is older than its call.
 */
export function sharedReads(connections: Connections, meter?: DatabaseMeter): (step: Step) => Promise<readonly Row[]> {
  const prepare = sharedStatements(connections, 'read');
  let callersOfTurn = new Map<SharedStatement, Caller[]>();

  async function readAlone({ alone }: SharedStatement, caller: Caller): Promise<void> {
    try {
      const query = alone.with([...caller.values]);
      caller.resolve(alone.rowsOf(await connections.lend(deadline(), (ask) => ask(query))));
    } catch (error) {
      caller.reject(error);
    }
  }

  /** On one connection, in one trip. A statement with one caller has its own, so that a long list delays nobody. */
  async function readTogether(groups: readonly Group[]): Promise<void> {
    const until = deadline();
    const prepared = (await Promise.all(groups.map(prepareFor))).flat();
    if (prepared.length === 0) return;
    try {
      await connections.lend(until, (ask) => Promise.all(prepared.map((group) => readFor(ask, group))));
    } catch (error) {
      for (const group of prepared) refuse(group, error);
    }
  }

  async function readFor(ask: Ask, group: PreparedGroup): Promise<void> {
    const { prepared, callers, query } = group;
    try {
      const answer = await ask(query.with(listsOf(prepared, callers)));
      const rowsByCaller: Row[][] = callers.map(() => []);
      for (const row of query.rowsOf(answer)) rowsByCaller[Number(row[CALLER_NUMBER]) - 1]?.push(row);
      for (const [index, caller] of callers.entries()) caller.resolve(rowsByCaller[index] ?? []);
    } catch (error) {
      // The value of one caller must not fail the reads of the others.
      if (isData(error)) for (const caller of callers) void readAlone(prepared, caller);
      else refuse(group, error);
    }
  }

  /** Before a connection is lent, because preparing needs one, too. */
  async function prepareFor(group: Group): Promise<readonly PreparedGroup[]> {
    try {
      return [{ ...group, query: await group.prepared.shared() }];
    } catch (error) {
      refuse(group, error);
      return [];
    }
  }

  function flush(): void {
    const turn = callersOfTurn;
    callersOfTurn = new Map();
    const groups: Group[] = [];
    for (const [prepared, callers] of turn) {
      meter?.shared(callers.length);
      if (callers.length === 1 || prepared.placeholders === 0) {
        for (const caller of callers) void readAlone(prepared, caller);
      } else {
        groups.push({ prepared, callers });
      }
    }
    if (groups.length > 0) void readTogether(groups);
  }

  return (step) =>
    new Promise((resolve, reject) => {
      const prepared = prepare(step.statement);
      if (callersOfTurn.size === 0) setImmediate(flush);
      const callers = callersOfTurn.get(prepared) ?? [];
      callers.push({ values: prepared.bind(step.params), resolve, reject });
      callersOfTurn.set(prepared, callers);
    });
}

function refuse({ callers }: Group, error: unknown): void {
  for (const caller of callers) caller.reject(error);
}
