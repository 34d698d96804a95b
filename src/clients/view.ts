import { describeLeftOut } from '../claims/rules/member-claims.ts';
import { iso, isoOrNull } from '../platform/clock.ts';
import { pick } from '../platform/database/columns.ts';
import type { BlockedDomain } from './blocked-domain-store.ts';
import type { ClientWithSecrets } from './clients.ts';
import { CLIENT_FIELDS } from './fields.ts';
import { formerNames } from './former-endpoints.ts';
import type { ConsentApproval } from './rules/consent-approval.ts';
import type { Client, ClientSecret } from './store.ts';

/** A secret in the admin API, without its value. */
export function secretView(secret: ClientSecret) {
  return {
    id: secret.id,
    createdAt: iso(secret.createdAt),
    lastUsedAt: isoOrNull(secret.lastUsedAt),
    expiresAt: isoOrNull(secret.expiresAt),
  };
}

const approvalView = ({ scopes, apiScopes, organizationId, approvedAt, approvedBy }: ConsentApproval) => ({
  scopes: [...new Set([...scopes, ...apiScopes.map(({ name }) => name)])],
  organizationId,
  approvedAt: iso(approvedAt),
  approvedBy: { type: approvedBy.type, id: approvedBy.id },
});

/** An app that no operator registered, in the list of these. */
export const unregisteredView = ({
  id,
  name,
  registeredBy,
  metadataUrl,
  redirectUris,
  createdAt,
  unusedUntil,
}: Client) => ({
  clientId: id,
  name,
  registeredBy: registeredBy ?? 'operator',
  metadataUrl,
  redirectUris,
  createdAt: iso(createdAt),
  unusedUntil: isoOrNull(unusedUntil),
});

export const blockedDomainView = ({ domain, createdAt }: BlockedDomain) => ({ domain, createdAt: iso(createdAt) });

const SHOWN = Object.keys(CLIENT_FIELDS) as (keyof typeof CLIENT_FIELDS)[];

/** A client in the admin API: the fields of its registration, and an allow-list of the rest. */
export function clientView({ client, secrets }: ClientWithSecrets) {
  return {
    clientId: client.id,
    ...pick(client, SHOWN),
    faces: formerNames(client.endpoints),
    organizationId: client.organizationId,
    developerId: client.developerId,
    hasPicture: client.picture !== null,
    status: client.status,
    registeredBy: client.registeredBy ?? 'operator',
    acceptedAt: isoOrNull(client.acceptedAt),
    metadataUrl: client.metadataUrl,
    managesItself: client.registrationHash !== null,
    initialAccessTokenId: client.initialTokenId,
    unusedUntil: isoOrNull(client.unusedUntil),
    consentApproval: client.consentApproval && approvalView(client.consentApproval),
    claimsLeftOut: client.leftOut && {
      ...pick(client.leftOut, ['claim', 'from']),
      at: iso(client.leftOut.at),
      message: describeLeftOut(client.leftOut, client.groupsClaim),
    },
    secrets: secrets.map(secretView),
    createdAt: iso(client.createdAt),
    updatedAt: iso(client.updatedAt),
  };
}
