import type { Work } from '../platform/database/database.ts';
import { findResource } from './store.ts';

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
