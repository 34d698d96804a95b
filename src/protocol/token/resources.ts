import { areResources } from '../../clients/resources.ts';
import { narrowedResources, parseResources } from '../../clients/rules/resources.ts';
import type { Work } from '../../platform/database/database.ts';
import type { Parameters } from '../../platform/http/parameters.ts';
import { invalidTarget, type OAuthError } from '../../platform/oauth-error.ts';
import type { TokenParts } from './parts.ts';
import { audience } from './rules/claims.ts';

/**
 * RFC 8707 §2: what a token request asks a token for; none where it names nothing.
 * @throws {OAuthError} `invalid_target`
 */
export function askedResources(parameters: Parameters): readonly string[] {
  const resources = parseResources(parameters.all('resource'));
  if (resources === undefined) {
    throw invalidTarget('resource must be an absolute URI without a fragment, and there may be five at most.');
  }
  return resources;
}

/**
 * RFC 8707 §2.2: for which of the granted resources a token is; null where none was ever named. They must still be registered.
 * @returns undefined where one is asked for that was not granted, or is no longer there
 */
export function* grantedResources(
  { issuer }: Pick<TokenParts, 'issuer'>,
  granted: readonly string[] | null,
  asked: readonly string[],
): Work<readonly string[] | null | undefined> {
  const resources = narrowedResources(granted, asked);
  if (resources === undefined || resources === null) return resources;
  return (yield* areResources(resources, { issuer, own: audience(issuer, 'access') })) ? resources : undefined;
}

export const unknownResource = (): OAuthError =>
  invalidTarget('resource is not one that is registered here, or not one that was granted.');
