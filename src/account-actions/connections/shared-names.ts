import { isRegisteredScope } from '../../claims/permissions.ts';
import type { Client } from '../../clients/store.ts';
import { namesSharedWith } from '../../consent/named-store.ts';
import type { Work } from '../../platform/database/database.ts';

/**
 * Records of an app, each with the name of the person whom it is about, while that person lets the app read it: by a grant in force of
 * `profile`, which the app may still request.
 */
export function* withSharedNames<T extends { readonly userId: string | null }>(
  { id, scopes }: Pick<Client, 'id' | 'scopes'>,
  records: readonly T[],
): Work<readonly (T & { readonly userName: string | null })[]> {
  const ids = isRegisteredScope('profile', scopes) ? records.flatMap(({ userId }) => userId ?? []) : [];
  const names = yield* namesSharedWith(id, ids);
  return records.map((record) => ({ ...record, userName: names.get(record.userId ?? '') ?? null }));
}
