/** Tells the time in milliseconds since the Unix epoch. Injected everywhere, so that a test can move it. */
export type Clock = () => number;

export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/**
 * How far the clocks of two nodes may lie apart before what one removes could still be needed by the other. `tessera doctor`
 * reports a tenth of that as a problem.
 */
export const NODE_CLOCK_TOLERANCE = 5 * MINUTE;

/** What this service dated may lie so far in a node's future: the clocks of nodes differ a little (RFC 7519 §4.1.4). */
export const CLOCK_SKEW = MINUTE;

/**
 * How far the clock of a node may be from the database's. A node beyond that is not ready, deletes nothing and decides nothing by
 * its clock. `tessera doctor` reports the same distance as a problem.
 */
export const MAX_CLOCK_OFFSET = 30 * SECOND;

/** A clock is wrong, so a decision that depends on it may be, too. Requests that meet this get 503, never a refusal for good. */
export class WrongClock extends Error {}

/** The clock of this node differs too much from the database's. */
export class ClockOutOfSync extends WrongClock {
  override readonly name = 'ClockOutOfSync';
  constructor(offset: number) {
    const distance = `${Math.round(Math.abs(offset) / SECOND)} s ${offset > 0 ? 'ahead of' : 'behind'}`;
    super(`The clock of this node is ${distance} the database's. Let both machines keep their time with NTP.`);
  }
}

/** What this service dated lies in the future. */
export class ClockBehind extends WrongClock {
  override readonly name = 'ClockBehind';
  constructor(by: number) {
    super(
      `The clock of this node went back, or another node's is ahead: it met something dated ${Math.round(by / SECOND)} s from ` +
        'now. Let all machines keep their time with NTP.',
    );
  }
}

/**
 * Proves that an instant which this service wrote down has come.
 * @throws {ClockBehind} so that a credential is neither accepted nor refused for good by a clock that is wrong
 */
export function requirePast(instant: number, now: number): void {
  if (instant > now + CLOCK_SKEW) throw new ClockBehind(instant - now);
}

/** NumericDate of RFC 7519 §2: whole seconds since the Unix epoch. */
export const numericDate = (instant: number): number => Math.floor(instant / SECOND);

/** An instant as the API writes it: ISO 8601, in UTC. */
export const iso = (instant: number): string => new Date(instant).toISOString();

/** The same for what may not have happened. */
export const isoOrNull = (instant: number | null): string | null => (instant === null ? null : iso(instant));

/** A clock that all nodes of a database share; its time is null where there is none but the machine's. */
export interface SharedClock {
  sharedTime(): Promise<number | null>;
}

/** How far the clock of this node is ahead of the shared one, in milliseconds: negative when behind, 0 where there is none. */
async function clockOffset(database: SharedClock, clock: Clock): Promise<number> {
  const asked = clock();
  const shared = await database.sharedTime();
  // Compared with the middle of the round trip.
  return shared === null ? 0 : (asked + clock()) / 2 - shared;
}

/**
 * The time that decides which rows have expired and may be deleted: the database's, if it has a clock.
 * @throws {ClockOutOfSync} when the clock of the node is too far from that
 * @throws {StoreUnavailable} when the database does not answer
 */
export async function databaseTime(database: SharedClock, clock: Clock): Promise<number> {
  const offset = await clockOffset(database, clock);
  if (Math.abs(offset) > MAX_CLOCK_OFFSET) throw new ClockOutOfSync(offset);
  return Math.round(clock() - offset);
}

/** Compares the clock of this node with the shared one. */
export interface ClockWatch {
  /**
   * The clock of this node, for decisions.
   * @throws {ClockOutOfSync} while it is known to be wrong: it would expire tokens too early or too late
   */
  readonly clock: Clock;
  /** Compares the clocks now, and returns the offset in milliseconds: positive when this node is ahead. */
  compare(): Promise<number>;
  stop(): void;
}

const COMPARISON_INTERVAL = 10 * SECOND;

/** Compares the clocks now and every ten seconds. While the database does not answer, the last known offset applies. */
export async function startClockWatch(database: SharedClock, clock: Clock): Promise<ClockWatch> {
  let offset = 0;
  async function compare(): Promise<number> {
    offset = await clockOffset(database, clock);
    return offset;
  }
  const compareIfPossible = () => compare().catch(() => offset);
  await compareIfPossible();
  const timer = setInterval(compareIfPossible, COMPARISON_INTERVAL);
  timer.unref();
  return {
    clock() {
      if (Math.abs(offset) > MAX_CLOCK_OFFSET) throw new ClockOutOfSync(offset);
      return clock();
    },
    compare,
    stop: () => clearInterval(timer),
  };
}
