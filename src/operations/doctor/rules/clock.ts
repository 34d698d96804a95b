import { MAX_CLOCK_OFFSET } from '../../../platform/clock.ts';
import { type Finding, ok, problem, warning } from '../finding.ts';

const SECOND = 1000;

/** A clock to compare with this machine's. */
export interface OtherClock {
  readonly whose: string;
  /** How far it is ahead, in milliseconds; negative if it is behind. */
  readonly ahead: number;
}

const REMEDY = 'Synchronize all machines with NTP, for example with chrony or systemd-timesyncd.';

/** Expiry, bans and limits depend on the clock of each node, so nodes with different clocks answer differently. */
export function judgeClocks(clocks: readonly OtherClock[]): Finding[] {
  if (clocks.length === 0) return [ok('clock', 'There is no other clock to compare this machine’s with.')];
  const findings = clocks.flatMap(({ whose, ahead }) => {
    const distance = Math.abs(ahead);
    if (distance <= 5 * SECOND) return [];
    const found = `The clock of ${whose} is ${Math.round(distance / SECOND)} s ${ahead > 0 ? 'ahead of' : 'behind'} this machine’s.`;
    return [distance > MAX_CLOCK_OFFSET ? problem('clock', found, REMEDY) : warning('clock', found, REMEDY)];
  });
  if (findings.length > 0) return findings;
  const names = clocks.map(({ whose }) => whose).join(' and ');
  return [ok('clock', `The clock of this machine agrees with that of ${names} within 5 s.`)];
}
