import type { ColumnTypes } from '../platform/database/migrations/kinds.ts';

const DAYS_30 = 30 * 86_400_000;

/**
 * Which rights operators gave, also after the role was taken away or its account, key or organization is gone: what rests on an operator is
 * found by these. So no row refers to another one. Those of before are the ones that are left.
 */
export const givenRights = ({ int, options, serial }: ColumnTypes): readonly string[] => {
  const columns = 'kind, maker_id, holder_id, role, organization_id, expires_at, given_at, review_at';
  const review = (given: string): string => `COALESCE(${given}, 0) + ${DAYS_30}`;
  return [
    `CREATE TABLE given_right (
    id ${serial},
    kind TEXT NOT NULL,
    maker_id ${int} NOT NULL,
    holder_id ${int} NOT NULL,
    role TEXT NOT NULL,
    organization_id ${int},
    expires_at ${int},
    given_at ${int} NOT NULL,
    review_at ${int} NOT NULL
  ) ${options}`,
    'CREATE UNIQUE INDEX given_right_once ON given_right (maker_id, holder_id, given_at, role, COALESCE(organization_id, 0))',
    'CREATE INDEX given_right_by_review ON given_right (review_at, id DESC)',
    `INSERT INTO given_right (${columns})
    SELECT 'admin key', maker_id, id, COALESCE(role, 'owner'), organization_id, expires_at, created_at, ${review('created_at')}
    FROM admin_key WHERE maker_id IS NOT NULL`,
    `INSERT INTO given_right (${columns})
    SELECT 'role', maker_id, account_id, role, organization_id, expires_at, created_at, ${review('created_at')}
    FROM operator_grant WHERE maker_id IS NOT NULL`,
    `INSERT INTO given_right (${columns})
    SELECT 'role', role_maker_id, account_id, CASE role WHEN 'OWNER' THEN 'owner' ELSE 'admin' END, organization_id, NULL,
      COALESCE(role_given_at, 0), ${review('role_given_at')}
    FROM membership WHERE role_maker_id IS NOT NULL AND role IN ('OWNER', 'ADMIN')`,
  ];
};
