/**
 * Apps whose consent an operator gives. A grant says who decided on it. An earlier version shows the consent page of such an app.
 */
export const operatorConsent = (): readonly string[] => [
  "ALTER TABLE client ADD COLUMN consent TEXT NOT NULL DEFAULT 'ask'",
  'ALTER TABLE client ADD COLUMN consent_approval TEXT',
  "ALTER TABLE consent_grant ADD COLUMN decided_by TEXT NOT NULL DEFAULT 'person'",
];
