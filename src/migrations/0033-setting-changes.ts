import type { ColumnTypes } from '../platform/database/migrations/kinds.ts';

/**
 * What operators changed of apps, organizations and groups that may let somebody in: what it was before is put back with what else they
 * made. A row has the changes that one operator made to one of them.
 */
export const settingChanges = ({ int, options, serial }: ColumnTypes): readonly string[] => [
  `CREATE TABLE setting_change (
    id ${serial},
    operator_id ${int} NOT NULL,
    client_id ${int} REFERENCES client (id) ON DELETE CASCADE,
    organization_id ${int} REFERENCES organization (id) ON DELETE CASCADE,
    group_id ${int} REFERENCES user_group (id) ON DELETE CASCADE,
    changes TEXT NOT NULL,
    acted_at ${int} NOT NULL
  ) ${options}`,
  `CREATE UNIQUE INDEX setting_change_once
    ON setting_change (operator_id, COALESCE(client_id, 0), COALESCE(organization_id, 0), COALESCE(group_id, 0))`,
  'CREATE INDEX setting_change_by_client ON setting_change (client_id)',
  'CREATE INDEX setting_change_by_organization ON setting_change (organization_id)',
  'CREATE INDEX setting_change_by_group ON setting_change (group_id)',
];
