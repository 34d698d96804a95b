import { type Database, StoreUnavailable, type TableParts } from '../../src/platform/database/database.ts';

/** The parts of the audit trail of a database that can have some. */
export function partsOf({ auditParts }: Database): TableParts {
  if (auditParts === undefined) throw new Error('this database keeps the trail in one');
  return auditParts;
}

/** Puts all events aside as a part. Statements of the test itself may hold the table for longer than an instant on a busy machine. */
export const divideTrail = (database: Database): Promise<void> =>
  untilFree(() => database.commit(() => partsOf(database).divide()));

/** Has each part get its index by account, and waits for those that housekeeping builds. */
export async function indexParts(database: Database): Promise<void> {
  const parts = partsOf(database);
  for (const part of await database.read(() => parts.list())) await untilFree(() => parts.index(part));
}

async function untilFree(attempt: () => Promise<void>): Promise<void> {
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
    }
  }
}
