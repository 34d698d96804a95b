/** The epoch of Tessera's ids: 2024-01-01T00:00:00Z. */
export const SNOWFLAKE_EPOCH = 1_704_067_200_000;

/** How many node numbers there are. */
export const NODES = 1024;

/** One id: 41 bits of milliseconds since the epoch, 10 bits of node, 12 bits of sequence, as a decimal string. */
export function snowflake(instant: number, node: number, sequence: number): string {
  return ((BigInt(instant - SNOWFLAKE_EPOCH) << 22n) | (BigInt(node) << 12n) | BigInt(sequence)).toString();
}

/** Whether a text is written as an id is: a positive decimal number of at most 63 bits without leading zeros. */
export function isSnowflake(text: string): boolean {
  // Of two numbers with as many digits the texts compare as the numbers do.
  return /^[1-9]\d{0,18}$/.test(text) && (text.length < 19 || text <= '9223372036854775807');
}

/** The last id of a node: which millisecond, and how many in it. */
export interface Tick {
  readonly instant: number;
  readonly sequence: number;
}

/** The tick after `last` at time `now`: never the same again, also when the clock stepped back or a millisecond is full. */
export function nextTick(last: Tick, now: number): Tick {
  if (now > last.instant) return { instant: now, sequence: 0 };
  if (last.sequence < 4095) return { instant: last.instant, sequence: last.sequence + 1 };
  return { instant: last.instant + 1, sequence: 0 };
}
