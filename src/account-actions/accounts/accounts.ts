import type { AccountActor } from '../../accounts/act-store.ts';
import type { BreachedPasswords } from '../../accounts/breached-passwords.ts';
import type { Profile } from '../../accounts/fields.ts';
import { forgetBrowsers } from '../../accounts/known-browser-store.ts';
import { isReservedAddress } from '../../accounts/previous-address-store.ts';
import { emailKey } from '../../accounts/rules/profile.ts';
import type { BanRequest, SuspensionRequest } from '../../accounts/schema.ts';
import type { Account } from '../../accounts/store.ts';
import * as store from '../../accounts/store.ts';
import { record } from '../../audit/audit.ts';
import { eraseReasons } from '../../audit/erase-store.ts';
import { removeScopeRequestsOf } from '../../clients/scope-request-store.ts';
import { enqueueAccountNotices } from '../../credentials/logout-notices.ts';
import { eraseMail } from '../../mail/mail.ts';
import { holdsAsHelpDesk, type Operator } from '../../operators/rights.ts';
import type { Picture } from '../../pictures/pictures.ts';
import { replacePicture } from '../../pictures/store.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Passwords } from '../../platform/crypto/passwords.ts';
import { randomIdentifier } from '../../platform/crypto/secrets.ts';
import type { Database, Work } from '../../platform/database/database.ts';
import { type Failure, invalid, noneWithId } from '../../platform/failure.ts';
import type { Origin } from '../../platform/validation/origin.ts';
import { eraseTraces } from '../../traces/trace-store.ts';
import { accountTime } from '../notices/account-time.ts';
import { enqueueSecurityNotice, renewReport, type SecurityNoticeServices } from '../notices/notices.ts';
import { endHandedOutBy, revokeKeysMadeBy } from './keys-of-account.ts';
import { keepAnOwner, type OwnerOptions } from './last-owner.ts';
import { recordLetIn, recordStatusDecision } from './status.ts';
import { FieldTaken, releaseUsernames, replaceUsername } from './usernames.ts';

export { FieldTaken } from './usernames.ts';

interface AccountsContext {
  readonly database: Database;
  readonly clock: Clock;
}

export const userNotFound = (id: string): Failure => noneWithId('user', id, { command: 'user list', path: 'users' });

/** What setting a password needs: the check against breaches, and the queue of hashes. */
export interface PasswordContext {
  readonly passwords: Passwords;
  readonly breaches: BreachedPasswords;
}

/** @throws {FieldTaken} */
export function* requireUnique(profile: Profile, id: string): Work<void> {
  const field = yield* store.takenField(profile, id);
  if (field === undefined) return;
  throw new FieldTaken(field, `${field} is taken: another account has it. Choose another ${field}.`);
}

/**
 * Rejects an address that another account had until a few days ago and may get back. It is read after the address was written, when no
 * other unit of work can be about to give it up.
 * @throws {FieldTaken}
 */
export function* requireUnreserved(email: string, id: string, now: number): Work<void> {
  if (!(yield* isReservedAddress(email, id, now))) return;
  throw new FieldTaken('email', 'email is taken: another account has it. Choose another email.');
}

/** The new values of stored fields; undefined where there is nothing to change, and so nothing to record. */
type AccountChange = Partial<Omit<Account, 'id' | 'createdAt' | 'updatedAt'>> | undefined;

/**
 * Saves a change of an account that the unit of work has locked. Where the generation changes, the apps to notify are enqueued first.
 * @param at the {@link accountTime} of the change, where it begins a new generation
 * @throws {FieldTaken} where another account has a unique field
 */
export function* saveChange(
  account: Account,
  values: NonNullable<AccountChange>,
  at: number,
  now: number,
): Work<Account> {
  const { id } = account;
  const changed: Account = { ...account, ...values, updatedAt: Math.max(at, account.updatedAt) };
  const [was, is] = [account.profile, changed.profile];
  const isRenamed = is.username !== was.username;
  const isMoved = emailKey(is.email) !== emailKey(was.email);
  if (isRenamed || isMoved) yield* requireUnique(is, id);
  const isRenewed = changed.generation !== account.generation;
  if (isRenewed) yield* enqueueAccountNotices(id, now);
  yield* store.saveAccount(changed);
  // A person who must be kept out may have used one of these browsers: see PW-08.
  if (isRenewed) yield* forgetBrowsers({ accountId: id });
  if (isMoved) yield* requireUnreserved(is.email, id, now);
  if (isRenamed) yield* replaceUsername(was.username, is.username, id, Math.max(at, now));
  return changed;
}

