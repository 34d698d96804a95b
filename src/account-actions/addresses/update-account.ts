import { isDeepStrictEqual } from 'node:util';
import type { Profile } from '../../accounts/fields.ts';
import { requireGoodPassword } from '../../accounts/password-problem.ts';
import {
  listPreviousAddresses,
  type PreviousAddress,
  removePreviousAddresses,
} from '../../accounts/previous-address-store.ts';
import { changeProfile, emailKey } from '../../accounts/rules/profile.ts';
import type { UpdateUserRequest } from '../../accounts/schema.ts';
import { type Account, lockAccount } from '../../accounts/store.ts';
import { record } from '../../audit/audit.ts';
import { endChallenges, listBrowsersWaiting } from '../../mail/challenges.ts';
import { randomIdentifier } from '../../platform/crypto/secrets.ts';
import type { Work } from '../../platform/database/database.ts';
import { addressFlows, type Origin } from '../../platform/validation/origin.ts';
import { getAccount, type PasswordContext, saveChange, userNotFound } from '../accounts/accounts.ts';
import { accountTime } from '../notices/account-time.ts';
import { enqueueNewAddressMails, enqueueSecurityNotice } from '../notices/notices.ts';
import { callOffDeletion, NOT_DELETED, removeAddedSince } from '../recovery/added-since.ts';
import type { AddressServices } from './secure-account.ts';

/**
 * Changes fields of an account. A new password ends every existing session, code and token. So does a decision on the address, which only
 * an operator makes here: it also ends every link, code, right and reservation of the account, so that no earlier holder gets it back. Where
 * the account gets an address back that it had in the last days, what was added since is removed, as by an undo.
 * The person is told of a new password and, at both addresses, of a new address.
 * @throws {OAuthError} `not_found`, `conflict`, `invalid_request`
 */
export async function updateAccount(
  context: PasswordContext & AddressServices,
  id: string,
  input: UpdateUserRequest,
  origin: Origin,
): Promise<Account> {
  const { database, clock } = context;
  const { password } = input;
  const passwordHash =
    password === undefined ? undefined : await hashNewPassword(context, id, { ...input, password }, origin);
  const now = clock();
  return database.commit(function* update(): Work<Account> {
    const account = yield* lockAccount({ id });
    if (account === undefined) throw userNotFound(id);
    const profile = changeProfile(account.profile, input, now);
    const decidesAddress = yield* isAddressDecision(account, profile, input, now);
    const isSecured = passwordHash !== undefined || decidesAddress;
    if (!isSecured && isDeepStrictEqual(profile, account.profile)) return account;
    const right = decidesAddress ? yield* findRight(account, profile.email, now) : undefined;
    const at = isSecured ? yield* accountTime(account, now) : now;
    const changed = yield* saveChange(
      account,
      {
        profile,
        ...(right !== undefined && {
          ...NOT_DELETED,
          ...((account.passwordSetAt ?? 0) >= right.factorsSince && NO_PASSWORD),
        }),
        ...(passwordHash !== undefined && { passwordHash, passwordSetAt: at }),
        ...(isSecured && { generation: randomIdentifier() }),
      },
      at,
      now,
    );
    if (decidesAddress) {
      yield* endChallenges(id);
      yield* removePreviousAddresses({ accountId: id, since: 0 });
    }
    if (right !== undefined) {
      yield* removeAddedSince(id, right.factorsSince, origin, now);
      yield* callOffDeletion(context, account, profile, origin, now);
    }
    if (emailKey(profile.email) !== emailKey(account.profile.email)) {
      yield* enqueueNewAddressMails(context, changed, account.profile.email, now);
    }
    if (passwordHash !== undefined) {
      yield* enqueueSecurityNotice(context, changed, 'password changed', { byOperator: true }, now, at);
    }
    const type = passwordHash === undefined ? 'account.updated' : 'account.password_changed';
    yield* record({ at: now, type, origin, accountId: id, details: { fields: Object.keys(input) } });
    return changed;
  });
}

/** One that was set since the address was given up may be another person's. */
const NO_PASSWORD = { passwordHash: null } as const;

/** The oldest right of an address that an account had in the last days, if the account gets it back. */
function* findRight({ id, profile }: Account, email: string, now: number): Work<PreviousAddress | undefined> {
  if (emailKey(profile.email) === emailKey(email)) return undefined;
  const rights = yield* listPreviousAddresses({ accountId: id, now });
  return rights.findLast((right) => emailKey(right.email) === emailKey(email));
}

/** @throws {OAuthError} `not_found`, `invalid_request` where the password is not good enough */
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

/**
 * Whether an operator's change decides which address an account has: another one, another state of it, or the present one named again
 * while a change of it can still be undone, or waits for its link.
 */
function* isAddressDecision(
  { id, generation, profile: before }: Account,
  after: Profile,
  input: UpdateUserRequest,
  now: number,
): Work<boolean> {
  if (emailKey(after.email) !== emailKey(before.email) || after.emailVerified !== before.emailVerified) return true;
  if (input.email === undefined && input.emailVerified === undefined) return false;
  if ((yield* listPreviousAddresses({ accountId: id, now })).length > 0) return true;
  return (yield* listBrowsersWaiting({ id, generation }, 'change address', now)).length > 0;
}
