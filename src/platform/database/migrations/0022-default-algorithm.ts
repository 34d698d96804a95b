import type { ColumnTypes } from './timeline.ts';

/**
 * The algorithm of ID tokens may be left out of a registration: null. Existing clients keep theirs. Those without back-channel logout
 * get the new default of `backchannel_logout_session_required`, which meant nothing for them.
 */
export const defaultAlgorithm = ({ rebuilds }: ColumnTypes): readonly string[] => [
  ...(rebuilds ? COPIED : ['ALTER TABLE client ALTER COLUMN id_token_signed_response_alg DROP NOT NULL']),
  'UPDATE client SET backchannel_logout_session_required = 1 WHERE backchannel_logout_uri IS NULL',
];

/** SQLite cannot drop a constraint, but it can drop a column. */
const COPIED = [
  'ALTER TABLE client ADD COLUMN id_token_alg TEXT',
  'UPDATE client SET id_token_alg = id_token_signed_response_alg',
  'ALTER TABLE client DROP COLUMN id_token_signed_response_alg',
  'ALTER TABLE client RENAME COLUMN id_token_alg TO id_token_signed_response_alg',
];
