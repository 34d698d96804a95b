import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { afterEach } from 'node:test';

/** Tables that do not grow with people and what they do: one row for each key, process or other provider, or only what still waits. */
const SMALL: ReadonlySet<string> = new Set([
  'admin_key',
  'id_token_key',
  'key_set',
  'logout_notice',
  'node_lease',
  'signing_key',
  'upstream',
]);

/** Asked once for each start of a process: clients whose origins are not on record yet. */
const AT_START = /^select "c"\."id", "c"\."redirect_uris" from "client" as "c" left join "client_origin"/;

/** The row at one end of a table. */
const AT_AN_END = /^select [^()]+ from "\w+"(?: as "\w+")? order by (?:"\w+"\.)?"id"(?: desc)? limit \?$/;

/** A look at everything, which only a test takes. */
const WHOLE = /^select \* from "\w+"$/;

/** Everything that was issued ends: when a backup is restored, on a database that no server uses yet. */
const EVERYTHING =
  /^(?:update "client" set "generation" = \?|delete from "interaction"|delete from "authorization_code" where "redeemed_at" is null|delete from "invitation" where "used_at" is null|delete from "challenge" where "account_id" is null|delete from "mail_request"|update "initial_access_token" set "revoked_at" = \? where "revoked_at" is null|update "client" set "registration_hash" = \? where "registration_hash" is not null)$/;

/** Queries of the service; others write SQL by hand. */
const BUILT = /^(?:delete|insert|select|update|with) /;

/**
 * What is wrong with how SQLite would run a statement: it goes through a table that grows with people, or through all rows that
 * have not ended. So the index that a query needs cannot go unnoticed, for tables are small wherever tests run.
 * @param plan the details of `EXPLAIN QUERY PLAN`: https://www.sqlite.org/eqp.html
 * @returns undefined where it goes by an index
 */
export function planProblem(sql: string, plan: readonly string[]): string | undefined {
  if (!BUILT.test(sql) || [AT_START, AT_AN_END, WHOLE, EVERYTHING].some((known) => known.test(sql))) return undefined;
  const tables = new Map([...sql.matchAll(/"(\w+)" as "(\w+)"/g)].map(([, table, alias]) => [alias, table]));
  const common = new Set([...sql.matchAll(/"(\w+)"\("\w+"\) as \(/g)].map(([, name]) => name));
  // The rows that a subquery has found: how it finds them is in the plan as well.
  const derived = new Set([...sql.matchAll(/\) as "(\w+)"/g)].map(([, name]) => name));
  for (const [, table] of sql.matchAll(/\b(?:from|join) "(\w+)"/g)) derived.delete(table);
  return plan.find((detail) => {
    const scanned = /^SCAN (?!CONSTANT ROW)(\w+)/.exec(detail)?.[1];
    if (scanned !== undefined)
      return !SMALL.has(tables.get(scanned) ?? scanned) && !common.has(scanned) && !derived.has(scanned);
    return /_by_end \(\w+>\?/.test(detail);
  });
}

const prepare = DatabaseSync.prototype.prepare;

/** How the database of a connection would run a statement. */
export const planOf = (connection: DatabaseSync, sql: string): readonly string[] =>
  prepare
    .call(connection, `EXPLAIN QUERY PLAN ${sql}`)
    .all()
    .map(({ detail }) => String(detail));

// Only where tests run: the test during which a statement was first prepared fails.
if (process.env['NODE_TEST_CONTEXT'] !== undefined) {
  const seen = new Set<string>();
  const found: string[] = [];
  DatabaseSync.prototype.prepare = function (sql, ...more) {
    const prepared = prepare.call(this, sql, ...more);
    if (!seen.has(sql) && BUILT.test(sql)) {
      seen.add(sql);
      const problem = planProblem(sql, planOf(this, sql));
      if (problem !== undefined) found.push(`${problem}: ${sql}`);
    }
    return prepared;
  };
  afterEach(() => assert.deepEqual(found.splice(0), [], 'statements that go through a whole table'));
}
