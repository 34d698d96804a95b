export const UPSTREAMS = '/console/upstreams';

export const upstreamAddress = (id: string): string => `${UPSTREAMS}/${id}`;

/** Where the kind of a new provider is chosen. */
export const NEW_UPSTREAM = `${UPSTREAMS}/new`;

export type UpstreamActName =
  | 'create'
  | 'change'
  | 'domains'
  | 'secret'
  | 'test'
  | 'preview'
  | 'switch-off'
  | 'switch-on'
  | 'delete';

/** Where an act on a provider has its page. */
export const upstreamActPath = (act: UpstreamActName): string => `${UPSTREAMS}/${act}`;

export const upstreamActAddress = (act: UpstreamActName, about: Readonly<Record<string, string>>): string =>
  `${upstreamActPath(act)}?${new URLSearchParams(about)}`;

/** Where the organization that is let in only through one provider is said. */
export const ONLY_UPSTREAM = '/console/organizations/only-upstream';

export const onlyUpstreamAddress = (organizationId: string): string =>
  `${ONLY_UPSTREAM}?${new URLSearchParams({ id: organizationId })}`;