/** Locks an account that a unit of work is about to change. @throws {Failure} `not found` */
export function* lockToChange(id: string): Work<Account> {
  const account = yield* store.lockAccount({ id });
  if (account === undefined) throw userNotFound(id);
  return account;
}

/** Sets or replaces an account's picture; null removes it, and the initials are shown. */
export function setPicture(
  { database, clock }: AccountsContext,
  id: string,
  picture: Picture | null,
  origin: Origin,
): Promise<Account> {
  const now = clock();
  const name = picture?.name ?? null;
  return database.commit(function* set(): Work<Account> {
    const account = yield* lockToChange(id);
    const { profile } = account;
    if (profile.picture === name) return account;
    const changed = yield* saveChange(account, { profile: { ...profile, picture: name } }, now, now);
    yield* replacePicture({ accountId: id }, picture);
    yield* record({ at: now, type: 'account.updated', origin, accountId: id, details: { fields: ['picture'] } });
    return changed;
  });
}

/**
 * Deletes an account, every row that refers to it, and the reasons that operators gave in its audit events. Its email address may be
 * used again at once, and so may its username after a deletion by an operator; one that a person asked for holds the username for a
 * while. Its id is never reused.
 * @param isDue decides under the lock of the account whether it is still to be deleted
 * @throws {Failure} `not found`, or `conflict` for the last owner of the installation
 */
export async function deleteAccount(
  { database, clock, ...options }: AccountsContext & OwnerOptions,
  id: string,
  origin: Origin,
  isDue: (account: Account) => boolean = () => true,
): Promise<void> {
  const now = clock();
  await database.commit(function* remove() {
    const account = yield* lockToChange(id);
    if (!isDue(account)) return;
    yield* keepAnOwner(id, now, options);
    // Housekeeping deletes what a person asked for.
    yield* releaseUsernames(account.profile.username, id, origin.actor.type !== 'system', now);
    yield* enqueueAccountNotices(id, now);
    yield* eraseTraces(id);
    yield* eraseMail(id, now);
    yield* revokeKeysMadeBy(id, origin, now);
    yield* removeScopeRequestsOf({ askedBy: id });
    yield* store.removeAccount({ id });
    yield* eraseReasons(id);
    yield* record({ at: now, type: 'account.deleted', origin, accountId: id });
  });
}

/**
 * Bans an account, or replaces the end and reason of its ban. Every existing session, code and token is invalid for good. So is the link
 * of an earlier report, which another one replaces.
 * @throws {Failure} `not found`, `invalid` where the end is not in the future
 */
export async function banAccount(
  context: AccountsContext & SecurityNoticeServices & OwnerOptions & AccountActor,
  id: string,
  ban: BanRequest,
  origin: Origin,
): Promise<Account> {
  const until = ban.until == null ? null : Date.parse(ban.until);
  if (until !== null && until <= context.clock()) {
    throw invalid(
      `until must be in the future; got ${ban.until}. To end the ban now, remove it: DELETE on the same path, or tessera user unban.`,
    );
  }
  const reason = ban.reason ?? null;
  const now = context.clock();
  return context.database.commit(function* bar(): Work<Account> {
    const account = yield* lockToChange(id);
    const at = yield* accountTime(account, now);
    const ended = { bannedAt: now, bannedUntil: until, banReason: reason, generation: randomIdentifier() };
    const banned = yield* saveChange(account, ended, at, now);
    yield* recordStatusDecision(context, account, banned, now);
    yield* keepAnOwner(id, now, context);
    const details = { until, reason, ...(yield* endHandedOutBy(id, origin, now)) };
    yield* renewReport(context, banned, 'banned', now, banned.updatedAt);
    yield* record({ at: now, type: 'account.banned', origin, accountId: id, details });
    return banned;
  });
}

