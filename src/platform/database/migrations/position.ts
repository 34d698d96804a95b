import { UnusableDatabase } from '../database.ts';
import type { Timeline } from './timeline.ts';

/** The database has steps of a later version behind it: this one does not know what it would read. */
export class NewerDatabase extends Error {
  override readonly name = 'NewerDatabase';
}

/** How far a database has come on a timeline. */
export interface MigrationState {
  /** The steps that are still to run, in their order. */
  readonly pending: readonly string[];
  /** What keeps this version from using the database, with the remedy; undefined where nothing does. */
  readonly obstacle: NewerDatabase | UnusableDatabase | undefined;
}

/** Where a database stands, by the names of the steps that ran on it: for the start, `migrate` and `doctor` alike. */
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
      `The migration ${gap} never ran on this database, and later ones did. Restore a backup: no version leaves it so.`,
    );
    return { pending, obstacle };
  }
  return { pending, obstacle: undefined };
}
