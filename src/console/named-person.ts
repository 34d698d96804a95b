import { grantsOf } from '../access/operator-grant-store.ts';
import { type Account, findAccount, findByIdentifier } from '../accounts/store.ts';
import { holds, INSTALLATION } from '../operators/rights.ts';
import { findMember } from '../organizations/store.ts';
import type { Work } from '../platform/database/database.ts';
import { notFound } from '../platform/failure.ts';
import { isSnowflake } from '../platform/ids/ids.ts';
import type { ConsoleVisit } from './visit.ts';

/** Of people, a role of an organization finds its members alone, and who holds one of its roles. */
function* reached(
  { operator }: ConsoleVisit,
  organizationId: string | null,
  account: Account | undefined,
): Work<Account | undefined> {
  if (account === undefined || holds(operator, 'users.read', INSTALLATION)) return account;
  if (organizationId === null) return undefined;
  if ((yield* findMember({ accountId: account.id, organizationId })) !== undefined) return account;
  const grants = yield* grantsOf(account.id);
  return grants.some((grant) => grant.organizationId === organizationId) ? account : undefined;
}

/**
 * Whom an operator names, by ID, username or address.
 * @param organizationId where the operator acts; null for the installation
 */
export function* findNamed(
  visit: ConsoleVisit,
  organizationId: string | null,
  typed: string,
): Work<Account | undefined> {
  const byId = isSnowflake(typed) ? yield* findAccount({ id: typed }) : undefined;
  return yield* reached(visit, organizationId, byId ?? (yield* findByIdentifier(typed)));
}

/**
 * The person whom an act is about: the one whose ID its page or form names, or whom the operator has looked for on its page. There is no
 * page for a form that would be refused.
 * @throws {Failure} `not found`, in the words of the console
 */
export async function getSubject(visit: ConsoleVisit, organizationId: string | null): Promise<Account> {
  const { member, userId } = visit.named;
  const found = await visit.services.database.read(function* find() {
    if (member !== '') return yield* findNamed(visit, organizationId, member);
    if (userId === undefined) return undefined;
    return yield* reached(visit, organizationId, yield* findAccount({ id: userId }));
  });
  if (found === undefined)
    throw notFound(visit.services.site.messages.operators.noSuchPerson(member || (userId ?? '')));
  await visit.services.database.read(() => visit.admitFor(found.id));
  return found;
}
