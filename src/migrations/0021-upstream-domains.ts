import type { ColumnTypes } from '../platform/database/migrations/kinds.ts';

/** For which domains of email addresses another provider is authoritative: one for each. */
export const upstreamDomains = ({ int, options }: ColumnTypes): readonly string[] => [
  "ALTER TABLE upstream ADD COLUMN domains TEXT NOT NULL DEFAULT '[]'",
  `CREATE TABLE upstream_domain (
    domain TEXT NOT NULL PRIMARY KEY,
    upstream_id ${int} NOT NULL REFERENCES upstream (id) ON DELETE CASCADE
  ) ${options}`,
  'CREATE INDEX upstream_domain_by_upstream ON upstream_domain (upstream_id)',
];
