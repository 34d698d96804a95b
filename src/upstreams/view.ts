import { iso } from '../platform/clock.ts';
import { pick } from '../platform/database/columns.ts';
import type { ConnectedIdentity } from './identity-store.ts';
import type { Upstream } from './store.ts';

/** Where people come back to from an upstream. */
export const redirectUriOf = (issuer: string, { name }: Pick<Upstream, 'name'>): string =>
  `${issuer}/login/with/${name}/callback`;

/** Where an upstream says that a session has ended. */
export const logoutUriOf = (issuer: string, { name }: Pick<Upstream, 'name'>): string =>
  `${issuer}/upstreams/${name}/backchannel-logout`;

/**
 * An upstream in the admin API.
 * @param issuer ours
 */
export const upstreamView = (upstream: Upstream, issuer: string) => ({
  ...pick(upstream, ['id', 'name', 'displayName', 'kind', 'issuer', 'clientId']),
  hasClientSecret: upstream.sealedSecret !== null,
  ...pick(upstream, ['teamId', 'keyId']),
  secretExpiresAt: upstream.secretExpiresAt === null ? null : iso(upstream.secretExpiresAt),
  ...pick(upstream, ['scopes', 'signUp', 'signUpDomains', 'domains', 'claimsMap', 'position', 'status']),
  redirectUri: redirectUriOf(issuer, upstream),
  backchannelLogoutUri: logoutUriOf(issuer, upstream),
  createdAt: iso(upstream.createdAt),
  updatedAt: iso(upstream.updatedAt),
});

/** An identity of a person in the admin API: what the upstream calls them is for its owner alone. */
export const identityView = (identity: ConnectedIdentity) => ({
  ...pick(identity, ['id', 'upstreamId']),
  displayName: identity.upstream,
  ...pick(identity, ['issuer', 'subject', 'isActive']),
  createdAt: iso(identity.createdAt),
  lastUsedAt: identity.lastUsedAt === null ? null : iso(identity.lastUsedAt),
});
