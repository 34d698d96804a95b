import type { RecordThrottled } from '../../audit/throttle.ts';
import { narrowedResources, parseResources } from '../../claims/permissions.ts';
import type { AuthenticatedClient } from '../../clients/authentication/authenticate.ts';
import type { ClientKeys } from '../../clients/authentication/client-keys.ts';
import { areRegisteredResources } from '../../clients/resources.ts';
import type { Keys } from '../../keys/keys.ts';
import { take } from '../../limits/limits.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Limits } from '../../platform/config/limits.ts';
import type { Database, Work } from '../../platform/database/database.ts';
import type { Parameters } from '../../platform/http/parameters.ts';
import type { Ids } from '../../platform/ids/ids.ts';
import { invalidTarget, type OAuthError, rateLimited } from '../../platform/oauth-error.ts';
import { addressBucket } from '../../platform/validation/ip-address.ts';
import type { AccessTokenResponse, TokenResponse } from './mint.ts';
import { audience } from './rules/claims.ts';

/** What the token endpoint, revocation and introspection work with. */
export interface TokenParts {
  readonly database: Database;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly keys: Keys;
  readonly issuer: string;
  readonly limits: Limits;
  readonly clientKeys: ClientKeys;
  readonly recordThrottled: RecordThrottled;
}

/** A grant: exchanges what the parameters present for tokens. It counts the request before it looks at the parameters. */
export type GrantHandler = (
  parts: TokenParts,
  authenticated: AuthenticatedClient,
  parameters: Parameters,
) => Promise<AccessTokenResponse & Partial<TokenResponse>>;

/**
 * Counts a request against the client's limit. Anyone can act as a public client, so those are counted per network address:
 * otherwise one caller could use up the limit of all.
 * @returns the error to answer with, where the limit is exceeded
 */
export function* countRequest(
  { limits }: TokenParts,
  { client, proof, origin }: AuthenticatedClient,
  now: number,
): Work<OAuthError | undefined> {
  const from = proof.kind === 'public' ? ` ${addressBucket(origin.address ?? '')}` : '';
  const about = { name: 'token', origin, clientId: client.id } as const;
  const seconds = yield* take(`token ${client.id}${from}`, limits.token, now, about);
  return seconds > 0 ? rateLimited(seconds) : undefined;
}

/** RFC 8707 §2: the resources that a token request names, or `invalid_target`. */
export const requestedResources = (parameters: Parameters): readonly string[] | OAuthError =>
  parseResources(parameters.all('resource')) ??
  invalidTarget('resource must be an absolute URI without a fragment, and there may be five at most.');

/**
 * RFC 8707 §2.2: the granted resources that a token is for; null where the authorization named none. They must still be
 * registered.
 * @returns undefined where a requested one was not granted, or is no longer registered
 */
export function* grantedResources(
  { issuer }: Pick<TokenParts, 'issuer'>,
  granted: readonly string[] | null,
  requested: readonly string[],
): Work<readonly string[] | null | undefined> {
  const resources = narrowedResources(granted, requested);
  if (resources === undefined || resources === null) return resources;
  return (yield* areRegisteredResources(resources, { issuer, own: audience(issuer, 'access') }))
    ? resources
    : undefined;
}

export const unknownResource = (): OAuthError =>
  invalidTarget('resource is not one that is registered here, or not one that was granted.');
