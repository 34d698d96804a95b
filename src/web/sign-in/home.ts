import { identifierKey } from '../../accounts/rules/profile.ts';
import type { PendingRequest } from '../../protocol/authorize/authorization.ts';
import type { HomeUpstream, Upstreams } from '../../upstreams/directory.ts';
import { domainIn } from '../../upstreams/rules/domains.ts';

interface HomeServices {
  readonly upstreams: Upstreams;
}

/** The name of the provider that an app asks for, or that has the domain that it names, if it is offered and the person only has to sign in. */
export async function askedUpstream(
  { upstreams }: HomeServices,
  { request: { upstream, domainHint }, step }: PendingRequest,
): Promise<string | undefined> {
  if (step.kind !== 'login') return undefined;
  if (step.through !== undefined) return step.through;
  if (upstream !== undefined) return (await upstreams.shown()).find(({ name }) => name === upstream)?.name;
  return domainHint === undefined ? undefined : (await upstreams.homeOf(domainHint))?.name;
}

/**
 * The provider that is authoritative for an address that was typed (home realm discovery). Only the domain decides, so that nothing is told of
 * accounts.
 */
export async function homeOf({ upstreams }: HomeServices, identifier: string): Promise<HomeUpstream | undefined> {
  const domain = domainIn(identifierKey(identifier));
  return domain === undefined ? undefined : upstreams.homeOf(domain);
}
