import { DAY, SECOND } from '../platform/clock.ts';
import type { Database } from '../platform/database/database.ts';
import { countNextEvents, removeOldCounts } from './count-store.ts';

/** How many events one commit counts: few enough that other requests do not wait for it. */
const BATCH = 1000;
/** How many commits there are in a row. The rest is counted the next time. */
const BATCHES = 100;
/** Events younger than this wait: one that got its id before may be written after it. */
const LAG = 5 * SECOND;
/** For how long the counts are kept. */
const KEPT = 35 * DAY;

/** Counts what has happened since the last time, by the hour. Any node may do so, as often as it likes. */
export async function countEvents(database: Database, now: number): Promise<void> {
  for (let batch = 0; batch < BATCHES; batch++) {
    const counted = await database.commit(() => countNextEvents({ until: now - LAG, limit: BATCH }));
    if (counted < BATCH) break;
  }
  await database.commit(() => removeOldCounts(now - KEPT));
}
