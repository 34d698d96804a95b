import type { ColumnTypes } from '../platform/database/migrations/kinds.ts';

/**
 * Who changed a right that somebody had, or took it away, and what it was before: it is put back with what else they made. A right that was given
 * where there was none has a row only where another one of the same holder and place has.
 */
export const rightChanges = ({ int, options, serial }: ColumnTypes): readonly string[] => [
  `CREATE TABLE right_change (
    id ${serial},
    operator_id ${int},
    kind TEXT NOT NULL,
    client_id ${int} REFERENCES client (id) ON DELETE CASCADE,
    account_id ${int} REFERENCES account (id) ON DELETE CASCADE,
    group_id ${int} REFERENCES user_group (id) ON DELETE CASCADE,
    organization_id ${int} REFERENCES organization (id) ON DELETE CASCADE,
    item TEXT NOT NULL,
    former TEXT,
    former_maker_id ${int},
    former_given_at ${int} NOT NULL,
    acted_at ${int} NOT NULL
  ) ${options}`,
  'CREATE INDEX right_change_by_operator ON right_change (operator_id, id)',
  'CREATE INDEX right_change_by_former_maker ON right_change (former_maker_id)',
  'CREATE INDEX right_change_by_client ON right_change (client_id)',
  'CREATE INDEX right_change_by_account ON right_change (account_id)',
  'CREATE INDEX right_change_by_group ON right_change (group_id)',
  'CREATE INDEX right_change_by_organization ON right_change (organization_id)',
  'CREATE INDEX right_change_by_time ON right_change (acted_at)',
];
