import { type Clock, SECOND, WrongClock } from '../../platform/clock.ts';
import type { Database } from '../../platform/database/database.ts';

/**
 * How far the clock of a node may be from the database's. Beyond that it deletes nothing and is not ready: what has ended by a
 * wrong clock has not ended. `tessera doctor` reports the same distance as a problem.
 */
export const LARGEST_OFFSET = 30 * SECOND;

/** The clock of this node is too far from the one that it shares with the others. */
export class ClockOff extends WrongClock {
  override readonly name = 'ClockOff';
  constructor(offset: number) {
    const distance = `${Math.round(Math.abs(offset) / SECOND)} s ${offset > 0 ? 'ahead of' : 'behind'}`;
    super(`The clock of this node is ${distance} the database's. Let both machines keep their time with NTP.`);
  }
}

/** How far the clock of this node is ahead of the database's, in milliseconds; negative where it is behind, 0 where it is the same. */
async function clockOffset(database: Pick<Database, 'sharedTime'>, clock: Clock): Promise<number> {
  const asked = clock();
  const shared = await database.sharedTime();
  // What the answer took is halved: nobody knows on which way it was.
  return shared === null ? 0 : (asked + clock()) / 2 - shared;
}

/**
 * The time by which this node may delete what has ended: the database's, where it has a clock.
 * @throws {ClockOff} where the clock of the node is too far from that one
 * @throws {StoreUnavailable} where it cannot be asked
 */
export async function sharedTime(database: Pick<Database, 'sharedTime'>, clock: Clock): Promise<number> {
  const offset = await clockOffset(database, clock);
  if (Math.abs(offset) > LARGEST_OFFSET) throw new ClockOff(offset);
  return Math.round(clock() - offset);
}

/** Knows how far the clock of this node is from the shared one. */
export interface ClockWatch {
  /**
   * The clock of this node, for what is decided by it.
   * @throws {ClockOff} while it is known to be wrong: a token that has expired by it may live, and one that lives be dead
   */
  readonly clock: Clock;
  /** Compares the clocks now; see {@link clockOffset}. */
  compare(): Promise<number>;
  stop(): void;
}

const INTERVAL = 10 * SECOND;

/** Compares the clocks now and every ten seconds. Where the database cannot be asked, what was known last holds. */
export async function watchClock(database: Pick<Database, 'sharedTime'>, clock: Clock): Promise<ClockWatch> {
  let offset = 0;
  async function compare(): Promise<number> {
    offset = await clockOffset(database, clock);
    return offset;
  }
  const look = () => compare().catch(() => offset);
  await look();
  const timer = setInterval(look, INTERVAL);
  timer.unref();
  return {
    clock() {
      if (Math.abs(offset) > LARGEST_OFFSET) throw new ClockOff(offset);
      return clock();
    },
    compare,
    stop: () => clearInterval(timer),
  };
}
