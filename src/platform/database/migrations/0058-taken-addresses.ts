import type { ColumnTypes } from './timeline.ts';

/**
 * Which rows of earlier addresses an operator made, who took the address away: these give no right and reserve nothing. And when what a
 * pending sign-in was proved with was set up, in the order of its methods.
 */
export const takenAddresses = ({ int }: ColumnTypes): readonly string[] => [
  `ALTER TABLE address_change ADD COLUMN by_operator ${int} NOT NULL DEFAULT 0`,
  'ALTER TABLE pending_sign_in ADD COLUMN factors_since TEXT',
];
