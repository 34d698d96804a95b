/**
 * How a person authenticated, in the session and in what is issued in it: `amr` is a JSON array of method names (RFC 8176), and
 * `acr` the class that was met, if any. The defaults are true of all existing rows, and of those that an older node still writes:
 * every sign-in was by password over a protected channel.
 */
export const sessionAuthentication = (): readonly string[] =>
  ['browser_session', 'authorization_code', 'token_family'].flatMap((table) => [
    `ALTER TABLE ${table} ADD COLUMN amr TEXT NOT NULL DEFAULT '["pwd"]'`,
    `ALTER TABLE ${table} ADD COLUMN acr TEXT DEFAULT 'urn:oasis:names:tc:SAML:2.0:ac:classes:PasswordProtectedTransport'`,
  ]);
