/** Whether the tokens of a code are revoked when the person ends the browser session, and the code with them. */
export const codesOfSessions = (): readonly string[] => [
  'ALTER TABLE authorization_code ADD COLUMN ends_with_session INTEGER NOT NULL DEFAULT 0',
];
