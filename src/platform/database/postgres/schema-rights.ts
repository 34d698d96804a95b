import { DatabaseError } from 'pg';
import { UnusableDatabase } from '../database.ts';

/** What the user of a database may do with the schema of its tables. The names are quoted where SQL requires it. */
export interface SchemaRights {
  readonly user: string;
  /** `search_path`. */
  readonly path: string;
  /** The first schema of the path that exists and that the user may use; null if there is none. */
  readonly schema: string | null;
  /** Whether the user may create tables there. */
  readonly creates: boolean;
}

/** The columns of a SELECT that answers with {@link SchemaRights}. */
export const SCHEMA_RIGHTS =
  'quote_ident(current_user) AS "user", current_setting(\'search_path\') AS path, quote_ident(current_schema()) AS schema, ' +
  "coalesce(has_schema_privilege(current_schema(), 'CREATE'), false) AS creates";

/** Which right on which schema the user lacks, and the statement that grants it; undefined if none is missing. */
export function missingRight({
  user,
  path,
  schema,
  creates,
}: SchemaRights): { readonly found: string; readonly remedy: string } | undefined {
  if (schema === null) {
    return {
      found: `The user ${user} has no schema for its tables: those in its search_path (${path}) do not exist, or it may not use them.`,
      remedy: `Run as their owner: GRANT USAGE, CREATE ON SCHEMA public TO ${user}; or create one: CREATE SCHEMA AUTHORIZATION ${user};`,
    };
  }
  if (creates) return undefined;
  return {
    found: `The user ${user} may not create tables in the schema ${schema}.`,
    remedy: `Run as its owner: GRANT CREATE ON SCHEMA ${schema} TO ${user};`,
  };
}

/** @throws {UnusableDatabase} if the user may not create the tables of an empty database */
export function requireRightToCreate(rights: SchemaRights): void {
  const missing = missingRight(rights);
  if (missing !== undefined) throw new UnusableDatabase(`${missing.found} ${missing.remedy}`);
}

/** A connection, or a pool of them. */
interface Queryable {
  query(text: string): Promise<{ readonly rows: readonly unknown[] }>;
}

/** Explains that the user of a database lacks a right in it; returns other errors unchanged. */
export async function explainMissingRights(error: unknown, connection: Queryable): Promise<unknown> {
  // https://www.postgresql.org/docs/current/errcodes-appendix.html: insufficient privilege, and no schema to create in
  if (!(error instanceof DatabaseError) || !['42501', '3F000'].includes(error.code ?? '')) return error;
  const { rows } = await connection.query(`SELECT ${SCHEMA_RIGHTS}`);
  const [rights] = rows as readonly SchemaRights[];
  if (rights === undefined) return error;
  const { found, remedy } = missingRight(rights) ?? {
    found: `The user ${rights.user} lacks a right in the schema ${rights.schema} (${error.message}).`,
    remedy: `Its tables belong to another user: connect as that one, or make ${rights.user} their owner with ALTER TABLE … OWNER TO ${rights.user};`,
  };
  return new UnusableDatabase(`${found} ${remedy}`, { cause: error });
}
