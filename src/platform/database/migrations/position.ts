import { isLater, VERSION } from '../../version.ts';
import { UnusableDatabase } from '../database.ts';
import type { Timeline } from './kinds.ts';

/** The schema of the database needs a later version than this one. */
export class NewerDatabase extends Error {
  override readonly name = 'NewerDatabase';
}

/** The first migration of versions before 0.2.0, whose schema none of this version begins with. */
export const BEFORE_BASELINE = '0001-contract';

/** A migration that has run on a database. */
export interface AppliedMigration {
  readonly name: string;
  /** The earliest version that runs on its result; null if it only added to the schema. */
  readonly earliest: string | null;
}

/** A migration that has changed a part of its rows. */
export interface UnfinishedMigration {
  readonly name: string;
  readonly rowsDone: number;
}

/** How the schema of a database compares with the one of a timeline. */
export interface MigrationState {
  /** The migrations that have not run yet, in their order. */
  readonly pending: readonly string[];
  /** The migrations of later versions, beside which this version runs. */
  readonly later: readonly string[];
  /** Why this version cannot use the database, with the remedy; undefined if it can. */
  readonly obstacle: NewerDatabase | UnusableDatabase | undefined;
}

/** Compares the applied migrations with a timeline: used by a start, `migrate` and `doctor` alike. */
export function migrationState(
  applied: readonly AppliedMigration[],
  steps: Timeline,
  version: string = VERSION,
): MigrationState {
  const ran = new Set(applied.map(({ name }) => name));
  const names = Object.keys(steps);
  const pending = names.filter((name) => !ran.has(name));
  const unknown = applied.filter(({ name }) => !Object.hasOwn(steps, name));
  const later = unknown.map(({ name }) => name);
  if (ran.has(BEFORE_BASELINE)) {
    const obstacle = new UnusableDatabase(
      `A version of Tessera before 0.2.0 made the database, and this version (${version}) migrates those of 0.2.0 and later. ` +
        'Run the version that made it, or start with a new one: name another TESSERA_DATA_DIR or TESSERA_DATABASE_URL.',
    );
    return { pending, later: [], obstacle };
  }
  const missing = unknown.filter(({ earliest }) => earliest !== null && isLater(earliest, version));
  if (missing.length > 0) return { pending, later, obstacle: new NewerDatabase(describe(missing, version)) };
  // Migrations run in their order. Those of a later version run after all of this one.
  const gap = pending.find((name, index) => later.length > 0 || name !== names[names.length - pending.length + index]);
  if (gap !== undefined) {
    const obstacle = new UnusableDatabase(
      `The migration ${gap} never ran on this database, and later ones did. Restore a backup: no version of Tessera causes this.`,
    );
    return { pending, later, obstacle };
  }
  return { pending, later, obstacle: undefined };
}

function describe(missing: readonly AppliedMigration[], version: string): string {
  const names = missing.map(({ name }) => name).join(', ');
  const needed = missing.flatMap(({ earliest }) => earliest ?? []).reduce((a, b) => (isLater(b, a) ? b : a));
  return (
    `The database was changed by a later version of Tessera (${names}). Run that version: ` +
    `its schema needs ${needed} or later, and this is ${version}. Or restore a backup from before.`
  );
}
