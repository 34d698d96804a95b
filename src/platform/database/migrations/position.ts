import { UnusableDatabase } from '../database.ts';
import type { Timeline } from './timeline.ts';

/** A later version has migrated the database, so this version cannot read it. */
export class NewerDatabase extends Error {
  override readonly name = 'NewerDatabase';
}

/** Which migrations of a timeline a database lacks. */
export interface MigrationState {
  /** The migrations that have not run yet, in their order. */
  readonly pending: readonly string[];
  /** Why this version cannot use the database, with the remedy; undefined if it can. */
  readonly obstacle: NewerDatabase | UnusableDatabase | undefined;
}

/** Compares the applied migrations with a timeline: used by a start, `migrate` and `doctor` alike. */
export function migrationState(applied: readonly string[], steps: Timeline): MigrationState {
  const names = Object.keys(steps);
  const pending = names.filter((name) => !applied.includes(name));
  const unknown = applied.filter((name) => !Object.hasOwn(steps, name));
  if (unknown.length > 0) {
    const obstacle = new NewerDatabase(
      `The database was changed by a later version of Tessera (${unknown.join(', ')}). ` +
        'Run that version or a later one, or restore a backup from before.',
    );
    return { pending, obstacle };
  }
  const gap = pending.find((name, index) => name !== names[applied.length + index]);
  if (gap !== undefined) {
    const obstacle = new UnusableDatabase(
      `The migration ${gap} never ran on this database, and later ones did. Restore a backup: no version of Tessera causes this.`,
    );
    return { pending, obstacle };
  }
  return { pending, obstacle: undefined };
}
