import { hash, verify } from '@node-rs/argon2';
import { boundedPool } from '../bounded-pool.ts';
import { loopCaughtUp } from '../event-loop.ts';
import { randomSecret } from './secrets.ts';

/** The library's number for Argon2id; its own name for it is erased with the types. */
const ARGON2ID = 2;

/** What a hash costs whoever makes one: memory in KiB, and how often it is gone through. */
export interface HashCost {
  readonly memoryCost: number;
  readonly timeCost: number;
}

/** The OWASP Password Storage Cheat Sheet's first choice for Argon2id with one lane: 19 MiB, two passes. */
export const HASH_COST: HashCost = { memoryCost: 19_456, timeCost: 2 };

/** Whether a stored hash costs a guesser less than a new one would; one that costs more is left as it is. */
function isWeaker(stored: string, cost: HashCost): boolean {
  const [, memory, time] = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=\d+\$/.exec(stored) ?? [];
  return memory === undefined || Number(memory) < cost.memoryCost || Number(time) < cost.timeCost;
}

/** How many sign-ins may wait for one that is being hashed, for each that runs. */
const QUEUE_FACTOR = 32;

/**
 * How long the event loop may catch up between two passwords, in milliseconds. It never has longer than the hash before took:
 * beside a loop that is always busy, sign-in keeps about half of its pace.
 */
const LONGEST_REST = 50;

export type PasswordCheck = 'right' | 'right, hash outdated' | 'wrong';

/**
 * Hashes and checks passwords off the event loop, a bounded number at a time; those that wait let the loop catch up first.
 * Each of the flows, an address or an account, gets a fair share of the queue (see {@link boundedPool}).
 */
export interface Passwords {
  hash(password: string, flows: readonly string[]): Promise<string>;
  /** Takes as long for an account without a password, or no account (`null`), as for a wrong password. */
  check(password: string, stored: string | null, flows: readonly string[]): Promise<PasswordCheck>;
  load(): { readonly running: number; readonly waiting: number };
}

/**
 * @param concurrency how many hashes run side by side
 * @returns functions that refuse with `temporarily_unavailable` when too many wait already
 */
export function passwords(concurrency: number, cost: HashCost): Passwords {
  const parameters = { algorithm: ARGON2ID, parallelism: 1, ...cost };
  const busy = 'Too many people are signing in. Try again in a moment.';
  const rest = (took: number) => loopCaughtUp(Math.min(took, LONGEST_REST));
  const { run, load } = boundedPool(concurrency, concurrency * QUEUE_FACTOR, busy, rest);
  let dummy: Promise<string> | undefined;
  return {
    load,
    hash: (password, flows) => run(() => hash(password, parameters), flows),
    async check(password, stored, flows) {
      if (stored === null) {
        dummy ??= hash(randomSecret(), parameters);
        const decoy = await dummy;
        await run(() => verify(decoy, password), flows);
        return 'wrong';
      }
      if (!(await run(() => verify(stored, password), flows))) return 'wrong';
      return isWeaker(stored, cost) ? 'right, hash outdated' : 'right';
    },
  };
}
