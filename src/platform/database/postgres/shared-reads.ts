import type { DatabaseMeter, Row, Step } from '../database.ts';
import { type Compiled, compile, type Statement } from '../statement.ts';
import { type Connections, deadline } from './connections.ts';
import { lateralBuilder, postgresBuilder, rowsOf } from './dialect.ts';

/** A statement as PostgreSQL runs it: for one caller, or for many in one round trip. */
interface SharedStatement extends Compiled {
  readonly name: string;
  /** The SQL for many callers. It takes a list of values for each parameter, and its rows carry the number of their caller. */
  readonly shared: Promise<string>;
}

interface Caller {
  readonly values: readonly unknown[];
  resolve(rows: readonly Row[]): void;
  reject(error: unknown): void;
}

/** The column that numbers the callers of a shared read. */
const CALLER_NUMBER = 'caller_number';

/**
 * Batches the reads of one turn of the event loop: calls of the same statement become one query. It is sent after all of its
 * callers have called, so none of them reads data that is older than its call.
 */
export function sharedReads(connections: Connections, meter?: DatabaseMeter): (step: Step) => Promise<readonly Row[]> {
  const statements = new Map<Statement<never, unknown>, SharedStatement>();
  let callersOfTurn = new Map<SharedStatement, Caller[]>();
  /** Names are never reused: a connection keeps what it prepared under a name, even if the statement is prepared again. */
  let names = 0;

  function prepare(statement: Statement<never, unknown>): SharedStatement {
    let prepared = statements.get(statement);
    if (prepared === undefined) {
      const compiled = compile(statement, postgresBuilder);
      const name = `read_${names++}`;
      const shared = parameterTypes(connections, `types_of_${name}`, compiled.sql).then((types) =>
        sharedSql(compile(statement, lateralBuilder).sql, types),
      );
      // The callers that await it get the error; the next call prepares the statement again.
      shared.catch(() => statements.delete(statement));
      prepared = { name, ...compiled, shared };
      statements.set(statement, prepared);
    }
    return prepared;
  }

  async function readAlone({ name, sql }: SharedStatement, caller: Caller): Promise<void> {
    try {
      const query = { name, text: sql, values: [...caller.values] };
      caller.resolve(rowsOf(await connections.lend(deadline(), (ask) => ask(query))));
    } catch (error) {
      caller.reject(error);
    }
  }

  async function readTogether(prepared: SharedStatement, callers: readonly Caller[]): Promise<void> {
    const until = deadline();
    try {
      const lists = Array.from({ length: prepared.placeholders }, (_, index) =>
        callers.map(({ values }) => values[index]),
      );
      const text = await prepared.shared;
      const query = { name: `${prepared.name}_shared`, text, values: lists };
      const rows = rowsOf(await connections.lend(until, (ask) => ask(query)));
      const rowsByCaller: Row[][] = callers.map(() => []);
      for (const row of rows) rowsByCaller[Number(row[CALLER_NUMBER]) - 1]?.push(row);
      for (const [index, caller] of callers.entries()) caller.resolve(rowsByCaller[index] ?? []);
    } catch (error) {
      for (const caller of callers) caller.reject(error);
    }
  }

  function flush(): void {
    const turn = callersOfTurn;
    callersOfTurn = new Map();
    for (const [prepared, callers] of turn) {
      meter?.shared(callers.length);
      if (callers.length === 1 || prepared.placeholders === 0) {
        for (const caller of callers) void readAlone(prepared, caller);
      } else {
        void readTogether(prepared, callers);
      }
    }
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

/** The types that PostgreSQL infers for the parameters of a statement. @param name one that no connection has used yet */
function parameterTypes(connections: Connections, name: string, sql: string): Promise<readonly string[]> {
  return connections.lend(deadline(), async (ask) => {
    await ask({ text: `PREPARE ${name} AS ${sql}` });
    const { rows } = await ask({
      text: `SELECT parameter_types::text[] AS types FROM pg_prepared_statements WHERE name = '${name}'`,
    });
    await ask({ text: `DEALLOCATE ${name}` });
    return (rows as { types: string[] }[])[0]?.types ?? [];
  });
}

/** @param lateralSql the statement as {@link lateralBuilder} compiles it */
function sharedSql(lateralSql: string, types: readonly string[]): string {
  const lists = types.map((type, index) => `$${index + 1}::${type}[]`).join(', ');
  const columns = [...types.map((_, index) => `p${index + 1}`), CALLER_NUMBER].join(', ');
  return (
    `SELECT q.*, caller.${CALLER_NUMBER} FROM unnest(${lists}) WITH ORDINALITY AS caller (${columns}) ` +
    `CROSS JOIN LATERAL (${lateralSql}) AS q`
  );
}
