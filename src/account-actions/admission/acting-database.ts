import { InsufficientPermission } from '../../operators/refusal.ts';
import type { Place } from '../../operators/rights.ts';
import type { Database, Work } from '../../platform/database/database.ts';
import { isFinishing } from '../../platform/database/finishing.ts';

/** Thrown in a unit of work, which rolls it back. */
class CredentialEnded extends Error {
  override readonly name = 'CredentialEnded';
}

/** Who acts on a database, and how it is found out at the beginning of each unit of work that they may. */
export interface Acting {
  /**
   * Whether the request changes what it is about. What it then reads after its commit is its own result, which its end no longer denies.
   * Any other request shows what it reads.
   */
  readonly acts: boolean;
  /** Whether the credential is still valid; for a unit of work that writes, it also keeps it from ending until the unit has. */
  readonly verify: (locks: boolean) => Work<boolean>;
  /** Makes the error for a credential that is not valid any more. */
  readonly ended: () => Promise<Error>;
  /**
   * Throws where the operator may not do what is asked for.
   * @param places where the objects are, as earlier units of work of the request found them
   */
  readonly admit: (locks: boolean, places: Map<string, Place>) => Work<void>;
  readonly refused: (refusal: InsufficientPermission) => Promise<void>;
}

/**
 * A database for one request, in which each unit of work first checks that the credential of the operator is still valid, and that what the
 * request asks for is within its rights. Either may end while the request waits for its body, a password hash or a picture, or between two
 * of its commits: what takes many stops before the next one.
 *
 * Once the request has committed, two things are not checked: what an act reads of its own result, and what finishes an ending by
 * `finishingDatabase`.
 */
export function actingDatabase(database: Database, { acts, verify, ended, admit, refused }: Acting): Database {
  let hasCommitted = false;
  const places = new Map<string, Place>();

  async function run<T>(unit: Promise<T>): Promise<T> {
    try {
      return await unit;
    } catch (error) {
      if (error instanceof InsufficientPermission) await refused(error);
      throw error instanceof CredentialEnded ? await ended() : error;
    }
  }

  function* checked<T>(locks: boolean, work: () => Work<T>): Work<T> {
    if (!(yield* verify(locks))) throw new CredentialEnded('the credential has ended');
    // Only what the request itself removed may be gone.
    if (!hasCommitted) places.clear();
    yield* admit(locks, places);
    return yield* work();
  }

  return {
    ...database,
    read: (work) => (acts && hasCommitted ? database.read(work) : run(database.read(() => checked(false, work)))),
    async commit(work) {
      if (hasCommitted && isFinishing(work)) return database.commit(work);
      const result = await run(database.commit(() => checked(true, work)));
      hasCommitted = true;
      return result;
    },
  };
}
