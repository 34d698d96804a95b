import { iso, isoOrNull } from '../platform/clock.ts';
import type { Client, ClientSecret } from './store.ts';

export function secretView(secret: ClientSecret) {
  return {
    id: secret.id,
    createdAt: iso(secret.createdAt),
    lastUsedAt: isoOrNull(secret.lastUsedAt),
    expiresAt: isoOrNull(secret.expiresAt),
  };
}

/** A client as operators see it: an allow-list without the secrets themselves. */
export function clientView({ client, secrets }: { client: Client; secrets: readonly ClientSecret[] }) {
  return {
    clientId: client.id,
    name: client.name,
    description: client.description,
    logoUrl: client.logoUrl,
    homepageUrl: client.homepageUrl,
    policyUrl: client.policyUrl,
    termsUrl: client.termsUrl,
    redirectUris: client.redirectUris,
    postLogoutRedirectUris: client.postLogoutRedirectUris,
    scopes: client.scopes,
    grantTypes: client.grantTypes,
    resource: client.resource,
    type: client.type,
    requirePkce: client.requirePkce,
    idTokenSignedResponseAlg: client.idTokenSignedResponseAlg,
    defaultMaxAge: client.defaultMaxAge,
    backchannelLogoutUri: client.backchannelLogoutUri,
    backchannelLogoutSessionRequired: client.backchannelLogoutSessionRequired,
    userinfoSignedResponseAlg: client.userinfoSignedResponseAlg,
    tokenEndpointAuthMethod: client.tokenEndpointAuthMethod,
    jwks: client.jwks,
    jwksUri: client.jwksUri,
    owner: client.owner,
    hasPicture: client.picture !== null,
    status: client.status,
    secrets: secrets.map(secretView),
    createdAt: iso(client.createdAt),
    updatedAt: iso(client.updatedAt),
  };
}
