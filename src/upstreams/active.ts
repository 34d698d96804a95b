import type { Database } from '../platform/database/database.ts';
import { findUpstreamByName, type Upstream } from './store.ts';

/** An upstream that people can use, by its name. */
export async function findActive(
  { database }: { readonly database: Database },
  name: string,
): Promise<Upstream | undefined> {
  const found = await findByName({ database }, name);
  return found?.status === 'active' ? found : undefined;
}

/** An upstream, also one that is disabled, by its name. */
export async function findByName(
  { database }: { readonly database: Database },
  name: string,
): Promise<Upstream | undefined> {
  // No name has other characters, and PostgreSQL refuses some of them in a parameter.
  if (!/^[a-z0-9-]{1,64}$/.test(name)) return undefined;
  return database.read(() => findUpstreamByName({ name }));
}
