import { MINUTE } from '../platform/clock.ts';
import { type Database, StoreUnavailable } from '../platform/database/database.ts';
import { type AuditEvent, record } from './audit.ts';

/** Within this time one node records the same once, and so many of one type in all. */
const WINDOW = MINUTE;
const MOST = 100;

/** Records a refusal that cost its caller nothing, unless the like of it was recorded a moment ago. */
export type Note = (event: AuditEvent) => Promise<void>;

/**
 * Refusals that anybody can bring about by the thousand must not each become a write. Of those of one type, reason, address,
 * client and account the first in a minute is recorded, and with the next one how many were left out; of all of one type a
 * hundred in a minute. Each node counts by itself, in memory: what is lost with it are repetitions.
 * No refusal depends on its record: where the store cannot write, it is refused without.
 */
export function notes(database: Pick<Database, 'commit'>): Note {
  let began = 0;
  /** By type, how often each thing was left out: in this window, and in the one before. */
  let noted = new Map<string, Map<string, number>>();
  let before: typeof noted = new Map();
  return async function note(event) {
    const { at, origin, type, clientId, accountId, details } = event;
    if (at < began || at >= began + WINDOW) {
      before = noted;
      noted = new Map();
      began = at;
    }
    const key = [details?.['reason'], origin.address, clientId, accountId].join(' ');
    const ofType = noted.get(type) ?? new Map<string, number>();
    noted.set(type, ofType);
    const repeated = ofType.get(key);
    if (repeated !== undefined) return void ofType.set(key, repeated + 1);
    if (ofType.size >= MOST) return;
    ofType.set(key, 0);
    const leftOut = before.get(type)?.get(key) ?? 0;
    try {
      await database.commit(() => record(leftOut === 0 ? event : { ...event, details: { ...details, leftOut } }));
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      ofType.delete(key);
    }
  };
}
