/** From where public clients last got tokens. */
export const lastNetworks = (): readonly string[] => ['ALTER TABLE token_family ADD COLUMN last_network TEXT'];
