import type { ColumnTypes } from '../platform/database/migrations/kinds.ts';

/** Through which other provider alone the members of an organization use its apps. One that is named here is not deleted. */
export const organizationUpstream = ({ int, options }: ColumnTypes): readonly string[] => [
  `CREATE TABLE organization_upstream (
    organization_id ${int} NOT NULL PRIMARY KEY REFERENCES organization (id) ON DELETE CASCADE,
    upstream_id ${int} NOT NULL REFERENCES upstream (id)
  ) ${options}`,
  'CREATE INDEX organization_upstream_by_upstream ON organization_upstream (upstream_id)',
];
