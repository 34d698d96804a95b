/** The grants of the token endpoint. */
export const GRANT_TYPES = ['authorization_code', 'refresh_token', 'client_credentials'] as const;
export type GrantType = (typeof GRANT_TYPES)[number];

/** What a client may use whose registration says nothing about it: the contract's two. */
export const DEFAULT_GRANT_TYPES: readonly GrantType[] = ['authorization_code', 'refresh_token'];

interface Registration {
  readonly type: 'confidential' | 'public';
  readonly grantTypes: readonly GrantType[];
  readonly redirectUris: readonly string[];
}

/** What is wrong with the grants of a registration, as a sentence, or undefined. */
export function grantTypesProblem({ type, grantTypes, redirectUris }: Registration): string | undefined {
  const has = (grant: GrantType) => grantTypes.includes(grant);
  // RFC 6749 §4.4: the client's own credentials are all that this grant goes by.
  if (has('client_credentials') && type === 'public') {
    return 'grantTypes must not hold client_credentials for a public client, which cannot prove who it is.';
  }
  if (has('refresh_token') && !has('authorization_code')) {
    return 'grantTypes must hold authorization_code where it holds refresh_token, which comes of it.';
  }
  if (has('authorization_code') && redirectUris.length === 0) return 'redirectUris is missing.';
  return undefined;
}
