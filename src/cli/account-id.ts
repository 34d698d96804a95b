import { findByIdOrIdentifier } from '../accounts/store.ts';
import type { Core } from '../core.ts';
import { notFound } from '../platform/failure.ts';

/** Finds the ID of an account by its ID, username or email address. */
export async function accountId({ database }: Pick<Core, 'database'>, who: string): Promise<string> {
  const account = await database.read(() => findByIdOrIdentifier(who));
  if (account === undefined) throw notFound(`There is no user ${who}. List them with: tessera user list`);
  return account.id;
}
