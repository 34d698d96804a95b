import { DatabaseError } from 'pg';
import { UnusableDatabase } from '../database.ts';
import type { Queryable } from './start.ts';

const RIGHTS =
  "SELECT quote_ident(current_user) AS user, current_setting('search_path') AS path, quote_ident(current_schema()) AS schema, " +
  "coalesce(has_schema_privilege(current_schema(), 'CREATE'), false) AS creates";

interface Rights {
  readonly user: string;
  readonly path: string;
  /** The first schema of the path that exists and may be used. */
  readonly schema: string | null;
  readonly creates: boolean;
}

/** Which right the user of a database lacks, on which schema, and how it is granted. */
function remedyFor({ user, path, schema, creates }: Rights, message: string): string {
  if (schema === null) {
    return (
      `The user ${user} has no schema for its tables: it may use none of those in its search_path (${path}), or they do not exist. ` +
      `Run as their owner: GRANT USAGE, CREATE ON SCHEMA public TO ${user}; or give it one: CREATE SCHEMA AUTHORIZATION ${user};`
    );
  }
  if (!creates) {
    return (
      `The user ${user} may not create tables in the schema ${schema} (${message}). ` +
      `Run as its owner: GRANT CREATE ON SCHEMA ${schema} TO ${user};`
    );
  }
  return (
    `The user ${user} lacks a right in the schema ${schema} (${message}). ` +
    `Its tables belong to another user: connect as that one, or make ${user} their owner with ALTER TABLE … OWNER TO ${user};`
  );
}

/** Explains that the user of a database may not migrate it; returns other errors unchanged. */
export async function explainMissingRights(error: unknown, connection: Queryable): Promise<unknown> {
  // https://www.postgresql.org/docs/current/errcodes-appendix.html: insufficient privilege, and no schema to create in
  if (!(error instanceof DatabaseError) || !['42501', '3F000'].includes(error.code ?? '')) return error;
  const { rows } = await connection.query(RIGHTS);
  const [rights] = rows as readonly Rights[];
  return rights === undefined ? error : new UnusableDatabase(remedyFor(rights, error.message), { cause: error });
}
