import { storedScopes } from '../claims/permissions.ts';
import type { Work } from '../platform/database/database.ts';
import { type Positioned, positionsOf } from '../platform/database/positions.ts';
import { many } from '../platform/database/statement.ts';

/** How many people one statement looks up: those of a page. */
const AT_ONCE = 25;
const people = positionsOf(AT_ONCE, '0', 'person');

const grantsOf = many((db, p: { readonly clientId: string } & Positioned<'person'>) =>
  db
    .selectFrom('consent_grant')
    .innerJoin('account', 'account.id', 'consent_grant.account_id')
    .select(['account.id', 'account.display_name', 'consent_grant.scopes'])
    .where('consent_grant.account_id', 'in', people.list(p))
    .where('consent_grant.client_id', '=', p.clientId)
    .where('consent_grant.revoked_at', 'is', null),
);

/** The names of those people who have a grant of `profile` in force for a client, by their IDs. */
export function* namesSharedWith(clientId: string, ids: Iterable<string>): Work<ReadonlyMap<string, string>> {
  const names = new Map<string, string>();
  for (const chunk of people.chunks([...new Set(ids)])) {
    for (const row of yield* grantsOf({ ...chunk, clientId })) {
      if (storedScopes(row.scopes).has('profile')) names.set(row.id, row.display_name);
    }
  }
  return names;
}
