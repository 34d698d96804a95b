/** Whom operators write to about an app: a JSON array of email addresses, or null for none. */
export const clientContacts = (): readonly string[] => ['ALTER TABLE client ADD COLUMN contacts TEXT'];
