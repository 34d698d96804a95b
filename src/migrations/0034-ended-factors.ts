import type { ColumnTypes } from '../platform/database/migrations/kinds.ts';

/**
 * How a factor went that an account had, and with what a change of an address was proved: who takes an account back neither shows nor gets
 * what its owner has ended, and the passkey of the change goes.
 */
export const endedFactors = ({ int }: ColumnTypes): readonly string[] => [
  `ALTER TABLE replaced_value ADD COLUMN ended_at ${int}`,
  `ALTER TABLE replaced_value ADD COLUMN removed_by ${int}`,
  `ALTER TABLE address_change ADD COLUMN proved_by ${int}`,
  'ALTER TABLE address_change ADD COLUMN passkeys TEXT',
];
