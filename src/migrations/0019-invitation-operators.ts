import type { ColumnTypes } from '../platform/database/migrations/kinds.ts';

/** Invitations of operators who are people: they end with the role or the account of the one who made them. */
export const invitationOperators = ({ int }: ColumnTypes): readonly string[] => [
  `ALTER TABLE invitation ADD COLUMN operator_id ${int} REFERENCES account (id) ON DELETE CASCADE`,
  'CREATE INDEX invitation_by_operator ON invitation (operator_id)',
];
