import { removeUnused, UNUSED_LIFETIME } from '../../clients/self-registration.ts';
import { listUnusedAt, lockUnused, oldestUnusedAt, saveUnusedUntil } from '../../clients/self-registration-store.ts';
import { claim } from '../../limits/limits.ts';
import { HOUR } from '../../platform/clock.ts';
import type { Work } from '../../platform/database/database.ts';
import { findUsed, hasGrant, listAbandoned } from './registration-removal-store.ts';
import type { Batch, Ended, Removal } from './removal.ts';

/** Apps that registered themselves and that nobody has allowed in time. */
export const unusedApps: Removal = {
  table: 'client',
  kept: 0,
  *batch({ now, before, limit }: Ended): Work<Batch> {
    const due = yield* listUnusedAt({ before, limit });
    let removed = 0;
    for (const id of due) if (yield* removeUnused(id, now)) removed++;
    return { handled: due.length, removed };
  },
  oldest: ({ before }): Work<number | undefined> => oldestUnusedAt({ before }),
};

/** Once an hour: an app that everybody has taken the access from ends like one that nobody has allowed. */
export const abandonedApps: Removal = {
  table: 'client',
  kept: 0,
  *batch({ now, limit }: Ended): Work<Batch> {
    // Where there are none, nothing is written.
    const isDue = (yield* findUsed({ after: '0' })) !== undefined && (yield* claim('abandoned apps', HOUR, now));
    if (!isDue) return { handled: 0, removed: 0 };
    for (const id of yield* listAbandoned({ after: '0', limit })) {
      // With its lock: a person who allows it at this moment has done so then.
      const client = yield* lockUnused({ id });
      if (client === undefined || (yield* hasGrant({ clientId: id })) !== undefined) continue;
      yield* saveUnusedUntil({ id, until: now + UNUSED_LIFETIME });
    }
    return { handled: 0, removed: 0 };
  },
  // An app is not overdue: it has thirty days from here on.
  *oldest(): Work<undefined> {},
};
