import { query } from '../../test/support/outcome.ts';
import type { TestServer } from '../../test/support/server.ts';

/** What a table holds, in rows and, with its indexes, in bytes. */
export interface TableSize {
  readonly rows: number;
  readonly bytes: number;
}

/** https://www.sqlite.org/dbstat.html: each table and index is a tree of pages. */
const SQLITE = `SELECT m.tbl_name AS name, sum(s.pgsize) AS bytes FROM dbstat s JOIN sqlite_schema m ON m.name = s.name
  WHERE m.tbl_name NOT LIKE 'sqlite%' GROUP BY m.tbl_name`;
const POSTGRES = `SELECT relname AS name, pg_total_relation_size(oid) AS bytes FROM pg_class
  WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace`;

/** The size of every table. */
export async function sizesOf(server: TestServer, store: 'SQLite' | 'PostgreSQL'): Promise<Map<string, TableSize>> {
  // The space of rows that were replaced is used again, as in a database that is in service.
  if (store === 'PostgreSQL') await query(server, 'VACUUM');
  const sizes = new Map<string, TableSize>();
  for (const { name, bytes } of await query(server, store === 'SQLite' ? SQLITE : POSTGRES)) {
    const [counted] = await query(server, `SELECT count(*) AS n FROM ${name}`);
    sizes.set(String(name), { rows: Number(counted?.['n']), bytes: Number(bytes) });
  }
  return sizes;
}
