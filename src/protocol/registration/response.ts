import { IDENTITY_SCOPES } from '../../claims/permissions.ts';
import type { Client } from '../../clients/store.ts';
import { numericDate } from '../../platform/clock.ts';

/** The path of the registration endpoint, below the base URL. */
export const REGISTRATION_PATH = '/oidc/register';

/**
 * A registration as its app sees it: RFC 7591 §3.2.1, RFC 7592 §3.
 * @param clientSecret a secret that was just made; no other can be read
 */
export function registrationResponse(
  client: Client,
  {
    issuer,
    registrationToken,
    clientSecret,
  }: {
    readonly issuer: string;
    readonly registrationToken: string;
    readonly clientSecret: string | undefined;
  },
): Readonly<Record<string, unknown>> {
  const optional = {
    client_uri: client.homepageUrl,
    policy_uri: client.policyUrl,
    tos_uri: client.termsUrl,
    jwks: client.jwks,
    jwks_uri: client.jwksUri,
    userinfo_signed_response_alg: client.userinfoSignedResponseAlg,
    default_max_age: client.defaultMaxAge,
    backchannel_logout_uri: client.backchannelLogoutUri,
  };
  return {
    client_id: client.id,
    client_id_issued_at: numericDate(client.createdAt),
    // RFC 7591 §3.2.1: 0 is never.
    ...(clientSecret !== undefined && { client_secret: clientSecret, client_secret_expires_at: 0 }),
    registration_access_token: registrationToken,
    registration_client_uri: `${issuer}${REGISTRATION_PATH}/${client.id}`,
    client_name: client.name,
    redirect_uris: client.redirectUris,
    grant_types: client.grantTypes,
    response_types: ['code'],
    token_endpoint_auth_method: client.tokenEndpointAuthMethod ?? 'client_secret_basic',
    scope: (client.scopes ?? IDENTITY_SCOPES).join(' '),
    subject_type: 'public',
    id_token_signed_response_alg: client.idTokenSignedResponseAlg,
    post_logout_redirect_uris: client.postLogoutRedirectUris,
    backchannel_logout_session_required: client.backchannelLogoutSessionRequired,
    contacts: client.contacts,
    ...Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== null)),
  };
}
