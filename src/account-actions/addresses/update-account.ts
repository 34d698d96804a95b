import { isDeepStrictEqual } from 'node:util';
import { type AccountActor, recordAccountAct } from '../../accounts/act-store.ts';
import type { Profile } from '../../accounts/fields.ts';
import { recordMovedAddress } from '../../accounts/opening-store.ts';
import { requireGoodPassword } from '../../accounts/password-problem.ts';
import {
  listAddressesToReturnTo,
  listEarlierAddresses,
  takeAddressesAway,
} from '../../accounts/previous-address-store.ts';
import { forgetReplaced } from '../../accounts/replaced-store.ts';
import { changeProfile, emailKey } from '../../accounts/rules/profile.ts';
import type { UpdateUserRequest } from '../../accounts/schema.ts';
import { type Account, lockAccount, saveAccount } from '../../accounts/store.ts';
import { makingDatabase } from '../../admin-keys/hand-out.ts';
import { record } from '../../audit/audit.ts';
import { listFactors } from '../../authenticators/factor-store.ts';
import type { Span } from '../../authenticators/rules/taking-back.ts';
import { endChallenges, isUnderWay } from '../../mail/challenges.ts';
import { randomIdentifier } from '../../platform/crypto/secrets.ts';
import type { Work } from '../../platform/database/database.ts';
import { addressFlows, type Origin } from '../../platform/validation/origin.ts';
import { getAccount, type PasswordContext, saveChange, userNotFound } from '../accounts/accounts.ts';
import { recordChangedWaysIn } from '../accounts/openings.ts';
import { usernameAt } from '../accounts/usernames.ts';
import { requireIndependent } from '../makers/independent.ts';
import { finishEnding, onlyMakers } from '../makers/made.ts';
import { accountTime } from '../notices/account-time.ts';
import {
  enqueueNewAddressMails,
  enqueueSecurityNotice,
  unansweredPasskeys,
  unansweredSince,
} from '../notices/notices.ts';
import type { SecurityNotice } from '../notices/rules/notice-text.ts';
import { hasAddressOfWeaker } from '../operators/gained-rights.ts';
import type { ActingOperator } from '../operators/grants.ts';
import { callOffDeletion, keptFromDeletion, leftDetails, removeAddedSince } from '../recovery/added-since.ts';
import { passkeysOfChanges, spanOf } from '../recovery/older-right.ts';
import { rememberTaken } from './earlier-address.ts';
import type { AddressServices } from './secure-account.ts';

/**
 * Changes fields of an account. A new password ends every existing session, code and token. So does a decision on the address, which only
 * an operator makes here: it also ends every link, code, right and reservation of the account, so that no earlier holder gets it back. Where
 * the account had another address in the last days and does not keep the present one, what was added since is removed, as by an undo.
 * The person is told of a new password, of a new username that they chose and, at both addresses, of a new address; and where a report ends that nobody answered, they get
 * another one.
 * @throws {Failure} `not found`, `conflict`, `invalid`, `insufficient permission` where operators open their own account
 */
