import { randomSecret } from '../../crypto/secrets.ts';
import { type Compiled, compile, type Statement } from '../statement.ts';
import { type Connections, deadline } from './connections.ts';
import { CALLER_NUMBER, postgresBuilder, sharedBuilder } from './dialect.ts';
import { listOf, ReadableQuery } from './readable-query.ts';

/** A statement as PostgreSQL runs it: for one caller, or for many in one round trip. */
export interface SharedStatement extends Compiled {
  readonly alone: ReadableQuery;
  /** For many callers. It takes a list of values for each parameter, and the rows that it reads carry the number of their caller. */
  shared(): Promise<ReadableQuery>;
}

export type SharedStatements = (statement: Statement<never, unknown>) => SharedStatement;

/**
 * Prepares statements to be shared.
 * @param prefix begins the names of the statements on a connection
 */
export function sharedStatements(connections: Connections, prefix: string): SharedStatements {
  const statements = new Map<Statement<never, unknown>, SharedStatement>();
  /** Names are never reused: a connection keeps what it prepared under a name, even if the statement is prepared again. */
  let names = 0;

  return (statement) => {
    let prepared = statements.get(statement);
    if (prepared === undefined) {
      const compiled = compile(statement, postgresBuilder);
      const name = `${prefix}_${names++}`;
      let query: Promise<ReadableQuery> | undefined;
      const shared = (): Promise<ReadableQuery> => {
        query ??= parameterTypes(connections, compiled.sql).then((types) => {
          const isCertain = statement.build.joint?.certain === true;
          return new ReadableQuery(`${name}_shared`, sharedSql(compile(statement, sharedBuilder), types, isCertain));
        });
        // The callers that await it get the error; the next call prepares the statement again.
        query.catch(() => statements.delete(statement));
        return query;
      };
      prepared = { ...compiled, alone: new ReadableQuery(name, compiled.sql), shared };
      statements.set(statement, prepared);
    }
    return prepared;
  };
}

/** The values of all callers, as the SQL for many takes them: a list for each parameter. */
export const listsOf = (
  { placeholders }: SharedStatement,
  callers: readonly { readonly values: readonly unknown[] }[],
): string[] => Array.from({ length: placeholders }, (_, index) => listOf(callers.map(({ values }) => values[index])));

/** The types that PostgreSQL infers for the parameters of a statement. In a transaction, since a pooler may lead each to another connection. */
function parameterTypes(connections: Connections, sql: string): Promise<readonly string[]> {
  // Random, because the connections of a pooler are shared with other processes.
  const name = `types_${randomSecret()}`;
  const texts = [
    'BEGIN',
    `PREPARE "${name}" AS ${sql}`,
    `SELECT parameter_types::text[] AS types FROM pg_prepared_statements WHERE name = '${name}'`,
    `DEALLOCATE "${name}"`,
    'COMMIT',
  ];
  return connections.lend(deadline(), async (ask) => {
    const answers = texts.map((text) => ask({ text }));
    await Promise.allSettled(answers);
    const [, , selected] = await Promise.all(answers);
    const rows: readonly { types: string[] }[] = selected?.rows ?? [];
    return rows[0]?.types ?? [];
  });
}

/**
 * @param compiled the statement as {@link sharedBuilder} compiles it
 * @param isCertain whether it fails, by a division by zero, unless it returns a row for each caller
 */
function sharedSql({ sql, kind }: Compiled, types: readonly string[], isCertain: boolean): string {
  const lists = types.map((type, index) => `$${index + 1}::${type}[]`);
  const columns = [...types.map((_, index) => `p${index + 1}`), CALLER_NUMBER].join(', ');
  const caller = `WITH caller (${columns}) AS (SELECT * FROM unnest(${lists.join(', ')}) WITH ORDINALITY)`;
  if (isCertain)
    return `${caller}, changed AS (${sql}) SELECT 1 / (count(*) = (SELECT count(*) FROM caller))::int FROM changed`;
  if (kind === 'write') return `${caller} ${sql}`;
  // PostgreSQL does not estimate the length of a list in a subquery. Otherwise it would make a new plan for each list that is shorter than it
  // assumes, which takes longer than the lookups.
  const callers = `unnest(${lists.map((list) => `(SELECT ${list})`).join(', ')}) WITH ORDINALITY`;
  // OFFSET keeps the query for one caller as it is, and so its indexes. Otherwise PostgreSQL may join the callers to a whole table.
  return `SELECT q.*, caller.${CALLER_NUMBER} FROM ${callers} AS caller (${columns}) CROSS JOIN LATERAL (SELECT * FROM (${sql}) AS q OFFSET 0) AS q`;
}
