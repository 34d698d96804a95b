import { NODES } from '../../../platform/ids/lease.ts';
import { type Finding, ok, problem, warning } from '../finding.ts';

const MANY = 512;
const NEARLY_ALL = 900;

const REMEDY =
  'Stop nodes that are not needed, and look in the logs for processes that crash repeatedly. Their numbers become free at the next ' +
  'start on the same machine, elsewhere after two minutes.';

/**
 * Judges how many node numbers are leased. A node without one cannot generate ids, and nobody can sign in there.
 * @param held undefined if the database could not be read
 */
export function judgeNodeNumbers(held: number | undefined): Finding[] {
  if (held === undefined) return [];
  const found = `${held} of ${NODES} node numbers are leased, one for each process that generates ids.`;
  if (held >= NEARLY_ALL) return [problem('node-numbers', found, REMEDY)];
  return [held >= MANY ? warning('node-numbers', found, REMEDY) : ok('node-numbers', found)];
}
