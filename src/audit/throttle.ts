import { MINUTE } from '../platform/clock.ts';
import { type Database, StoreUnavailable } from '../platform/database/database.ts';
import { type AuditEvent, record } from './audit.ts';

/** Within a window, a node records equal events once, and at most so many events of one type. */
const WINDOW = MINUTE;
const MAX_PER_TYPE = 100;

/** Records a refusal that costs its caller nothing, unless an equal one was recorded within the last minute. */
export type RecordThrottled = (event: AuditEvent) => Promise<void>;

/**
 * Keeps refusals that anyone can cause in great number from becoming a write each. Of events with the same type, reason, address, client
 * and account, the first in a minute is recorded; the next recorded one tells how many were left out. At most a hundred events of
 * one type are recorded in a minute. Each node counts in memory, so a restart loses only counts of repetitions.
 *
 * A refusal does not depend on its record: when the store cannot write, it is refused unrecorded.
 */
export function throttledRecorder(database: Pick<Database, 'commit'>): RecordThrottled {
  let windowStart = 0;
  /** By type and event, how many were left out: in this window, and in the previous one. */
  let leftOut = new Map<string, Map<string, number>>();
  let leftOutBefore: typeof leftOut = new Map();

  return async function recordThrottled(event) {
    const { at, origin, type, clientId, accountId, details } = event;
    // A clock that was set back starts a new window, too.
    if (at < windowStart || at >= windowStart + WINDOW) {
      leftOutBefore = leftOut;
      leftOut = new Map();
      windowStart = at;
    }
    const key = [details?.['reason'], origin.address, clientId, accountId].join(' ');
    const ofType = leftOut.get(type) ?? new Map<string, number>();
    leftOut.set(type, ofType);
    const repeated = ofType.get(key);
    if (repeated !== undefined) return void ofType.set(key, repeated + 1);
    if (ofType.size >= MAX_PER_TYPE) return;
    ofType.set(key, 0);
    const before = leftOutBefore.get(type)?.get(key) ?? 0;
    try {
      await database.commit(() =>
        record(before === 0 ? event : { ...event, details: { ...details, leftOut: before } }),
      );
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      ofType.delete(key);
    }
  };
}
