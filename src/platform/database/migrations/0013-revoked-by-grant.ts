/**
 * The index by which old revoked grants are found to be removed says `> 0` of those that it holds. A verdict does not say that
 * (see `verdict/store.ts`), so PostgreSQL cannot take this index for it: it would go through all grants that were revoked.
 */
export const revokedByGrant = (): readonly string[] => [
  'DROP INDEX consent_grant_by_revocation',
  'CREATE INDEX consent_grant_by_revocation ON consent_grant (revoked_at) WHERE revoked_at > 0',
];
