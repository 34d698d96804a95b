/** How clients authenticate: OpenID Connect Core 1.0 §9. `client_secret_jwt` would need secrets that are kept readable. */
export const AUTH_METHODS = ['client_secret_basic', 'client_secret_post', 'private_key_jwt', 'none'] as const;
export type AuthMethod = (typeof AUTH_METHODS)[number];
