/** What operators took from the app of a developer, who does not take it back. */
export const narrowedClients = (): readonly string[] => ['ALTER TABLE client ADD COLUMN narrowed TEXT'];
