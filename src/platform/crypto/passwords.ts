import { hash, verify } from '@node-rs/argon2';
import { boundedPool } from '../bounded-pool.ts';
import { loopCaughtUp } from '../event-loop.ts';
import { IMMEDIATELY, type Turn } from '../turns.ts';
import { randomSecret } from './secrets.ts';

/**
 * A password as it is hashed (RFC 8265 §4.2.2, the OpaqueString profile): systems write the same letter composed or decomposed, and some type
 * a space that is not ASCII's. Nothing else is changed: neither case nor the spaces around it.
 */
export const normalizePassword = (password: string): string => password.replace(/\p{Zs}/gu, ' ').normalize('NFC');

/** The library's number for Argon2id. Its enum is const, so it does not exist at run time. */
const ARGON2ID = 2;

/** The cost of a hash: memory in KiB, and the number of passes. */
export interface HashCost {
  readonly memoryCost: number;
  readonly timeCost: number;
}

/** The OWASP Password Storage Cheat Sheet's first choice for Argon2id with one lane: 19 MiB, two passes. */
export const HASH_COST: HashCost = { memoryCost: 19_456, timeCost: 2 };

/** Whether a stored hash is cheaper to guess than a new one would be. A more expensive one is kept. */
function isWeaker(stored: string, cost: HashCost): boolean {
  const [, memory, time] = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=\d+\$/.exec(stored) ?? [];
  return memory === undefined || Number(memory) < cost.memoryCost || Number(time) < cost.timeCost;
}

/** How many hashes may wait for each that runs. */
const QUEUE_FACTOR = 32;

/**
 * How long the event loop gets to catch up between two hashes, in milliseconds. It never gets longer than the previous hash took, so
 * that even with a busy event loop about half as many passwords are checked.
 */
const MAX_PAUSE = 50;

export type PasswordCheck = 'right' | 'right, hash outdated' | 'wrong';

/**
 * Hashes and checks passwords off the event loop, a limited number at a time, and lets the event loop catch up in between.
 * Each of the flows, an address or an account, gets a fair share of the queue (see {@link boundedPool}).
 */
export interface Passwords {
  hash(password: string, flows: readonly string[]): Promise<string>;
  /** `stored` is null for an account without a password, or no account; this takes as long as a wrong password. */
  check(password: string, stored: string | null, flows: readonly string[]): Promise<PasswordCheck>;
  load(): { readonly running: number; readonly waiting: number };
}

/**
 * @param concurrency how many hashes run at the same time
 * @param shared where processes share that number: what gives this one a turn, and how many they are
 * @returns functions that throw `temporarily_unavailable` when too many are waiting
 */
export function passwords(
  concurrency: number,
  cost: HashCost,
  shared: { readonly turn: Turn; readonly processes: number } = { turn: IMMEDIATELY, processes: 1 },
): Passwords {
  const parameters = { algorithm: ARGON2ID, parallelism: 1, ...cost };
  const busy = 'Too many people are signing in. Try again in a moment.';
  const rest = (took: number) => loopCaughtUp(Math.min(took, MAX_PAUSE));
  // Together they let as many wait as one would.
  const queue = Math.ceil((concurrency * QUEUE_FACTOR) / shared.processes);
  const pool = boundedPool(concurrency, queue, busy, rest);
  let asking = 0;
  const run = <T>(task: () => Promise<T>, flows: readonly string[]): Promise<T> =>
    pool.run(() => {
      asking++;
      return shared.turn(() => {
        asking--;
        return task();
      });
    }, flows);
  let dummy: Promise<string> | undefined;
  return {
    load() {
      const { running, waiting } = pool.load();
      return { running: running - asking, waiting: waiting + asking };
    },
    hash: (password, flows) => run(() => hash(normalizePassword(password), parameters), flows),
    async check(password, stored, flows) {
      const normalized = normalizePassword(password);
      if (stored === null) {
        dummy ??= hash(randomSecret(), parameters);
        const decoy = await dummy;
        await run(() => verify(decoy, normalized), flows);
        return 'wrong';
      }
      if (!(await run(() => verify(stored, normalized), flows))) return 'wrong';
      return isWeaker(stored, cost) ? 'right, hash outdated' : 'right';
    },
  };
}