export async function updateAccount(
  context: PasswordContext & AddressServices & ActingOperator,
  id: string,
  input: UpdateUserRequest,
  origin: Origin,
): Promise<Account> {
  const { database, clock } = context;
  const { password } = input;
  const isByPerson = isOwnAct(origin, id);
  const passwordHash =
    password === undefined ? undefined : await hashNewPassword(context, id, { ...input, password }, origin);
  const now = clock();
  let makers = onlyMakers();
  // What was made with the account may end with an operator's decision on its address. Persons who act as operators come in turn already.
  const mayEnd = input.email !== undefined || input.emailVerified !== undefined;
  const own = mayEnd && origin.actor.type !== 'user' ? makingDatabase(database) : database;
  const updated = await own.commit(function* update(): Work<Account> {
    const account = yield* lockAccount({ id });
    if (account === undefined) throw userNotFound(id);
    const asked = changeProfile(account.profile, input, now);
    const decidesAddress = isByPerson
      ? isOtherAddress(account.profile, asked)
      : yield* isAddressDecision(context, account, asked, input, now);
    const { operator } = context;
    if (operator !== undefined && (decidesAddress || password !== undefined))
      yield* requireIndependent(operator, id, 'users.update', now);
    const isSecured = passwordHash !== undefined || decidesAddress;
    if (!isSecured && isDeepStrictEqual(asked, account.profile)) return account;
    const isRenamed = asked.username !== account.profile.username && isByPerson;
    const at = isSecured || isRenamed ? yield* accountTime(account, now) : now;
    const since = isSecured ? yield* unansweredSince(context.sealer, id, at) : at;
    const named = isSecured ? yield* unansweredPasskeys(context.sealer, account, 'address changed', at) : [];
    const foreign = decidesAddress ? yield* foreignChange(account, asked.email, now) : undefined;
    const span = foreign?.span;
    const getsNameBack = span !== undefined && input.username === undefined;
    const profile = getsNameBack ? { ...asked, username: yield* usernameAt(account, span.since, now) } : asked;
    const changed = yield* saveChange(
      account,
      {
        profile,
        ...(decidesAddress && keptFromDeletion(account)),
        ...(span !== undefined && (account.passwordSetAt ?? 0) >= span.since && NO_PASSWORD),
        ...(passwordHash !== undefined && { passwordHash, passwordSetAt: at }),
        ...(isSecured && { generation: randomIdentifier() }),
      },
      at,
      now,
    );
    const isNewPassword = passwordHash !== undefined;
    if (!isByPerson) {
      const isGiven = decidesAddress && (isOtherAddress(account.profile, profile) || input.emailVerified === true);
      yield* recordChange(context, account, changed, { isGiven, isNewPassword });
    }
    // An operator decides on the name: no earlier one comes back.
    if (input.username !== undefined && !isByPerson)
      yield* forgetReplaced({ accountId: id, kind: 'username', since: 0 });
    if (decidesAddress) {
      yield* endChallenges(id);
      yield* takeAddressesAway({ accountId: id });
      yield* callOffDeletion(context, account, profile, 'secured', origin, now);
    }
    const back = foreign && { ...foreign, keepsPassword: true, operator, endsLetGo: true };
    const undone = back && (yield* removeAddedSince(changed, back, origin, now));
    const isBare = undone !== undefined && undone.usedPasskeys > 0 && passwordHash === undefined;
    const saved = isBare ? yield* withoutLonePassword(changed) : changed;
    makers = undone?.makers ?? makers;
    const isMoved = emailKey(profile.email) !== emailKey(account.profile.email);
    if (!isByPerson) yield* recordChangedWaysIn(context, account, saved, { isNamed: decidesAddress, isNewPassword });
    else if (isMoved) yield* recordMovedAddress({ accountId: id, at });
    if (isMoved) {
      yield* rememberTaken(account, { at, factorsSince: Math.min(since, at) }, now);
      yield* enqueueNewAddressMails(context, changed, account.profile.email, now, undone);
    }
    // What was removed is answered.
    const [open, passkeys] = span === undefined ? [since, named] : [at, []];
    const notice = noticeOf({
      isNewPassword,
      isReportEnded: isSecured && open < at,
      isMoved,
    });
    if (isRenamed) {
      const what = account.profile.username;
      yield* enqueueSecurityNotice(context, changed, 'username changed', { what }, now, at);
    }
    if (notice !== undefined) {
      yield* enqueueSecurityNotice(context, changed, notice, { byOperator: true }, now, at, open, passkeys);
    }
    const type = passwordHash === undefined ? 'account.updated' : 'account.password_changed';
    yield* record({
      at: now,
      type,
      origin,
      accountId: id,
      details: { fields: Object.keys(input), ...leftDetails(undone) },
    });
    return saved;
  });
  await finishEnding({ database, clock }, makers);
  return updated;
}

/** What an operator changed of how an account signs in. */
interface ChangedWaysIn {
  /** Whether the operator gave the address, or declared the present one verified. */
  readonly isGiven: boolean;
  readonly isNewPassword: boolean;
}

