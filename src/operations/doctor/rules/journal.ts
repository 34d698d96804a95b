import { type Finding, warning } from '../finding.ts';
import type { DatabaseSight } from './database.ts';

/**
 * What is beside the file of an embedded database after an end that was not in order.
 * @param live whether a server answers, which then has the file open
 */
export function judgeJournal(sight: DatabaseSight, live: boolean): Finding[] {
  if (sight.kind !== 'there' || sight.facts.kind !== 'sqlite') return [];
  const { path, journal, mark } = sight.facts;
  const findings: Finding[] = [];
  // A live server is a moment behind.
  if (mark === 'behind' && !live) {
    findings.push(
      warning(
        'database',
        `${path}-mark is behind the database: it could not be written, and would not tell that newer changes were lost.`,
        'Let the user of the server write to it. The next start writes it anew.',
      ),
    );
  }
  if (mark === 'unreadable') {
    findings.push(
      warning(
        'database',
        `${path}-mark is damaged: whether recorded changes are missing cannot be known.`,
        'Compare the newest of tessera events with what you know. The next start writes the mark anew.',
      ),
    );
  }
  if (journal > 0 && !live) {
    findings.push(
      warning(
        'database',
        `${path}-wal holds changes that the file lacks, and no server answers: one runs elsewhere, or its end was not in order.`,
        'Leave the two files together. The next start takes the changes in, and says so where some are missing.',
      ),
    );
  }
  return findings;
}
