import type { ColumnTypes } from './timeline.ts';

/**
 * Which algorithms the JWKS shows: those that a client is registered for, found by the indexes, and those that one gave up lately. The
 * last change of a client before the migration may have given one up.
 */
export const usedAlgorithms = ({ int }: ColumnTypes): readonly string[] => [
  `ALTER TABLE id_token_key ADD COLUMN given_up_at ${int}`,
  'UPDATE id_token_key SET given_up_at = (SELECT MAX(updated_at) FROM client)',
  'CREATE INDEX client_by_id_token_alg ON client (id_token_signed_response_alg)',
  'CREATE INDEX client_by_userinfo_alg ON client (userinfo_signed_response_alg)',
];