/** Lifts a ban, if there is one. Earlier sessions and tokens stay invalid; the person signs in again. */
export function unbanAccount(
  { database, clock, operator }: AccountsContext & AccountActor,
  id: string,
  origin: Origin,
): Promise<Account> {
  const now = clock();
  return database.commit(function* unban(): Work<Account> {
    const account = yield* lockToChange(id);
    if (account.bannedAt === null) return account;
    const lifted = { bannedAt: null, bannedUntil: null, banReason: null };
    const unbanned = yield* saveChange(account, lifted, now, now);
    yield* recordLetIn({ operator }, account, unbanned, now);
    yield* record({ at: now, type: 'account.unbanned', origin, accountId: id });
    return unbanned;
  });
}

/**
 * Suspends an account until it is reinstated. Every existing session, code and token is invalid for good. So is the link of an earlier
 * report, which another one replaces.
 */
export function suspendAccount(
  context: AccountsContext & SecurityNoticeServices & OwnerOptions & { readonly operator: Operator | undefined },
  id: string,
  input: SuspensionRequest,
  origin: Origin,
): Promise<Account> {
  const reason = input.reason ?? null;
  const now = context.clock();
  return context.database.commit(function* bar(): Work<Account> {
    const account = yield* lockToChange(id);
    const at = yield* accountTime(account, now);
    const ended = { suspendedAt: now, suspensionReason: reason, generation: randomIdentifier() };
    const suspended = yield* saveChange(account, ended, at, now);
    yield* recordStatusDecision(context, account, suspended, now);
    yield* keepAnOwner(id, now, context);
    const details = { reason, ...(yield* endHandedOutBy(id, origin, now)) };
    if (context.operator !== undefined && holdsAsHelpDesk(context.operator, 'users.suspend')) {
      yield* enqueueSecurityNotice(context, suspended, 'suspended', { byOperator: true }, now, suspended.updatedAt);
    } else yield* renewReport(context, suspended, 'suspended', now, suspended.updatedAt);
    yield* record({ at: now, type: 'account.suspended', origin, accountId: id, details });
    return suspended;
  });
}

/** Lifts a suspension, if there is one. Earlier sessions and tokens stay invalid. */
export function reinstateAccount(
  { database, clock, operator }: AccountsContext & AccountActor,
  id: string,
  origin: Origin,
): Promise<Account> {
  const now = clock();
  return database.commit(function* reinstate(): Work<Account> {
    const account = yield* lockToChange(id);
    if (account.suspendedAt === null) return account;
    const reinstated = yield* saveChange(account, { suspendedAt: null, suspensionReason: null }, now, now);
    yield* recordLetIn({ operator }, account, reinstated, now);
    yield* record({ at: now, type: 'account.reinstated', origin, accountId: id });
    return reinstated;
  });
}

/** Ends every session, code and token of an account. @returns the account with its new generation */
export function signOutEverywhere(
  context: AccountsContext & SecurityNoticeServices,
  id: string,
  origin: Origin,
): Promise<Account> {
  // An operator may be a person, too.
  const byOperator = origin.actor.id !== id;
  const now = context.clock();
  return context.database.commit(function* signOut(): Work<Account> {
    const account = yield* lockToChange(id);
    const at = yield* accountTime(account, now);
    const changed = yield* saveChange(account, { generation: randomIdentifier() }, at, now);
    // It ends the links of earlier reports, so it brings another one.
    yield* enqueueSecurityNotice(context, changed, 'signed out everywhere', { byOperator }, now, changed.updatedAt);
    yield* record({ at: now, type: 'account.signed_out_everywhere', origin, accountId: id });
    return changed;
  });
}

/**
 * Reads an account for an operator, and records that it was opened.
 * @param part what of it was opened
 * @throws {Failure} `not found`
 */
export async function openAccount(
  { database, clock }: AccountsContext,
  id: string,
  part: 'record' | 'sessions' | 'connections' | 'groups' | 'roles' | 'factors' | 'identities' | 'sign_ins',
  origin: Origin,
): Promise<Account> {
  return database.commit(function* open(): Work<Account> {
    const account = yield* store.findAccount({ id });
    if (account === undefined) throw userNotFound(id);
    yield* record({ at: clock(), type: 'account.viewed', origin, accountId: id, details: { part } });
    return account;
  });
}

/** @throws {Failure} `not found` */
export async function getAccount({ database }: Pick<AccountsContext, 'database'>, id: string): Promise<Account> {
  const account = await database.read(() => store.findAccount({ id }));
  if (account === undefined) throw userNotFound(id);
  return account;
}
