import { InsufficientPermission } from '../../operators/refusal.ts';
import type { Database, Work } from '../../platform/database/database.ts';

/** Thrown in a unit of work, which rolls it back. */
class CredentialEnded extends Error {
  override readonly name = 'CredentialEnded';
}

/** Who acts on a database, and how it is found out at the beginning of each unit of work that they may. */
export interface Acting {
  /** Whether the credential is still valid; for a unit of work that writes, it also keeps it from ending until the unit has. */
  readonly verify: (locks: boolean) => Work<boolean>;
  /** Makes the error for a credential that is not valid any more. */
  readonly ended: () => Promise<Error>;
  /** Throws where the operator may not do what is asked for. */
  readonly admit: (locks: boolean) => Work<void>;
  readonly refused: (refusal: InsufficientPermission) => Promise<void>;
}

/**
 * A database for one request, in which each unit of work first checks that the credential of the operator is still valid, and that what the
 * request asks for is within its rights. Either may end while the request waits for its body, a password hash or a picture.
 */
export function actingDatabase(database: Database, { verify, ended, admit, refused }: Acting): Database {
  let hasCommitted = false;

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
    // What a first commit began, such as the removal of a large group, may have removed what the decision rested on.
    if (!hasCommitted) yield* admit(locks);
    return yield* work();
  }

  return {
    ...database,
    // After its commit the request reads only its own result, which its end no longer denies.
    read: (work) => (hasCommitted ? database.read(work) : run(database.read(() => checked(false, work)))),
    async commit(work) {
      const result = await run(database.commit(() => checked(true, work)));
      hasCommitted = true;
      return result;
    },
  };
}
