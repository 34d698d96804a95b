import type { DatabaseMeter, Row, Step } from '../database.ts';
import { type Compiled, compile, type Statement } from '../statement.ts';
import { type Connections, deadline } from './connections.ts';
import { postgresBuilder, rowsOf } from './dialect.ts';

/** A statement as PostgreSQL runs it: alone, or for many callers in one round trip. */
interface Prepared extends Compiled {
  readonly name: string;
  /** The same statement for a list of each parameter; its rows are numbered by their caller. */
  readonly shared: Promise<string>;
}

interface Waiting {
  readonly values: readonly unknown[];
  resolve(rows: readonly Row[]): void;
  reject(error: unknown): void;
}

/** The column that numbers the callers of a shared read. */
const CALLER = 'caller_number';

/**
 * Lets the reads of one turn of the event loop share a round trip: equal statements with different parameters become one
 * query. No read is answered from data that is older than its own call, since the query is sent after all its callers.
 */
export function sharedReads(connections: Connections, meter?: DatabaseMeter): (step: Step) => Promise<readonly Row[]> {
  const statements = new Map<Statement<never, unknown>, Prepared>();
  let turn = new Map<Prepared, Waiting[]>();
  /** Never given twice, for a connection keeps what a name stood for, also after the statement was made anew. */
  let names = 0;

  function prepare(statement: Statement<never, unknown>): Prepared {
    let prepared = statements.get(statement);
    if (prepared === undefined) {
      const compiled = compile(statement, postgresBuilder);
      const name = `read_${names++}`;
      const shared = parameterTypes(connections, `types_of_${name}`, compiled.sql).then((types) =>
        shareable(compiled.sql, types),
      );
      // Whoever awaits it sees the failure, and the next attempt makes it anew.
      shared.catch(() => statements.delete(statement));
      prepared = { name, ...compiled, shared };
      statements.set(statement, prepared);
    }
    return prepared;
  }

  async function alone({ name, sql }: Prepared, caller: Waiting): Promise<void> {
    try {
      const query = { name, text: sql, values: [...caller.values] };
      caller.resolve(rowsOf(await connections.lend(deadline(), (ask) => ask(query))));
    } catch (error) {
      caller.reject(error);
    }
  }

  async function together(prepared: Prepared, callers: readonly Waiting[]): Promise<void> {
    const until = deadline();
    try {
      const lists = Array.from({ length: prepared.placeholders }, (_, index) =>
        callers.map(({ values }) => values[index]),
      );
      const text = await prepared.shared;
      const query = { name: `${prepared.name}_shared`, text, values: lists };
      const rows = rowsOf(await connections.lend(until, (ask) => ask(query)));
      const answers: Row[][] = callers.map(() => []);
      for (const row of rows) answers[Number(row[CALLER]) - 1]?.push(row);
      for (const [index, caller] of callers.entries()) caller.resolve(answers[index] ?? []);
    } catch (error) {
      for (const caller of callers) caller.reject(error);
    }
  }

  function flush(): void {
    const now = turn;
    turn = new Map();
    for (const [prepared, callers] of now) {
      meter?.shared(callers.length);
      const [first] = callers;
      if (first !== undefined && (callers.length === 1 || prepared.placeholders === 0)) {
        for (const caller of callers) void alone(prepared, caller);
      } else {
        void together(prepared, callers);
      }
    }
  }

  return (step) =>
    new Promise((resolve, reject) => {
      const prepared = prepare(step.statement);
      if (turn.size === 0) setImmediate(flush);
      const callers = turn.get(prepared) ?? [];
      callers.push({ values: prepared.bind(step.params), resolve, reject });
      turn.set(prepared, callers);
    });
}

/** The types that PostgreSQL itself infers for a statement's parameters. @param name one that no connection knows yet */
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

function shareable(sql: string, types: readonly string[]): string {
  const lists = types.map((type, index) => `$${index + 1}::${type}[]`).join(', ');
  const names = types.map((_, index) => `p${index + 1}`);
  // A shared query has no placeholders but its lists: each $n of the statement becomes the caller's own value.
  const own = sql.replaceAll(/\$(\d+)/g, 'caller.p$1');
  return (
    `SELECT q.*, caller.${CALLER} FROM unnest(${lists}) WITH ORDINALITY AS caller (${[...names, CALLER].join(', ')}) ` +
    `CROSS JOIN LATERAL (${own}) AS q`
  );
}
