import { addIndexes } from './kinds.ts';
import type { ColumnTypes } from './timeline.ts';

/**
 * What the order of sending goes by: whether people wait for a message, and the domain that receives it. A message of the version before
 * counts as one that they wait for, and stands in a lane of its own.
 */
export const mailLanes = (_: ColumnTypes): readonly string[] => [
  'ALTER TABLE mail ADD COLUMN priority INTEGER NOT NULL DEFAULT 0',
  "ALTER TABLE mail ADD COLUMN recipient_domain TEXT NOT NULL DEFAULT '-'",
];

/** By these, dispatchers find the next message, also behind many to one domain, and notices find those of their account that wait. */
export const mailLaneIndexes = addIndexes(
  { name: 'mail_by_priority', table: 'mail', columns: 'status, priority, (due_at + 0)' },
  { name: 'mail_by_lane', table: 'mail', columns: 'status, priority, recipient_domain, (due_at - 0)' },
  { name: 'mail_by_account', table: 'mail', columns: 'account_id, status' },
);
