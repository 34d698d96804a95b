import type { ColumnTypes } from '../platform/database/migrations/kinds.ts';

/**
 * Which operator last unblocked a domain of apps, until it is blocked again: what a stolen key unblocked is blocked again with the end of what
 * else it made. It refers to no operator, since it counts after their end.
 */
export const unblockedDomains = ({ int, options }: ColumnTypes): readonly string[] => [
  `ALTER TABLE blocked_client_domain ADD COLUMN operator_id ${int}`,
  'CREATE INDEX blocked_client_domain_by_operator ON blocked_client_domain (operator_id)',
  `CREATE TABLE unblocked_client_domain (
    domain TEXT PRIMARY KEY,
    operator_id ${int} NOT NULL,
    unblocked_at ${int} NOT NULL,
    blocker_id ${int},
    blocked_at ${int} NOT NULL
  ) ${options}`,
  'CREATE INDEX unblocked_client_domain_by_operator ON unblocked_client_domain (operator_id)',
];
