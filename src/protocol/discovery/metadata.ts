import { ACR_VALUES } from '../../authenticators/rules/authentication-context.ts';
import { ENDPOINT_RULES } from '../../claims/endpoint-set.ts';
import { IDENTITY_SCOPES, SCOPES } from '../../claims/permissions.ts';
import { adminResource } from '../../clients/rules/command-line.ts';
import { AUTH_METHODS, GRANT_TYPES } from '../../clients/rules/registration.ts';
import { ASYMMETRIC_ALGS, ID_TOKEN_ALGS } from '../../keys/algorithms.ts';
import { ASSERTION_ALGS } from '../../keys/rules/jwks.ts';
import { PROMPTS, RESPONSE_MODES } from '../authorize/rules/request.ts';
import { DEVICE_AUTHORIZATION_PATH } from '../device/start.ts';
import { END_SESSION_PATH } from '../logout/rules/end-session.ts';
import { REGISTRATION_PATH } from '../registration/response.ts';
import { INTROSPECTION_PATH, REVOCATION_PATH } from '../token/routes.ts';

/** The path of the JWKS below the base URL. */
export const JWKS_PATH = '/.well-known/jwks.json';

/** The claims of ID tokens and of the standard UserInfo. */
const CLAIMS = [
  ...['iss', 'sub', 'aud', 'iat', 'exp', 'auth_time', 'nonce', 'sid', 'amr', 'at_hash', 'jti'],
  ...ENDPOINT_RULES.oidc.claimScopes.keys(),
];

/** What the document depends on. */
export interface Published {
  readonly issuer: string;
  /** The languages of the pages. */
  readonly languages: readonly string[];
  /** The scopes of APIs that the operator lists. */
  readonly discoveryScopes: readonly string[];
  /** Whether apps can identify themselves by the URL of a metadata document. */
  readonly readsMetadata: boolean;
  /** Whether apps can register themselves. */
  readonly registersApps: boolean;
}

/**
 * The provider metadata: OpenID Connect Discovery 1.0 §3 and RFC 8414 §2. It lists only what works; a new capability needs a
 * line here.
 */
export function metadata({
  issuer,
  languages,
  discoveryScopes,
  readsMetadata,
  registersApps,
}: Published): Readonly<Record<string, unknown>> {
  const { authorizationPath, tokenPath, userinfoPath } = ENDPOINT_RULES.oidc;
  return {
    issuer,
    authorization_endpoint: issuer + authorizationPath,
    token_endpoint: issuer + tokenPath,
    userinfo_endpoint: issuer + userinfoPath,
    jwks_uri: issuer + JWKS_PATH,
    revocation_endpoint: issuer + REVOCATION_PATH,
    introspection_endpoint: issuer + INTROSPECTION_PATH,
    // RFC 8628 §4.
    device_authorization_endpoint: issuer + DEVICE_AUTHORIZATION_PATH,
    // RFC 8414 §2: only where it does something.
    ...(registersApps && { registration_endpoint: issuer + REGISTRATION_PATH }),

    response_types_supported: ['code'],
    response_modes_supported: RESPONSE_MODES,
    prompt_values_supported: PROMPTS,
    acr_values_supported: ACR_VALUES,
    display_values_supported: ['page'],
    ui_locales_supported: languages,
    grant_types_supported: GRANT_TYPES,
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: AUTH_METHODS,
    token_endpoint_auth_signing_alg_values_supported: ASSERTION_ALGS,
    revocation_endpoint_auth_methods_supported: AUTH_METHODS,
    revocation_endpoint_auth_signing_alg_values_supported: ASSERTION_ALGS,
    // RFC 7662 §2.1: public clients may not use introspection.
    introspection_endpoint_auth_methods_supported: AUTH_METHODS.filter((method) => method !== 'none'),
    introspection_endpoint_auth_signing_alg_values_supported: ASSERTION_ALGS,

    // OpenID Connect RP-Initiated Logout 1.0 §2.1 and Back-Channel Logout 1.0 §2.1.
    end_session_endpoint: issuer + END_SESSION_PATH,
    backchannel_logout_supported: true,
    backchannel_logout_session_supported: true,

    scopes_supported: [...new Set([...SCOPES, ...discoveryScopes])],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ID_TOKEN_ALGS,
    userinfo_signing_alg_values_supported: ASYMMETRIC_ALGS,
    claim_types_supported: ['normal'],
    claims_supported: CLAIMS,

    // RFC 9207 §3.
    authorization_response_iss_parameter_supported: true,
    // draft-ietf-oauth-client-id-metadata-document-03 §6.
    client_id_metadata_document_supported: readsMetadata,
    // Also where false is the default, because the default of request_uri_parameter_supported is true.
    claims_parameter_supported: true,
    request_parameter_supported: false,
    request_uri_parameter_supported: false,
  };
}

const RESOURCES_PATH = '/.well-known/oauth-protected-resource';

/** The path of the metadata of UserInfo as a protected resource, below the base URL. */
export const resourceMetadataPath = (basePath: string): string =>
  `${RESOURCES_PATH}${basePath}${ENDPOINT_RULES.oidc.userinfoPath}`;

/** The same of the admin API. */
export const adminMetadataPath = (basePath: string): string => `${RESOURCES_PATH}${adminResource(basePath)}`;

/** RFC 9728 §3.1: where the metadata of the admin API is, for its challenges (§5.1). */
export function adminMetadataUrl(issuer: string): string {
  const { origin, pathname } = new URL(issuer);
  return origin + adminMetadataPath(pathname.replace(/\/$/, ''));
}

/** RFC 9728 §2: the metadata of the admin API. It accepts the tokens of the command line, and admin keys. */
export const adminMetadata = ({ issuer }: Pick<Published, 'issuer'>): Readonly<Record<string, unknown>> => ({
  resource: adminResource(issuer),
  authorization_servers: [issuer],
  bearer_methods_supported: ['header'],
  resource_name: 'Admin API',
});

/** RFC 9728 §2: the metadata of UserInfo, the resource of this service that tokens can be requested for by `resource`. */
export const resourceMetadata = ({ issuer }: Pick<Published, 'issuer'>): Readonly<Record<string, unknown>> => ({
  resource: issuer + ENDPOINT_RULES.oidc.userinfoPath,
  authorization_servers: [issuer],
  scopes_supported: IDENTITY_SCOPES.filter((scope) => scope !== 'offline_access'),
  // RFC 6750 §§2.1–2.2.
  bearer_methods_supported: ['header', 'body'],
  resource_name: 'UserInfo',
});
