import type { Host, ProcessIdentity } from './host.ts';

/** How many node numbers there are. */
export const NODES = 1024;

/** How far the instants of ids may be ahead of what the lease records, in milliseconds; each has room for 4,096 ids. */
const AHEAD = 10;

/** The resolution of a machine's uptime is a hundredth of a second; this is twice that, in milliseconds. */
const UNCERTAINTY = 20;

/** The holder of a lease, as stored in the database. */
export interface LeaseHolder {
  readonly id: string;
  /** The process, if other processes can tell whether it has ended. */
  readonly process?: ProcessIdentity | undefined;
  /** The uptime of the machine when the lease was made. */
  readonly uptime: number;
  /** The first instant for ids. */
  readonly from: number;
}

/**
 * How far the instants of a lease's ids may be ahead of the stopwatch of the process. Ids follow the clock, which can be set. Bounded
 * by the stopwatch as well, another process on the machine can tell how far they can have advanced.
 * @param from the first instant of the lease
 * @param stopwatch the stopwatch when the lease was made, read after the uptime of the machine
 */
export const maxLead = (host: Host, from: number, stopwatch: number): number =>
  host.self === undefined ? Number.POSITIVE_INFINITY : from + AHEAD - stopwatch;

/**
 * The earliest instant that is certainly after all ids of a lease; undefined unless its process has ended for certain.
 * @param text the stored holder
 * @param endsAt when the lease expires, which all of its ids precede
 */
export function endOfLease(text: string, endsAt: number, host: Host): number | undefined {
  const holder = parseHolder(text);
  if (holder?.process === undefined || !host.hasEnded(holder.process)) return undefined;
  const elapsed = host.uptime() - holder.uptime + UNCERTAINTY;
  return Math.min(endsAt, Math.ceil(holder.from + AHEAD + elapsed) + 1);
}

export const formatHolder = (holder: LeaseHolder): string => JSON.stringify(holder);

/** Undefined for a holder in another form. */
function parseHolder(text: string): LeaseHolder | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isHolder(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isHolder(value: unknown): value is LeaseHolder {
  if (typeof value !== 'object' || value === null) return false;
  const { process: other, uptime, from } = value as Partial<LeaseHolder>;
  return (
    typeof uptime === 'number' &&
    typeof from === 'number' &&
    typeof other?.machine === 'string' &&
    typeof other.pid === 'number' &&
    typeof other.started === 'string'
  );
}
