import type { Client } from '../store.ts';
import { consentProblem } from './consent-approval.ts';
import { serverUriProblem } from './redirect-uri.ts';
import { resourceScopesProblem } from './resource-scopes.ts';

/** How clients authenticate: OpenID Connect Core 1.0 §9. `client_secret_jwt` would need secrets that are kept readable. */
export const AUTH_METHODS = ['client_secret_basic', 'client_secret_post', 'private_key_jwt', 'none'] as const;
export type AuthMethod = (typeof AUTH_METHODS)[number];

/** RFC 8628 §3.4. */
export const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';

/** The grants of the token endpoint. */
export const GRANT_TYPES = ['authorization_code', 'refresh_token', 'client_credentials', DEVICE_GRANT] as const;
export type GrantType = (typeof GRANT_TYPES)[number];

/** What a client may use if its registration does not say: the contract's two. */
export const DEFAULT_GRANT_TYPES: readonly GrantType[] = ['authorization_code', 'refresh_token'];

/** Whether a client authenticates with a secret; the others have none. */
export const presentsSecret = ({ type, tokenEndpointAuthMethod }: Pick<Client, 'type' | 'tokenEndpointAuthMethod'>) =>
  type === 'confidential' && tokenEndpointAuthMethod !== 'private_key_jwt';

/** The fields of a registration that depend on one another. */
export type RegistrationFields = Pick<
  Client,
  | 'type'
  | 'tokenEndpointAuthMethod'
  | 'idTokenSignedResponseAlg'
  | 'requirePkce'
  | 'jwks'
  | 'jwksUri'
  | 'grantTypes'
  | 'redirectUris'
  | 'resource'
  | 'resourceScopes'
  | 'roles'
  | 'claimNames'
  | 'consent'
>;

/**
 * What is inconsistent in a registration, as a sentence that names a field and the remedy; undefined if nothing is.
 *
 * A client that presents no secret leaves none to sign an ID token under HS256 with (OpenID Connect Core 1.0 §10.1), and a public
 * one is bound to its codes by PKCE alone (RFC 9700 §2.1.1).
 */
export function registrationProblem(client: RegistrationFields): string | undefined {
  const { type, tokenEndpointAuthMethod: method, idTokenSignedResponseAlg, requirePkce, jwks, jwksUri } = client;
  const problem =
    grantTypesProblem(client) ??
    resourceProblem(client) ??
    resourceScopesProblem(client) ??
    consentProblem(client) ??
    rolesProblem(client) ??
    claimNamesProblem(client);
  if (problem !== undefined) return problem;
  if (type === 'public' && method !== null && method !== 'none') {
    return `tokenEndpointAuthMethod must be none for a public client, or left out: ${method} needs something that it can keep.`;
  }
  if (type === 'confidential' && method === 'none') {
    return 'tokenEndpointAuthMethod none is for public clients: register with type public, or choose another one.';
  }
  if (!presentsSecret(client) && idTokenSignedResponseAlg === 'HS256') {
    const whom = type === 'public' ? 'a public client' : 'a client with private_key_jwt';
    return `idTokenSignedResponseAlg must be RS256, ES256 or EdDSA for ${whom}, or left out: HS256 needs a client secret.`;
  }
  if (type === 'public' && !requirePkce) return 'requirePkce must be true for a public client, or left out.';
  // OpenID Connect Registration 1.0 §2: the two must not be used together.
  if (jwks !== null && jwksUri !== null) return 'jwks and jwksUri exclude each other: set one of them to null.';
  if (method === 'private_key_jwt' && jwks === null && jwksUri === null) {
    return 'tokenEndpointAuthMethod private_key_jwt needs the public keys of the client: give jwks or jwksUri.';
  }
  // Whether the server may connect to that address is decided at each request, by the rules of outgoing requests.
  const address = jwksUri === null ? undefined : serverUriProblem(jwksUri);
  return address && `jwksUri must ${address}.`;
}

function grantTypesProblem({ type, grantTypes, redirectUris }: RegistrationFields): string | undefined {
  if (grantTypes.length === 0) return 'grantTypes is missing.';
  const has = (grant: GrantType) => grantTypes.includes(grant);
  // RFC 6749 §4.4: this grant relies on nothing but the client's own credentials.
  if (has('client_credentials') && type === 'public') {
    return 'grantTypes must not hold client_credentials for a public client, which cannot prove who it is.';
  }
  if (has('refresh_token') && !has('authorization_code') && !has(DEVICE_GRANT)) {
    return `grantTypes must hold authorization_code or ${DEVICE_GRANT} where it holds refresh_token, which comes from them.`;
  }
  if (has('authorization_code') && redirectUris.length === 0) return 'redirectUris is missing.';
  return undefined;
}

/** RFC 8707 §2: a resource is an absolute URI without a fragment. A resource server introspects tokens, so it must authenticate. */
function resourceProblem({ type, resource }: RegistrationFields): string | undefined {
  if (resource === null) return undefined;
  if (type === 'public') return 'resource must be null for a public client, which cannot prove who it is.';
  const problem = serverUriProblem(resource);
  return problem && `resource must ${problem}.`;
}

function rolesProblem({ roles }: RegistrationFields): string | undefined {
  const names = roles.map(({ name }) => name);
  const repeated = names.find((name, index) => names.indexOf(name) !== index);
  return repeated && `roles must have different names; ${repeated} is there twice.`;
}

/** A claim of groups or roles must not pass for one that a standard defines, or that Tessera sends. */
function claimNamesProblem({ claimNames }: RegistrationFields): string | undefined {
  const { groups = 'groups', roles = 'roles' } = claimNames ?? {};
  if (groups === roles) return 'claimNames must give groups and roles different names.';
  for (const [field, name] of Object.entries({ groups, roles })) {
    const isForeign = name === 'groups' ? field !== 'groups' : name === 'roles' && field !== 'roles';
    if (isForeign || RESERVED_CLAIMS.has(name)) {
      return `claimNames.${field} must not be ${name}, which means something else in tokens. Choose another name.`;
    }
  }
  return undefined;
}

/**
 * RFC 7519 §4.1, OpenID Connect Core 1.0 §§2 and 5.1, RFC 7662 §2.2, RFC 8693 §4, RFC 9068 §2.2, RFC 7800, OpenID Connect logout, and those
 * of the contract.
 */
const RESERVED_CLAIMS: ReadonlySet<string> = new Set(
  `iss sub aud exp nbf iat jti auth_time nonce acr amr azp at_hash c_hash s_hash sid name given_name family_name middle_name
  nickname preferred_username profile picture website email email_verified gender birthdate zoneinfo locale phone_number
  phone_number_verified address updated_at active scope client_id username token_type act may_act cnf entitlements events
  sub_jwk sub_id txn authorization_details _claim_names _claim_sources id user language theme createdAt avatarUrl`.split(
    /\s+/,
  ),
);
