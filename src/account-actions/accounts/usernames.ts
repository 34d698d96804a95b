import { findReplaced, rememberReplaced } from '../../accounts/replaced-store.ts';
import { type Account, findByIdentifier } from '../../accounts/store.ts';
import {
  findReservation,
  removeReservation,
  removeReservationsOf,
  reserveUsername,
} from '../../accounts/username-store.ts';
import { record } from '../../audit/audit.ts';
import { type Clock, DAY, iso } from '../../platform/clock.ts';
import type { Database, Work } from '../../platform/database/database.ts';
import { Failure, notFound } from '../../platform/failure.ts';
import type { Origin } from '../../platform/validation/origin.ts';

/** How long a username that was changed or deleted is held, so that nobody can pose as its former owner. */
const HOLD = 90 * DAY;

/** Another account has the username or the email address, or gave the username up not long ago. */
export class FieldTaken extends Failure {
  readonly field: 'username' | 'email';
  /** Until when a username is held that no account has. */
  readonly heldUntil: number | undefined;
  constructor(field: 'username' | 'email', description: string, heldUntil?: number) {
    super('conflict', description);
    this.field = field;
    this.heldUntil = heldUntil;
  }
}

/**
 * Rejects a username that is held for another owner. It looks after the account was written: a change that freed the name meanwhile
 * has committed by then.
 * @throws {FieldTaken}
 */
export function* rejectHeldUsername(username: string, accountId: string, now: number): Work<void> {
  const held = yield* findReservation({ username });
  if (held === undefined || held.accountId === accountId || held.heldUntil <= now) return;
  throw new FieldTaken(
    'username',
    `username is held until ${iso(held.heldUntil)}: another account had it. Choose another username.`,
    held.heldUntil,
  );
}

/** Whether a new account cannot have a username: an account has it, or it is held for another owner. */
export function* isUsernameTaken(username: string, now: number): Work<boolean> {
  if ((yield* findByIdentifier(username)) !== undefined) return true;
  return ((yield* findReservation({ username }))?.heldUntil ?? 0) > now;
}

/** Holds the username that an account had before a change, or before its deletion. */
const holdUsername = (username: string, accountId: string | null, now: number): Work<void> =>
  reserveUsername({ username, accountId, heldUntil: now + HOLD });

/**
 * Frees the usernames of an account that an operator deletes, who decides who may have them (decisions §7), or holds the last one: who
 * takes the name of a person that left is not to be mistaken for them.
 */
export function* releaseUsernames(username: string, accountId: string, byOperator: boolean, now: number): Work<void> {
  if (byOperator) yield* removeReservationsOf({ accountId });
  else yield* holdUsername(username, null, now);
}

/** The username that an account had at an instant; the present one if it did not change since, or the earlier one is another account's now. */
export function* usernameAt(
  { id: accountId, profile }: Pick<Account, 'id' | 'profile'>,
  instant: number,
  now: number,
): Work<string> {
  const earlier = yield* findReplaced({ accountId, kind: 'username' }, instant);
  const username = earlier?.value ?? profile.username;
  const holder = yield* findByIdentifier(username);
  if (holder !== undefined) return holder.id === accountId ? username : profile.username;
  const held = yield* findReservation({ username });
  return held === undefined || held.accountId === accountId || held.heldUntil <= now ? username : profile.username;
}

/**
 * Moves an account from one username to another, in the unit of work that has written the account.
 * @param at the time of the account
 */
export function* replaceUsername(from: string, to: string, accountId: string, at: number): Work<void> {
  yield* rejectHeldUsername(to, accountId, at);
  yield* removeReservation({ username: to });
  yield* holdUsername(from, accountId, at);
  yield* rememberReplaced({ accountId, kind: 'username', value: from, setUpAt: 0, replacedAt: at });
}

/**
 * Lets anyone take a username that is held.
 * @throws {Failure} `not found` where it is not held
 */
export async function releaseUsername(
  { database, clock }: { readonly database: Database; readonly clock: Clock },
  username: string,
  origin: Origin,
): Promise<void> {
  const at = clock();
  await database.commit(function* release(): Work<void> {
    const held = yield* findReservation({ username });
    if (held === undefined) throw notFound(`The username ${username} is not held.`);
    yield* removeReservation({ username });
    yield* record({ at, type: 'account.username_released', origin, accountId: held.accountId });
  });
}
