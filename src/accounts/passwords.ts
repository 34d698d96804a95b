import { hash, verify } from '@node-rs/argon2';
import { boundedPool } from '../bounded-pool.ts';
import { OAuthError } from '../oauth-error.ts';
import { randomSecret } from '../secrets.ts';

/** The library's number for Argon2id; its own name for it is erased with the types. */
const ARGON2ID = 2;

/** Argon2id at the OWASP Password Storage Cheat Sheet's first choice: 19 MiB, two passes, one lane. */
const PARAMETERS = { algorithm: ARGON2ID, memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

/** Whether a stored hash costs a guesser less than a new one would; one that costs more is left as it is. */
function isWeaker(stored: string): boolean {
  const [, memory, time] = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=\d+\$/.exec(stored) ?? [];
  return memory === undefined || Number(memory) < PARAMETERS.memoryCost || Number(time) < PARAMETERS.timeCost;
}

/** How many sign-ins may wait for one that is being hashed, for each that runs. */
const QUEUE_FACTOR = 32;

export type PasswordCheck = 'right' | 'right, hash outdated' | 'wrong';

/** Hashes and checks passwords off the event loop, a bounded number at a time. */
export interface Passwords {
  hash(password: string): Promise<string>;
  /** Takes as long for an account without a password, or no account (`null`), as for a wrong password. */
  check(password: string, stored: string | null): Promise<PasswordCheck>;
  load(): { readonly running: number; readonly waiting: number };
}

/**
 * @param concurrency how many hashes run side by side
 * @returns functions that throw {@link OAuthError} `temporarily_unavailable` when too many wait already
 */
export function passwords(concurrency: number): Passwords {
  const busy = 'Too many people are signing in. Try again in a moment.';
  const { run, load } = boundedPool(
    concurrency,
    concurrency * QUEUE_FACTOR,
    () => new OAuthError(503, 'temporarily_unavailable', busy, { 'retry-after': '2' }),
  );
  let dummy: Promise<string> | undefined;
  return {
    load,
    hash: (password) => run(() => hash(password, PARAMETERS)),
    async check(password, stored) {
      if (stored === null) {
        dummy ??= hash(randomSecret(), PARAMETERS);
        const decoy = await dummy;
        await run(() => verify(decoy, password));
        return 'wrong';
      }
      if (!(await run(() => verify(stored, password)))) return 'wrong';
      return isWeaker(stored) ? 'right, hash outdated' : 'right';
    },
  };
}
