import { isDeepStrictEqual } from 'node:util';
import { type EventType, record } from '../audit/audit.ts';
import { eraseReasons } from '../audit/erase-store.ts';
import { enqueueAccountNotices } from '../notices/enqueue.ts';
import type { Picture } from '../pictures/pictures.ts';
import { replacePicture } from '../pictures/store.ts';
import type { Clock } from '../platform/clock.ts';
import type { Passwords } from '../platform/crypto/passwords.ts';
import { randomIdentifier } from '../platform/crypto/secrets.ts';
import type { Database, Work } from '../platform/database/database.ts';
import { addressFlows, type Origin } from '../platform/http/origin.ts';
import type { Ids } from '../platform/ids/ids.ts';
import { conflict, invalidRequest, notFound } from '../platform/oauth-error.ts';
import { isCommonPassword } from './common-passwords.ts';
import type { Profile } from './fields.ts';
import { changeProfile, newProfile } from './rules/profile.ts';
import type { BanRequest, CreateUserRequest, SuspensionRequest, UpdateUserRequest } from './schema.ts';
import type { Account } from './store.ts';
import * as store from './store.ts';

interface Parts {
  readonly database: Database;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly passwords: Passwords;
}
type Stored = Pick<Parts, 'database' | 'clock'>;

const missing = (id: string) => notFound(`There is no user with the id ${id}.`);

/** @throws {OAuthError} `invalid_request` for a password that would be guessed first */
async function refuseCommon(password: string, { username, email }: Pick<Profile, 'username' | 'email'>): Promise<void> {
  if (!(await isCommonPassword(password, [username, email]))) return;
  throw invalidRequest(
    'password must be harder to guess: this one is among the most used, or made of a name. A few unrelated words make a good one.',
  );
}

function* refuseTaken(profile: Profile, ownId: string): Work<void> {
  const field = yield* store.takenField(profile, ownId);
  if (field !== undefined) throw conflict(`${field} is taken: another account has it. Choose another ${field}.`);
}

/**
 * Makes an account.
 * @throws {OAuthError} `conflict` when the user name or email address is taken, `invalid_request` for a bad field or a common password
 */
export async function createAccount(parts: Parts, input: CreateUserRequest, origin: Origin): Promise<Account> {
  const now = parts.clock();
  const id = await parts.ids.next();
  const profile = newProfile(input, id, now);
  if (input.password !== undefined) await refuseCommon(input.password, profile);
  const passwordHash =
    input.password === undefined ? null : await parts.passwords.hash(input.password, addressFlows(origin));
  const account: Account = {
    id,
    profile,
    passwordHash,
    generation: randomIdentifier(),
    bannedAt: null,
    bannedUntil: null,
    banReason: null,
    suspendedAt: null,
    suspensionReason: null,
    createdAt: now,
    updatedAt: now,
  };
  await parts.database.commit(function* create() {
    if (!(yield* store.insertAccount(account))) {
      yield* refuseTaken(profile, id);
      throw conflict('username or email is taken: another account has it.');
    }
    yield* record({ at: now, type: 'account.created', origin, accountId: id });
  });
  return account;
}

/**
 * Changes an account under its lock and records the event, in one commit.
 * @param apply what becomes of the account as it is then; the same object where there is nothing to change
 * @param also more work of the same commit, given the account as changed
 * @throws {OAuthError} `not_found`, `conflict` where a unique field is taken, and what `apply` throws
 */
export async function changeAccount(
  { database, clock }: Stored,
  id: string,
  event: { type: EventType; origin: Origin; details?: Readonly<Record<string, unknown>> },
  apply: (account: Account, now: number) => Account,
  also?: (changed: Account) => Work<void>,
): Promise<Account> {
  const now = clock();
  return database.commit(function* apply_(): Work<Account> {
    const account = yield* store.lockAccount({ id });
    if (account === undefined) throw missing(id);
    const applied = apply(account, now);
    // Nothing to change is nothing to record.
    if (applied === account) return account;
    const changed = { ...applied, updatedAt: now };
    yield* refuseTaken(changed.profile, id);
    if (changed.generation !== account.generation) yield* enqueueAccountNotices(id, now);
    yield* store.saveAccount(changed);
    if (also !== undefined) yield* also(changed);
    yield* record({ at: now, accountId: id, ...event });
    return changed;
  });
}

/**
 * Changes fields of an account. A new password ends every session and token from before.
 * @throws {OAuthError} `not_found`, `conflict`, `invalid_request`
 */
