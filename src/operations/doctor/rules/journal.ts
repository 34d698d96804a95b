import { type Finding, tabulate } from '../finding.ts';
import type { DatabaseSight } from './database.ts';

/**
 * Judges the files next to an embedded database after an unclean shutdown.
 * @param live whether a server answers, which then has the file open
 */
export function judgeJournal(sight: DatabaseSight, live: boolean): Finding[] {
  if (sight.kind !== 'there' || sight.facts.kind !== 'sqlite') return [];
  const { path, journal, mark } = sight.facts;
  return tabulate('database', [
    // The mark of a running server may be a moment behind.
    [
      mark === 'behind' && !live && 'warning',
      `${path}-mark is behind the database: it could not be written, so the loss of newer changes would not be detected.`,
      'Make it writable for the user of the server. The next start writes it again.',
    ],
    [
      mark === 'unreadable' && 'warning',
      `${path}-mark is damaged: missing changes cannot be detected.`,
      'Compare the latest events (tessera events) with what you expect. The next start writes the mark again.',
    ],
    [
      journal > 0 && !live && 'warning',
      `${path}-wal contains changes that are not in the file yet, and no server answers: it was not shut down cleanly, or it answers elsewhere.`,
      'Keep the two files together. The next start applies the changes, and reports missing ones.',
    ],
  ]);
}
