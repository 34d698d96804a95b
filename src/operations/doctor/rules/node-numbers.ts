import { NODES } from '../../../platform/ids/lease.ts';
import { type Finding, ok, problem, warning } from '../finding.ts';

const MANY = 512;
const NEARLY_ALL = 900;

const REMEDY =
  'Stop nodes that are not needed, and look in the logs for processes that end again and again without a stop: on the next start ' +
  'on the same machine their numbers come free at once, elsewhere within two minutes.';

/**
 * How many of the node numbers are held. Without one a node makes no ids, and people cannot sign in.
 * @param held undefined where the database could not be looked at
 */
export function judgeNodeNumbers(held: number | undefined): Finding[] {
  if (held === undefined) return [];
  const found = `${held} of ${NODES} node numbers are held, one for each process that makes ids.`;
  if (held >= NEARLY_ALL) return [problem('node-numbers', found, REMEDY)];
  return [held >= MANY ? warning('node-numbers', found, REMEDY) : ok('node-numbers', found)];
}
