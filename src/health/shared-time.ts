import { type Clock, SECOND } from '../clock.ts';
import type { Database } from '../database/database.ts';

/**
 * How far the clock of a node may be from the database's. Beyond that it deletes nothing and is not ready: what has ended by a
 * wrong clock has not ended. `tessera doctor` reports the same distance as a problem.
 */
export const LARGEST_OFFSET = 30 * SECOND;

/** The clock of this node is too far from the one that it shares with the others. */
export class ClockOff extends Error {
  override readonly name = 'ClockOff';
  constructor(offset: number) {
    const distance = `${Math.round(Math.abs(offset) / SECOND)} s ${offset > 0 ? 'ahead of' : 'behind'}`;
    super(`The clock of this node is ${distance} the database's. Let both machines keep their time with NTP.`);
  }
}

/** How far the clock of this node is ahead of the database's, in milliseconds; negative where it is behind, 0 where it is the same. */
export async function clockOffset(database: Pick<Database, 'sharedTime'>, clock: Clock): Promise<number> {
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
