import { identifierKey } from '../../accounts/rules/profile.ts';
import type { PendingRequest } from '../../protocol/authorize/authorization.ts';
import type { HomeUpstream, Upstreams } from '../../upstreams/directory.ts';
import { domainIn } from '../../upstreams/rules/domains.ts';

interface HomeServices {
  readonly upstreams: Upstreams;
}

/**
 * The name of the provider that an app asks for, or that has the domain or the organization that it names, if it is offered and the person
 * only has to sign in.
 */
export async function askedUpstream(
  { upstreams }: HomeServices,
  { request: { upstream, domainHint, organization }, step }: PendingRequest,
): Promise<string | undefined> {
  if (step.kind !== 'login') return undefined;
  if (step.through !== undefined) return step.through;
  if (upstream !== undefined) return (await upstreams.shown()).find(({ name }) => name === upstream)?.name;
  const ofDomain = domainHint === undefined ? undefined : await upstreams.homeOf(domainHint);
  if (ofDomain !== undefined || organization === undefined) return ofDomain?.name;
  return (await upstreams.ofOrganization({ name: organization }))?.upstream.name;
}

/**
 * The provider that is authoritative for an address that was typed (home realm discovery). Only the domain decides, so that nothing is told of
 * accounts.
 */
export async function homeOf({ upstreams }: HomeServices, identifier: string): Promise<HomeUpstream | undefined> {
  const domain = domainIn(identifierKey(identifier));
  return domain === undefined ? undefined : upstreams.homeOf(domain);
}

/** A provider to which the sign-in page leads. */
export interface OfferedHome {
  readonly upstream: HomeUpstream;
  /** The organization whose members are led there; null for the people with an address of the domain that was typed. */
  readonly organization: string | null;
}

/**
 * The provider to which the sign-in page leads: by the domain of what was typed, else by the organization that the app belongs to or names.
 * Its owners, and people outside, sign in as they like.
 */
export async function offeredHome(
  services: HomeServices,
  identifier: string,
  pending: PendingRequest | undefined,
): Promise<OfferedHome | undefined> {
  const typed = await homeOf(services, identifier);
  if (typed !== undefined) return { upstream: typed, organization: null };
  if (pending === undefined) return undefined;
  const { client, request } = pending;
  const { upstreams } = services;
  const owner =
    client.organizationId === null ? undefined : await upstreams.ofOrganization({ id: client.organizationId });
  if (owner !== undefined || request.organization === undefined) return owner;
  return upstreams.ofOrganization({ name: request.organization });
}
