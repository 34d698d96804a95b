import type { ColumnTypes } from './timeline.ts';

/** The last revocation of each app's access by each person, for the consent forms that were shown before it. */
export const consentRevocations = ({ int, options }: ColumnTypes): readonly string[] => [
  `CREATE TABLE consent_revocation (
    account_id ${int} NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    client_id ${int} NOT NULL REFERENCES client (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    revoked_at ${int} NOT NULL,
    PRIMARY KEY (account_id, client_id)
  ) ${options}`,
  'CREATE INDEX consent_revocation_by_client ON consent_revocation (client_id)',
  'CREATE INDEX consent_revocation_by_time ON consent_revocation (revoked_at)',
];
