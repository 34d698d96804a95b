/** The organizations that require a second factor of their members. */
export const organizationPolicies = (): readonly string[] => [
  'ALTER TABLE organization ADD COLUMN require_second_factor INTEGER NOT NULL DEFAULT 0',
];
