import type { ApiScope } from '../claims/rules/api-scopes.ts';
import type { Work } from '../platform/database/database.ts';
import { describeResourceScope } from './resource-fields.ts';
import { findClient, findResource } from './store.ts';

/** Whether a resource identifier is at or below the issuer, where only this service's own resources may be. */
export const isOwnResource = (resource: string, issuer: string): boolean =>
  resource === issuer || ['/', '?'].some((next) => resource.startsWith(issuer + next));

/** The resource servers that clients registered, with the names that users know; this service's own are not among them. */
export function* findResourceServers(
  resources: readonly string[],
): Work<{ readonly name: string; readonly resource: string }[]> {
  const servers = [];
  for (const resource of resources) {
    const client = yield* findResource({ resource });
    if (client !== undefined) servers.push({ name: client.name, resource });
  }
  return servers;
}

/** A scope of an API in the words of the consent page. */
export interface DescribedScope extends ApiScope {
  readonly text: string;
  /** The name that users know the API by. */
  readonly apiName: string;
}

/** Scopes of APIs in the words of the consent page, in the given order. */
export function* describeApiScopes(scopes: readonly ApiScope[], language: string): Work<readonly DescribedScope[]> {
  const described: DescribedScope[] = [];
  for (const apiId of new Set(scopes.map((scope) => scope.apiId))) {
    const api = yield* findClient({ id: apiId });
    for (const scope of scopes.filter((one) => one.apiId === apiId)) {
      const declared = api?.resourceScopes?.find(({ name }) => name === scope.name);
      if (api === undefined || declared === undefined) continue;
      described.push({ ...scope, text: describeResourceScope(declared, language), apiName: api.name });
    }
  }
  return described;
}

/**
 * Whether tokens may be issued for all of these resources: each is registered by an active client, or is `own`, the UserInfo
 * endpoints of this service.
 */
export function* areRegisteredResources(
  resources: readonly string[],
  { issuer, own }: { readonly issuer: string; readonly own: string },
): Work<boolean> {
  for (const resource of resources) {
    if (resource === own) continue;
    if (isOwnResource(resource, issuer)) return false;
    if ((yield* findResource({ resource }))?.status !== 'active') return false;
  }
  return true;
}
