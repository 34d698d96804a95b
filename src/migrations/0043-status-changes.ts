import type { ColumnTypes } from '../platform/database/migrations/kinds.ts';

/** Who barred accounts or let them in again, and what barred them before: it is put back with the end of who let them in. */
export const statusChanges = ({ int, options, serial }: ColumnTypes): readonly string[] => [
  `CREATE TABLE status_change (
    id ${serial},
    account_id ${int} NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    operator_id ${int},
    former TEXT NOT NULL,
    acted_at ${int} NOT NULL
  ) ${options}`,
  'CREATE INDEX status_change_by_account ON status_change (account_id, id)',
  'CREATE INDEX status_change_by_time ON status_change (acted_at)',
];
