import type { ColumnTypes } from '../platform/database/migrations/kinds.ts';

/** What operators did to accounts with which somebody may get in. Of each kind the last act counts, so there are few of each account. */
export const accountActs = ({ int, options, serial }: ColumnTypes): readonly string[] => [
  `CREATE TABLE account_act (
    id ${serial},
    account_id ${int} NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    operator_id ${int} NOT NULL,
    kind TEXT NOT NULL,
    acted_at ${int} NOT NULL,
    UNIQUE (account_id, kind)
  ) ${options}`,
  'CREATE INDEX account_act_by_operator ON account_act (operator_id, id)',
];
