import { identifierKey } from '../accounts/rules/profile.ts';
import { Failure, notFound } from '../platform/failure.ts';
import { isSnowflake } from '../platform/ids/ids.ts';
import type { Api } from './api.ts';
import type { UserView } from './records.ts';

/** Finds the ID of an account by its ID, username or email address. */
export async function accountId(api: Api, who: string): Promise<string> {
  const found = await find(api, who);
  if (found === undefined) throw notFound(`There is no user ${who}. List them with: tessera user list`);
  return found;
}

async function find(api: Api, who: string): Promise<string | undefined> {
  const key = identifierKey(who);
  try {
    // An account whose ID, username or address it is comes first.
    const { items } = await api.get<{ items: readonly UserView[] }>('/users', { q: who, limit: 1 });
    const [first] = items;
    if (first === undefined) return undefined;
    return [first.id, first.username, identifierKey(first.email)].includes(key) ? first.id : undefined;
  } catch (error) {
    // A role of an organization may find nobody, and may still name its members.
    if (error instanceof Failure && error.kind === 'insufficient permission' && isSnowflake(who)) return who;
    throw error;
  }
}
