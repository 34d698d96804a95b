/**
 * The two faces: which endpoints a grant, a code or a token family belongs to. All that exists is the contract's, and so is what an
 * older node still writes. A person may have a live grant on each face for the same client.
 */
export const faces = (): readonly string[] => [
  ...['consent_grant', 'authorization_code', 'token_family'].map(
    (table) => `ALTER TABLE ${table} ADD COLUMN face TEXT NOT NULL DEFAULT 'contract'`,
  ),
  // Whether the consent page is shown whatever was decided before.
  'ALTER TABLE consent_grant ADD COLUMN ask_again INTEGER NOT NULL DEFAULT 0',
  // Whether the family is revoked when the person ends the browser session.
  'ALTER TABLE token_family ADD COLUMN ends_with_session INTEGER NOT NULL DEFAULT 0',
  'DROP INDEX consent_grant_live',
  'CREATE UNIQUE INDEX consent_grant_live ON consent_grant (account_id, client_id, face) WHERE revoked_at IS NULL',
  // JSON; null is both faces.
  'ALTER TABLE client ADD COLUMN faces TEXT',
  "ALTER TABLE client ADD COLUMN id_token_claims TEXT NOT NULL DEFAULT 'requested'",
];
