/** When tokens of a client last lacked a claim because it was too long. */
export const leftOutClaims = (): readonly string[] => ['ALTER TABLE client ADD COLUMN left_out TEXT'];
