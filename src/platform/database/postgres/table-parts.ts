import { sql } from 'kysely';
import type { Row, TablePart, TableParts, Work } from '../database.ts';
import type { NewIndex } from '../migrations/kinds.ts';
import { command, many, one } from '../statement.ts';

/** How long a division waits for its locks, in milliseconds: others who need the table wait behind it. */
const PATIENCE = 100;

/** What the name of a part ends with: the last id that it can have. */
const SUFFIX = '_through_';

/**
 * The index that a part has beside those of the table, for all rows of one account. While rows are added, it would make each of them more
 * expensive to write, because they fall on pages all over it.
 */
const ACCOUNT_INDEX = '_by_account_and_id';

/** A statement that is written into the SQL as it is. */
const raw = (text: string) => command((db, _p: object) => ({ compile: () => sql<Row>`${sql.raw(text)}`.compile(db) }));

/**
 * Puts everything in a table aside under another name, with its indexes, and makes an empty one in its place, which inherits it.
 *
 * No row is moved or read. The numbers of the rows go on; the rights and settings that an operator gave the table are those of the
 * new one as well. The definitions that are executed are those of the table itself.
 */
const division = (table: string): string => `DO $division$
  DECLARE
    last bigint;
    part text;
    indexes text[];
    found record;
  BEGIN
    PERFORM set_config('lock_timeout', '${PATIENCE}', true);
    LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE;
    last := pg_sequence_last_value(pg_get_serial_sequence('${table}', 'id')::regclass);
    -- Another node has just divided it, or it never had a row.
    IF last IS NULL THEN
      RETURN;
    END IF;
    part := '${table}${SUFFIX}' || last;
    SELECT array_agg(pg_get_indexdef(indexrelid)) INTO indexes
      FROM pg_index WHERE indrelid = '${table}'::regclass AND NOT indisprimary;
    FOR found IN SELECT indexrelid::regclass AS name, relname FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
      WHERE indrelid = '${table}'::regclass LOOP
      EXECUTE format('ALTER INDEX %s RENAME TO %I', found.name, found.relname || '${SUFFIX}' || last);
    END LOOP;
    ALTER TABLE ${table} ALTER id DROP IDENTITY;
    EXECUTE format('ALTER TABLE ${table} RENAME TO %I', part);
    EXECUTE format('CREATE TABLE ${table} (LIKE %I INCLUDING DEFAULTS INCLUDING CONSTRAINTS)', part);
    ALTER TABLE ${table} ADD CONSTRAINT ${table}_pkey PRIMARY KEY (id);
    EXECUTE format('ALTER TABLE ${table} ALTER id ADD GENERATED ALWAYS AS IDENTITY (START WITH %s)', last + 1);
    FOR found IN SELECT unnest(indexes) AS definition LOOP
      EXECUTE found.definition;
    END LOOP;
    FOR found IN SELECT privilege_type, grantee, is_grantable FROM pg_class, aclexplode(relacl)
      WHERE oid = part::regclass AND grantee <> relowner LOOP
      EXECUTE format('GRANT %s ON ${table} TO %s%s', found.privilege_type,
        CASE found.grantee WHEN 0 THEN 'PUBLIC' ELSE found.grantee::regrole::text END,
        CASE WHEN found.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END);
    END LOOP;
    FOR found IN SELECT array_to_string(reloptions, ', ') AS options FROM pg_class
      WHERE oid = part::regclass AND reloptions IS NOT NULL LOOP
      EXECUTE format('ALTER TABLE ${table} SET (%s)', found.options);
    END LOOP;
    FOR found IN SELECT inhrelid::regclass AS name FROM pg_inherits WHERE inhparent = part::regclass LOOP
      EXECUTE format('ALTER TABLE %s NO INHERIT %I', found.name, part);
      EXECUTE format('ALTER TABLE %s INHERIT ${table}', found.name);
    END LOOP;
    EXECUTE format('ALTER TABLE %I INHERIT ${table}', part);
  END $division$`;

/** A statement on a part that does not wait long for its lock. */
const impatient = (statement: string): string => `DO $impatient$
  BEGIN
    PERFORM set_config('lock_timeout', '${PATIENCE}', true);
    ${statement};
  END $impatient$`;

/**
 * The parts of a table whose key is a generated `id`.
 *
 * They are children by inheritance, and not partitions by a range of the key: a partition would have to prove that its rows are within its
 * range, by a check that refuses later ones or by reading all of them under a lock, and there would have to be one for each new row. See
 * src/audit/README.md.
 * @param build builds an index outside of a transaction
 */
export function tableParts(table: 'audit_event', build: (index: NewIndex) => Promise<void>): TableParts {
  const parts = many(
    (db, _p: object) =>
      db
        .selectFrom(
          sql<{ name: string; through: string; note: string | null; indexed: boolean }>`(select relname::text as name,
            substr(relname, ${sql.lit(table.length + SUFFIX.length + 1)}) as through,
            obj_description(inhrelid, 'pg_class') as note,
            coalesce((select indisvalid from pg_index where indrelid = inhrelid and indexrelid =
              to_regclass(${sql.lit(table + ACCOUNT_INDEX)} || substr(relname, ${sql.lit(table.length + 1)}))), false) as indexed
            from pg_inherits join pg_class on pg_class.oid = inhrelid
            where inhparent = to_regclass(${sql.lit(table)}))`.as('part'),
        )
        .select(['part.name', 'part.through', 'part.note', 'part.indexed']),
    ({ name, through, note, indexed }): TablePart => ({
      name,
      through,
      dueSince: /^\d+$/.test(note ?? '') ? Number(note) : null,
      isIndexed: indexed,
    }),
  );
  // Only the owner may divide a table, and the new one must be where the statements look for it.
  const mayDivide = one((db, _p: object) =>
    db
      .selectFrom(
        sql<{ may: boolean }>`(select pg_get_userbyid(relowner) = current_user
          and relnamespace = to_regnamespace(quote_ident(current_schema()))
          and has_schema_privilege(relnamespace, 'CREATE') as may
          from pg_class where oid = to_regclass(${sql.lit(table)}))`.as('own'),
      )
      .select('own.may'),
  );
  const divide = raw(division(table));
  const isPart = ({ name, through }: TablePart) => /^\d+$/.test(through) && name === `${table}${SUFFIX}${through}`;
  /** A statement is prepared under a name of its own, so each is made once. */
  const made = new Map<string, () => Work<void>>();
  function check(part: TablePart): void {
    if (!isPart(part)) throw new TypeError(`${part.name} is not a part of ${table}`);
  }
  function change(part: TablePart, text: string): Work<void> {
    check(part);
    const run = made.get(text) ?? raw(impatient(text)).bind(undefined, {});
    made.set(text, run);
    return run();
  }
  return {
    *list() {
      const found = (yield* parts({})).filter(isPart);
      return found.sort((a, b) => Number(BigInt(a.through) - BigInt(b.through)));
    },
    *mayDivide() {
      return (yield* mayDivide({}))?.may === true;
    },
    divide: () => divide({}),
    noteDue: (part, since) =>
      change(part, `COMMENT ON TABLE ${part.name} IS ${since === null ? 'NULL' : `'${Math.floor(since)}'`}`),
    drop: (part) => change(part, `DROP TABLE ${part.name}`),
    async index(part) {
      check(part);
      const name = `${table}${ACCOUNT_INDEX}${SUFFIX}${part.through}`;
      await build({ name, table: part.name, columns: 'account_id, id' });
    },
  };
}
