import type { Host, Identity } from './host.ts';

/** How far ids may run ahead of what the lease says of them, in milliseconds: 4,096 ids each. */
const AHEAD = 10;

/** The uptime of a machine is told in hundredths of a second. */
const UNCERTAINTY = 20;

/** The holder of a lease, as it stands in the database. */
export interface Holder {
  readonly id: string;
  /** The process, where another one could tell that it has ended. */
  readonly process?: Identity | undefined;
  /** The uptime of the machine when the lease was made, and the instant from which on it is for ids. */
  readonly uptime: number;
  readonly from: number;
}

/**
 * How far past the stopwatch of its process the ids of a lease may be. Ids go by the clock, which can be set; that they keep to the
 * stopwatch as well lets another process on the machine tell how far they can have come.
 * @param from the first instant of the lease
 * @param began what the stopwatch said then; the uptime of the machine was read before it
 */
export const leadOf = (host: Host, from: number, began: number): number =>
  host.self === undefined ? Number.POSITIVE_INFINITY : from + AHEAD - began;

/**
 * The instant that no id under a lease has reached, if its process has ended for certain.
 * @param endsAt when the lease runs out, at which no id has arrived either
 */
export function instantAfter(text: string, endsAt: number, host: Host): number | undefined {
  const holder = parseHolder(text);
  if (holder?.process === undefined || !host.hasEnded(holder.process)) return undefined;
  const elapsed = host.uptime() - holder.uptime + UNCERTAINTY;
  return Math.min(endsAt, Math.ceil(holder.from + AHEAD + elapsed) + 1);
}

export const formatHolder = (holder: Holder): string => JSON.stringify(holder);

/** Answers undefined for the holder of a lease of an earlier version. */
function parseHolder(text: string): Holder | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isHolder(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isHolder(value: unknown): value is Holder {
  if (typeof value !== 'object' || value === null) return false;
  const { process: other, uptime, from } = value as Partial<Holder>;
  return (
    typeof uptime === 'number' &&
    typeof from === 'number' &&
    typeof other?.machine === 'string' &&
    typeof other.pid === 'number' &&
    typeof other.started === 'string'
  );
}
