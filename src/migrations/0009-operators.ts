import type { ColumnTypes } from '../platform/database/migrations/kinds.ts';

/**
 * Operators with roles: grants of accounts, keys with a role and an end, and who an app belongs to. A key of an earlier version has no
 * role, and every right. A key with fewer rights is stored so that an earlier version does not find it: see `admin-keys/store.ts`.
 */
export const operators = ({ int, options, serial }: ColumnTypes): readonly string[] => [
  'ALTER TABLE admin_key ADD COLUMN role TEXT',
  `ALTER TABLE admin_key ADD COLUMN organization_id ${int} REFERENCES organization (id) ON DELETE CASCADE`,
  `ALTER TABLE admin_key ADD COLUMN expires_at ${int}`,
  `ALTER TABLE admin_key ADD COLUMN last_used_at ${int}`,
  `ALTER TABLE admin_key ADD COLUMN maker_id ${int}`,
  'CREATE INDEX admin_key_by_organization ON admin_key (organization_id)',
  'CREATE INDEX admin_key_by_maker ON admin_key (maker_id)',
  `CREATE TABLE operator_grant (
    id ${serial},
    account_id ${int} NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    role TEXT NOT NULL,
    organization_id ${int} REFERENCES organization (id) ON DELETE CASCADE,
    expires_at ${int},
    maker_id ${int},
    created_at ${int} NOT NULL
  ) ${options}`,
  'CREATE UNIQUE INDEX operator_grant_once ON operator_grant (account_id, role, COALESCE(organization_id, 0))',
  'CREATE INDEX operator_grant_by_organization ON operator_grant (organization_id)',
  'CREATE INDEX operator_grant_by_maker ON operator_grant (maker_id)',
  'CREATE INDEX operator_grant_by_role ON operator_grant (role)',
  `ALTER TABLE client ADD COLUMN organization_id ${int} REFERENCES organization (id) ON DELETE SET NULL`,
  `ALTER TABLE client ADD COLUMN developer_id ${int}`,
  'CREATE INDEX client_by_organization ON client (organization_id)',
  'CREATE INDEX client_by_developer ON client (developer_id)',
];
