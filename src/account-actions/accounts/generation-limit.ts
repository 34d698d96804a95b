import { exceededRolling, takeRolling } from '../../limits/limits.ts';
import type { Limits } from '../../limits/settings.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Database, Work } from '../../platform/database/database.ts';
import { Failure } from '../../platform/failure.ts';
import type { Origin } from '../../platform/validation/origin.ts';

/** Who begins a new generation of which account. */
export interface GenerationSubject {
  readonly accountId: string;
  readonly origin: Origin;
}

const countOf = (limits: Limits, { accountId, origin }: GenerationSubject, now: number) =>
  [
    `generations of ${accountId}`,
    limits.generationAccount,
    1,
    now,
    { name: 'generationAccount', origin, accountId },
  ] as const satisfies Parameters<typeof takeRolling>;

interface LimitServices {
  readonly database: Database;
  readonly clock: Clock;
  readonly limits: Limits;
}

/**
 * Refuses an act of a person that begins a new generation of the account, where there were too many: each ends the links that were sent
 * before, and a thief must not end them faster than the owner can open one.
 * @throws {Failure} `limited`
 */
export async function requireFewGenerations(
  { database, clock, limits }: LimitServices,
  subject: GenerationSubject,
): Promise<void> {
  const now = clock();
  reject(await database.commit(() => exceededRolling(...countOf(limits, subject, now))));
}

/**
 * Counts such an act before it is done.
 * @throws {Failure} `limited`
 */
export async function takeGeneration(
  { database, clock, limits }: LimitServices,
  subject: GenerationSubject,
): Promise<void> {
  const now = clock();
  reject(await database.commit(() => takeRolling(...countOf(limits, subject, now))));
}

/** @throws {Failure} `limited` unless there are 0 seconds to wait */
function reject(seconds: number): void {
  if (seconds === 0) return;
  const minutes = Math.ceil(seconds / 60);
  const text = `This account was secured too often. Try again in ${minutes} ${minutes === 1 ? 'minute' : 'minutes'}.`;
  throw new Failure('limited', text, { retryAfter: seconds });
}

/** Counts an act that {@link requireFewGenerations} has let through, in its unit of work. */
export function* countGeneration(limits: Limits, subject: GenerationSubject, now: number): Work<void> {
  yield* takeRolling(...countOf(limits, subject, now));
}
