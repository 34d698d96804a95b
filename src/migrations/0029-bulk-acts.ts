import type { ColumnTypes } from '../platform/database/migrations/kinds.ts';

/** Acts of operators on many people: the list that was shown before the act began, and what became of each person. */
export const bulkActs = ({ int, options }: ColumnTypes): readonly string[] => [
  `CREATE TABLE bulk_act (
    id ${int} PRIMARY KEY,
    account_id ${int} NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    sid TEXT NOT NULL,
    act TEXT NOT NULL,
    parameters TEXT NOT NULL,
    origin TEXT NOT NULL,
    state TEXT NOT NULL,
    unknown ${int} NOT NULL,
    total ${int} NOT NULL,
    due_at ${int} NOT NULL,
    created_at ${int} NOT NULL,
    ended_at ${int}
  ) ${options}`,
  'CREATE INDEX bulk_act_of_operator ON bulk_act (account_id, id)',
  "CREATE INDEX bulk_act_due ON bulk_act (due_at) WHERE state = 'running'",
  "CREATE INDEX bulk_act_unused ON bulk_act (created_at) WHERE state = 'frozen'",
  'CREATE INDEX bulk_act_by_age ON bulk_act (created_at)',
  `CREATE TABLE bulk_act_person (
    bulk_act_id ${int} NOT NULL REFERENCES bulk_act (id) ON DELETE CASCADE,
    number ${int} NOT NULL,
    account_id ${int} NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    outcome TEXT NOT NULL,
    reason TEXT,
    PRIMARY KEY (bulk_act_id, number)
  ) ${options}`,
  'CREATE INDEX bulk_act_person_by_outcome ON bulk_act_person (bulk_act_id, outcome, number)',
  'CREATE INDEX bulk_act_person_of_account ON bulk_act_person (account_id)',
];