/** Records what an operator changed with which somebody else may get in. */
function* recordChange(
  actor: AccountActor,
  before: Account,
  after: Account,
  { isGiven, isNewPassword }: ChangedWaysIn,
): Work<void> {
  const { id, updatedAt: at } = after;
  if (isGiven) yield* recordAccountAct(actor, id, 'address', at);
  if (isNewPassword) yield* recordAccountAct(actor, id, 'password', at);
  if (before.profile.username !== after.profile.username) yield* recordAccountAct(actor, id, 'username', at);
}

/** One that was set since the address was given up may be another person's. */
const NO_PASSWORD = { passwordHash: null } as const;

/**
 * When an account may have been in foreign hands that an operator gives another address, where its address was changed in the last days:
 * since it gave up the address that it gets back, or since an operator took that, who may have been deceived; or else since the first change
 * of the person's, with the passkeys that go. Undefined where nothing says so.
 */
function* foreignChange(
  { id, profile }: Account,
  email: string,
  now: number,
): Work<{ readonly span: Span; readonly passkeys: readonly number[] } | undefined> {
  if (emailKey(profile.email) === emailKey(email)) return undefined;
  const earlier = yield* listEarlierAddresses({ accountId: id, now });
  const from =
    earlier.findLast((one) => emailKey(one.email) === emailKey(email)) ??
    earlier.findLast(({ standing }) => standing !== 'taken');
  return from && { span: spanOf(from), passkeys: passkeysOfChanges(earlier, from) };
}

/** Takes the password from an account that has nothing else any more, since the passkey of a change went: it was not enough before. */
function* withoutLonePassword(account: Account): Work<Account> {
  const factors = yield* listFactors(account);
  if (factors.some(({ kind }) => kind !== 'password')) return account;
  const changed = { ...account, ...NO_PASSWORD };
  yield* saveAccount(changed);
  return changed;
}

/** What a person is told of an operator's change, beside an address that is new. */
function noticeOf(change: {
  readonly isNewPassword: boolean;
  readonly isReportEnded: boolean;
  readonly isMoved: boolean;
}): SecurityNotice | undefined {
  if (change.isNewPassword) return 'password changed';
  if (!change.isReportEnded) return undefined;
  return change.isMoved ? 'address changed' : 'signed out everywhere';
}

/**
 * Whether the person of an account acts, on whichever page or call. An operator who changes their own account is its person: somebody else in
 * their session must not be able to make a change that the owner cannot take back.
 */
const isOwnAct = ({ actor }: Origin, id: string): boolean => actor.type === 'user' && actor.id === id;

/** @throws {Failure} `not found`, `invalid` where the password is not good enough */
async function hashNewPassword(
  context: PasswordContext & AddressServices,
  id: string,
  input: UpdateUserRequest & { readonly password: string },
  origin: Origin,
): Promise<string> {
  const { profile } = await getAccount(context, id);
  await requireGoodPassword(context, input.password, { ...profile, ...input });
  return context.passwords.hash(input.password, [...addressFlows(origin), `account ${id}`]);
}

/** Whether the address is another one, or in another state. */
const isOtherAddress = (before: Profile, after: Profile): boolean =>
  emailKey(after.email) !== emailKey(before.email) || after.emailVerified !== before.emailVerified;

/**
 * Whether an operator's change decides which address an account has: another one, another state of it, the present one declared verified
 * that a weaker operator gave, or named again while a change of it can still be undone, waits for its link, or is being made.
 */
function* isAddressDecision(
  { operator }: ActingOperator,
  { id, generation, profile: before }: Account,
  after: Profile,
  input: UpdateUserRequest,
  now: number,
): Work<boolean> {
  if (isOtherAddress(before, after)) return true;
  if (input.email === undefined && input.emailVerified === undefined) return false;
  if (input.emailVerified === true && (yield* hasAddressOfWeaker(id, operator, now))) return true;
  if ((yield* listAddressesToReturnTo({ accountId: id, now })).length > 0) return true;
  return yield* isUnderWay({ id, generation }, 'change address', now);
}
