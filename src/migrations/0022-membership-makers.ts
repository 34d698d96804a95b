import type { ColumnTypes } from '../platform/database/migrations/kinds.ts';

/** Who made a member an owner or admin of an organization, and when: it ends with what else that operator made. */
export const membershipMakers = ({ int }: ColumnTypes): readonly string[] => [
  `ALTER TABLE membership ADD COLUMN role_maker_id ${int}`,
  `ALTER TABLE membership ADD COLUMN role_given_at ${int}`,
  'CREATE INDEX membership_by_role_maker ON membership (role_maker_id)',
];
