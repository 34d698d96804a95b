import { type Finding, ok, problem, warning } from '../finding.ts';
import type { ProbeReport } from '../probe.ts';

const REMEDY =
  'Make room on the disk of its standard output, or see that what reads it (a pipe, a collector) goes on. The requests are not affected.';

/** @param seen what the running service reported; undefined if it did not accept the probe, or was not asked */
export function judgeLog(seen: Pick<ProbeReport, 'log'> | undefined): Finding[] {
  if (seen === undefined) return [];
  const { dropped, lasts } = seen.log;
  if (dropped === 0) return [ok('log', 'The running service has written every line of its log.')];
  const count = `${dropped.toLocaleString('en')} ${dropped === 1 ? 'line' : 'lines'}`;
  if (lasts)
    return [problem('log', `The running service cannot write its log, and has dropped ${count} of it.`, REMEDY)];
  const found = `The running service has dropped ${count} of its log since it started, and writes it again.`;
  return [warning('log', found, REMEDY)];
}