export async function updateAccount(
  parts: Stored & Pick<Parts, 'passwords'>,
  id: string,
  input: UpdateUserRequest,
  origin: Origin,
): Promise<Account> {
  if (input.password !== undefined) {
    const { profile } = await getAccount(parts, id);
    await refuseCommon(input.password, { ...profile, ...input });
  }
  const hash =
    input.password === undefined
      ? undefined
      : await parts.passwords.hash(input.password, [...addressFlows(origin), `account ${id}`]);
  const type = hash === undefined ? 'account.updated' : 'account.password_changed';
  return changeAccount(parts, id, { type, origin, details: { fields: Object.keys(input) } }, (account, now) => {
    const profile = changeProfile(account.profile, input, now);
    if (hash !== undefined) return { ...account, profile, passwordHash: hash, generation: randomIdentifier() };
    return isDeepStrictEqual(profile, account.profile) ? account : { ...account, profile };
  });
}

/** Gives an account a picture, or with null its initials again. Harmless where it has none. */
export function setPicture(parts: Stored, id: string, picture: Picture | null, origin: Origin): Promise<Account> {
  const name = picture?.name ?? null;
  return changeAccount(
    parts,
    id,
    { type: 'account.updated', origin, details: { fields: ['picture'] } },
    (account) =>
      account.profile.picture === name ? account : { ...account, profile: { ...account.profile, picture: name } },
    () => replacePicture({ accountId: id }, picture),
  );
}

/**
 * Deletes an account with all that hangs on it, and what operators wrote about it in the audit trail. Its name and address are
 * free again; its id never is.
 */
export async function deleteAccount({ database, clock }: Stored, id: string, origin: Origin): Promise<void> {
  const now = clock();
  await database.commit(function* remove() {
    if ((yield* store.lockAccount({ id })) === undefined) throw missing(id);
    yield* enqueueAccountNotices(id, now);
    yield* store.removeAccount({ id });
    yield* eraseReasons(id);
    yield* record({ at: now, type: 'account.deleted', origin, accountId: id });
  });
}

/**
 * Bans an account, or replaces the end and reason of its ban. Every session, code and token from before is dead for ever.
 * @throws {OAuthError} `invalid_request` when the end is not in the future
 */
export async function banAccount(parts: Stored, id: string, ban: BanRequest, origin: Origin): Promise<Account> {
  const until = ban.until == null ? null : Date.parse(ban.until);
  if (until !== null && until <= parts.clock()) {
    throw invalidRequest(`until must be in the future; got ${ban.until}. To lift a ban, delete it.`);
  }
  const details = { until, reason: ban.reason ?? null };
  return changeAccount(parts, id, { type: 'account.banned', origin, details }, (account, now) => ({
    ...account,
    bannedAt: now,
    bannedUntil: until,
    banReason: ban.reason ?? null,
    generation: randomIdentifier(),
  }));
}

/** Lifts a ban. What was dead stays dead; the person signs in anew. Harmless where there is none. */
export function unbanAccount(parts: Stored, id: string, origin: Origin): Promise<Account> {
  return changeAccount(parts, id, { type: 'account.unbanned', origin }, (account) =>
    account.bannedAt === null ? account : { ...account, bannedAt: null, bannedUntil: null, banReason: null },
  );
}

/** Suspends an account until it is reinstated. Every session, code and token from before is dead for ever. */
export function suspendAccount(parts: Stored, id: string, input: SuspensionRequest, origin: Origin): Promise<Account> {
  const details = { reason: input.reason ?? null };
  return changeAccount(parts, id, { type: 'account.suspended', origin, details }, (account, now) => ({
    ...account,
    suspendedAt: now,
    suspensionReason: input.reason ?? null,
    generation: randomIdentifier(),
  }));
}

/** Lifts a suspension. Harmless where there is none. */
export function reinstateAccount(parts: Stored, id: string, origin: Origin): Promise<Account> {
  return changeAccount(parts, id, { type: 'account.reinstated', origin }, (account) =>
    account.suspendedAt === null ? account : { ...account, suspendedAt: null, suspensionReason: null },
  );
}

/** Ends every session, code and token of an account, and answers the account with its new generation. */
export function signOutEverywhere(parts: Stored, id: string, origin: Origin): Promise<Account> {
  return changeAccount(parts, id, { type: 'account.signed_out_everywhere', origin }, (account) => ({
    ...account,
    generation: randomIdentifier(),
  }));
}

/** @throws {OAuthError} `not_found` */
export async function getAccount({ database }: Pick<Parts, 'database'>, id: string): Promise<Account> {
  const account = await database.read(() => store.findAccount({ id }));
  if (account === undefined) throw missing(id);
  return account;
}
