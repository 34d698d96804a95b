import { many } from '../platform/database/statement.ts';
import { type AssignedTo, assignedTo } from './store.ts';

/** An assignment that an operator made, or whose role the operator changed. */
export interface MadeAssignment {
  readonly id: string;
  readonly clientId: string;
  readonly to: AssignedTo;
}

/** A part of what an operator made from one instant on, and before another one, in the order of its ids. */
export interface MakerPage {
  readonly madeBy: string;
  readonly since: number;
  readonly until: number;
  readonly after: string;
  readonly limit: number;
}

export const assignmentsMadeBy = many(
  (db, p: MakerPage) =>
    db
      .selectFrom('app_assignment')
      .select(['id', 'client_id', 'account_id', 'group_id', 'organization_id'])
      .where('maker_id', '=', p.madeBy)
      .where('made_at', '>=', p.since)
      .where('made_at', '<', p.until)
      .where('ended_at', 'is', null)
      .where('id', '>', p.after)
      .orderBy('id')
      .limit(p.limit),
  (row): MadeAssignment => ({ id: row.id, clientId: row.client_id, to: assignedTo(row) }),
);
