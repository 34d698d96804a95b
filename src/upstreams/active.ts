import type { Database } from '../platform/database/database.ts';
import { findUpstreamByName, type Upstream } from './store.ts';

/** An upstream that people can use, by its name. */
export async function findActive(
  { database }: { readonly database: Database },
  name: string,
): Promise<Upstream | undefined> {
  // No name has other characters, and PostgreSQL refuses some of them in a parameter.
  if (!/^[a-z0-9-]{1,64}$/.test(name)) return undefined;
  const found = await database.read(() => findUpstreamByName({ name }));
  return found?.status === 'active' ? found : undefined;
}
