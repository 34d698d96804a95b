import type { ColumnTypes } from '../platform/database/migrations/kinds.ts';

/**
 * What other providers let people do by what operators had done to them: who created an account with one, what was written into accounts,
 * and who joined groups. So it is found, and ends, with what else a stolen key made, also once the provider is as it was before.
 */
export const upstreamEffects = ({ int, options, serial }: ColumnTypes): readonly string[] => [
  `CREATE TABLE upstream_effect (
    id ${serial},
    operator_id ${int} NOT NULL,
    account_id ${int} NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    group_member_id ${int} REFERENCES group_member (id) ON DELETE CASCADE,
    acted_at ${int} NOT NULL
  ) ${options}`,
  `CREATE UNIQUE INDEX upstream_effect_once
    ON upstream_effect (account_id, operator_id, kind, COALESCE(group_member_id, 0))`,
  'CREATE INDEX upstream_effect_by_operator ON upstream_effect (operator_id, id)',
  'CREATE INDEX upstream_effect_by_group_member ON upstream_effect (group_member_id) WHERE group_member_id IS NOT NULL',
];
