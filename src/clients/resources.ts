import type { Work } from '../database/database.ts';
import { findResource } from './store.ts';

/** Whether an identifier lies at the service itself, where only its own places may have one. */
export const isOwnAddress = (resource: string, issuer: string): boolean =>
  resource === issuer || ['/', '?'].some((next) => resource.startsWith(issuer + next));

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
    if ((yield* findResource(resource))?.status !== 'active') return false;
  }
  return true;
}
