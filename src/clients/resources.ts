import type { Work } from '../platform/database/database.ts';
import { findResource } from './store.ts';

/** Whether an identifier lies at the service itself, where only its own places may have one. */
export const isOwnAddress = (resource: string, issuer: string): boolean =>
  resource === issuer || ['/', '?'].some((next) => resource.startsWith(issuer + next));

/** The names of resource servers, for people; the service's own place is not one. */
export function* placesOf(resources: readonly string[]): Work<{ readonly name: string; readonly resource: string }[]> {
  const places = [];
  for (const resource of resources) {
    const client = yield* findResource({ resource: resource });
    if (client !== undefined) places.push({ name: client.name, resource });
  }
  return places;
}

/**
 * Whether there may be tokens for all of these: each is an active client that registered it as its own, or the place of the
 * service itself that takes access tokens.
 */
export function* areResources(
  resources: readonly string[],
  { issuer, own }: { readonly issuer: string; readonly own: string },
): Work<boolean> {
  for (const resource of resources) {
    if (resource === own) continue;
    if (isOwnAddress(resource, issuer)) return false;
    if ((yield* findResource({ resource: resource }))?.status !== 'active') return false;
  }
  return true;
}
