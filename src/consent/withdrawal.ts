import { dropCodesFor, withdrawFromCodes } from '../credentials/code-store.ts';
import { killFamiliesFor, withdrawFromFamilies } from '../credentials/family-store.ts';
import type { Work } from '../platform/database/database.ts';
import { scopesNoLongerGranted } from './rules/consent.ts';
import type { ConsentGrant } from './store.ts';

/**
 * Takes what a decision took away from everything issued under the same grant, for good: a scope from every code and family,
 * and a family whole where a resource of it is no longer allowed, for its access tokens are out there.
 *
 * The caller holds the grant's lock, so that no code is added. Codes come before families: a redemption under way holds its
 * code, so once that can be written, its family is on record.
 */
export function* withdraw(before: ConsentGrant, after: ConsentGrant, now: number): Work<void> {
  const scopes = scopesNoLongerGranted(before.scopes, after.scopes);
  const resources = before.resources.difference(after.resources);
  if (scopes.length > 0) yield* withdrawFromCodes(before.id, scopes);
  if (resources.size > 0) yield* dropCodesFor(before.id, resources);
  if (scopes.length > 0) yield* withdrawFromFamilies(before.id, scopes);
  if (resources.size > 0) yield* killFamiliesFor(before.id, resources, now);
}
