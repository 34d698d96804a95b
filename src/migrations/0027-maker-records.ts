import type { ColumnTypes } from '../platform/database/migrations/kinds.ts';
import { addIndexes } from '../platform/database/migrations/kinds.ts';

/**
 * What operators did to other providers, and whom they let in: it ends with what else they made. `changes` has what fields had before, and
 * after.
 */
export const makerRecords = ({ int, options, serial }: ColumnTypes): readonly string[] => [
  `CREATE TABLE upstream_act (
    id ${serial},
    upstream_id ${int} NOT NULL REFERENCES upstream (id) ON DELETE CASCADE,
    operator_id ${int} NOT NULL,
    kind TEXT NOT NULL,
    changes TEXT NOT NULL DEFAULT '[]',
    acted_at ${int} NOT NULL,
    UNIQUE (operator_id, upstream_id, kind)
  ) ${options}`,
  'CREATE INDEX upstream_act_by_upstream ON upstream_act (upstream_id)',
  `ALTER TABLE app_assignment ADD COLUMN maker_id ${int}`,
  `ALTER TABLE app_assignment ADD COLUMN made_at ${int}`,
  `ALTER TABLE group_member ADD COLUMN maker_id ${int}`,
  `ALTER TABLE membership ADD COLUMN maker_id ${int}`,
  `ALTER TABLE membership ADD COLUMN made_at ${int}`,
];

/** What an operator made is found by them. */
export const makerIndexes = addIndexes(
  { name: 'app_assignment_by_maker', table: 'app_assignment', columns: 'maker_id, id', where: 'maker_id IS NOT NULL' },
  { name: 'group_member_by_maker', table: 'group_member', columns: 'maker_id, id', where: 'maker_id IS NOT NULL' },
  { name: 'membership_by_maker', table: 'membership', columns: 'maker_id, id', where: 'maker_id IS NOT NULL' },
);
