import { type Account, findAccount, findByIdentifier } from '../accounts/store.ts';
import { holds, INSTALLATION } from '../operators/rights.ts';
import { findMember } from '../organizations/store.ts';
import type { Work } from '../platform/database/database.ts';
import { notFound } from '../platform/failure.ts';
import { isSnowflake } from '../platform/ids/ids.ts';
import type { ConsoleVisit } from './visit.ts';

/**
 * Whom an operator names, by ID, username or address. Of people, a role of an organization finds its members alone.
 * @param organizationId where the operator acts; null for the installation
 */
export function* findNamed(
  { operator }: ConsoleVisit,
  organizationId: string | null,
  typed: string,
): Work<Account | undefined> {
  const byId = isSnowflake(typed) ? yield* findAccount({ id: typed }) : undefined;
  const account = byId ?? (yield* findByIdentifier(typed));
  if (account === undefined || holds(operator, 'users.read', INSTALLATION)) return account;
  if (organizationId === null) return undefined;
  return (yield* findMember({ accountId: account.id, organizationId })) === undefined ? undefined : account;
}

/** The same. @throws {Failure} `not found`, in the words of the console */
export async function getNamed(visit: ConsoleVisit, organizationId: string | null, typed: string): Promise<Account> {
  const found = await visit.services.database.read(() => findNamed(visit, organizationId, typed));
  if (found === undefined) throw notFound(visit.services.site.messages.operators.noSuchPerson(typed));
  return found;
}
