import { removals } from '../../src/operations/housekeeping/removal-store.ts';
import type { Row, Work } from '../../src/platform/database/database.ts';
import { type Compiled, compile } from '../../src/platform/database/statement.ts';

/** A row of whatever is due, with every column that a removal reads before it goes on. */
const DUE: Row = {
  ...{ id: '1', grant_id: '2', at: 0, leaf_expires_at: 0, created_at: 0 },
  ...{ account_id: '3', client_id: '4', member_id: null, assignment_id: '5', ended_at: 0, deleted_at: 0 },
  ...{ assigned_id: '3', group_id: null, organization_id: null, sid: 'sid', latest: 0 },
  ...{ rotated_at: null, dead_reason: null, revoked_at: null, expires_at: null, last_seen_at: null },
};

/** Every statement with which housekeeping looks for rows and removes them. */
export function removalStatements(
  builder: Parameters<typeof compile>[1],
): readonly { readonly table: string; readonly compiled: Compiled; readonly params: Row }[] {
  const found: { table: string; compiled: Compiled; params: Row }[] = [];
  const collect = (table: string, work: Work<unknown>): void => {
    for (let step = work.next(); !step.done; step = work.next([DUE])) {
      const { statement, params } = step.value;
      found.push({ table, compiled: compile(statement, builder), params });
    }
  };
  for (const { table, batch, oldest } of removals({ events: 1000, steps: 1000 })) {
    collect(table, batch({ now: 2 ** 40, before: 2 ** 40, limit: 100 }));
    collect(table, oldest({ before: 2 ** 40 }));
  }
  return found;
}
