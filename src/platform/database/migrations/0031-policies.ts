/** The apps that require a second factor. */
export const policies = (): readonly string[] => [
  'ALTER TABLE client ADD COLUMN require_second_factor INTEGER NOT NULL DEFAULT 0',
];
