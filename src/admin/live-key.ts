import type { Database, Work } from '../platform/database/database.ts';
import type { OAuthError } from '../platform/oauth-error.ts';
import { findLiveAdminKey, holdLiveAdminKey } from './key-store.ts';

/** Thrown by a unit of work, so that nothing of it happens. */
class KeyRevoked extends Error {
  override readonly name = 'KeyRevoked';
}

/**
 * The database for one request: each unit of work first checks that the admin key is still live. A request may wait between
 * its authentication and its act, for a body, a password hash or a picture, and the key may be revoked meanwhile.
 * @param refusal makes the error of a request whose key was revoked
 */
export function whileKeyLives(database: Database, hash: string, refusal: () => Promise<OAuthError>): Database {
  let acted = false;

  async function run<T>(unit: Promise<T>): Promise<T> {
    try {
      return await unit;
    } catch (error) {
      throw error instanceof KeyRevoked ? await refusal() : error;
    }
  }

  return {
    ...database,
    // What a request reads after its act belongs to that act, which is done: a refusal would deny it.
    read: (work) => (acted ? database.read(work) : run(database.read(() => checked(findLiveAdminKey(hash), work)))),
    async commit(work) {
      const result = await run(database.commit(() => checked(holdLiveAdminKey(hash), work)));
      acted = true;
      return result;
    },
  };
}

function* checked<T>(key: Work<string | undefined>, work: () => Work<T>): Work<T> {
  if ((yield* key) === undefined) throw new KeyRevoked('the admin key was revoked');
  return yield* work();
}
