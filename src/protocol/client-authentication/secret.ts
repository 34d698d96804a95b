import { type ClientSecret, markSecretUsed } from '../../clients/store.ts';
import { HOUR } from '../../platform/clock.ts';
import { equalSecrets } from '../../platform/crypto/secrets.ts';
import type { Database } from '../../platform/database/database.ts';
import type { AuthenticationFailure } from './authenticate.ts';

/**
 * `client_secret_basic` and `client_secret_post`.
 * @param hash the hash of the presented secret
 * @param secrets those of the client that are valid now
 * @returns the stored secret that the presented one equals
 */
export function matchSecret(
  presented: string,
  hash: string,
  secrets: readonly ClientSecret[],
): ClientSecret | AuthenticationFailure {
  const match = secrets.find((secret) => equalSecrets(secret.hash, hash));
  if (presented === '') return { reason: 'no secret' };
  return match ?? { reason: 'wrong secret' };
}

/** Stores when a secret was used last, to within an hour: most requests write nothing. */
export async function recordSecretUse(
  database: Database,
  { id, lastUsedAt }: ClientSecret,
  now: number,
): Promise<void> {
  if (lastUsedAt === null || lastUsedAt + HOUR <= now) await database.commit(() => markSecretUsed({ id, now }));
}
