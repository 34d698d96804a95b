/**
 * Families and codes remember which scopes the person has taken away since they were made. What a person had declined before
 * this version, without an effect on tokens that were issued already, is taken from them here.
 */
export const withdrawnScopes = (): readonly string[] =>
  ['token_family', 'authorization_code'].flatMap((table) => [
    `ALTER TABLE ${table} ADD COLUMN withdrawn_scopes TEXT NOT NULL DEFAULT ''`,
    `UPDATE ${table}
      SET withdrawn_scopes = (SELECT declined_scopes FROM consent_grant WHERE consent_grant.id = ${table}.grant_id)
      WHERE grant_id IN (SELECT id FROM consent_grant WHERE declined_scopes <> '' AND revoked_at IS NULL)`,
  ]);
