// Access tokens for an API, with three libraries. The API is registered with this `resource`; UserInfo is named as well, because an
// access token that is for the API alone is not accepted there.
import { UserManager } from 'oidc-client-ts';
import * as oidc from 'openid-client';

const API = 'https://api.example.com/notes';

/** openid-client: the address of the authorization request. `issuer` is what `oidc.discovery` returned. */
export function withOpenidClient(issuer, parameters) {
  const request = new URLSearchParams(parameters);
  request.append('resource', API);
  request.append('resource', issuer.serverMetadata().userinfo_endpoint);
  return oidc.buildAuthorizationUrl(issuer, request);
}

/** oauth4webapi: the same. `issuer` is what `oauth.processDiscoveryResponse` returned. */
export function withOauth4webapi(issuer, parameters) {
  const address = new URL(issuer.authorization_endpoint);
  address.search = new URLSearchParams(parameters).toString();
  address.searchParams.append('resource', API);
  address.searchParams.append('resource', issuer.userinfo_endpoint);
  return address;
}

/** oidc-client-ts: a setting, beside those of the example above. */
export const withOidcClientTs = (settings, navigator) =>
  new UserManager({ ...settings, resource: [API, `${settings.authority}/oidc/userinfo`] }, navigator);
