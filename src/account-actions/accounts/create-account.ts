import { type AccountActor, recordAccountAct } from '../../accounts/act-store.ts';
import type { Profile } from '../../accounts/fields.ts';
import { recordOpening } from '../../accounts/opening-store.ts';
import { requireGoodPassword } from '../../accounts/password-problem.ts';
import { mayJoin } from '../../accounts/rules/joining.ts';
import { newProfile } from '../../accounts/rules/profile.ts';
import type { CreateUserRequest } from '../../accounts/schema.ts';
import type { SignUpSettings } from '../../accounts/sign-up-setting.ts';
import { type Account, insertAccount } from '../../accounts/store.ts';
import { record } from '../../audit/audit.ts';
import type { Clock } from '../../platform/clock.ts';
import { randomIdentifier } from '../../platform/crypto/secrets.ts';
import type { Database, Work } from '../../platform/database/database.ts';
import type { Ids } from '../../platform/ids/ids.ts';
import { addressFlows, type Origin } from '../../platform/validation/origin.ts';
import { canReceiveMail } from '../notices/notices.ts';
import { type PasswordContext, requireUnique, requireUnreserved } from './accounts.ts';
import { displaceAddress } from './displace-address.ts';
import { FieldTaken, rejectHeldUsername } from './usernames.ts';

/** An account as it is created. */
export const newAccount = (id: string, profile: Profile, passwordHash: string | null, now: number): Account => ({
  id,
  profile,
  passwordHash,
  passwordSetAt: null,
  generation: randomIdentifier(),
  bannedAt: null,
  bannedUntil: null,
  banReason: null,
  suspendedAt: null,
  suspensionReason: null,
  deletionRequestedAt: null,
  deletionDueAt: null,
  createdAt: now,
  updatedAt: now,
});

/** Who creates an account, which decides what is asked. */
export type CreatedBy =
  /** May give an account any address. */
  | ({ readonly kind: 'operator' } & AccountActor)
  /** Joins by the rules that hold now, whatever they were when the person began. */
  | {
      readonly kind: 'person';
      readonly signUp: SignUpSettings;
      readonly isInvited: boolean;
      /** Whether the person has just proved the address: an account that did not verify it loses it. */
      readonly isAddressProved: boolean;
    };

/** The rules of joining no longer let a person with this address create an account. */
export class JoiningRefused extends Error {
  override readonly name = 'JoiningRefused';
  constructor() {
    super('The settings of sign-up do not let a person with this address create an account.');
  }
}

/**
 * Adds an account, inside a unit of work. Nothing else inserts one: here it is asked whether the person may join, and whether the username
 * and the address are free, not held for a former owner, and not reserved. What is refused is thrown, so that nothing of the unit is kept.
 * @throws {FieldTaken}
 * @throws {JoiningRefused}
 */
export function* addAccount(account: Account, by: CreatedBy, origin: Origin): Work<void> {
  const { id, profile, createdAt: now } = account;
  if (by.kind === 'person') {
    if (!mayJoin(by.signUp, profile.email, by.isInvited)) throw new JoiningRefused();
    if (by.isAddressProved && (yield* displaceAddress(profile.email, id, now, origin)) === 'taken') {
      throw new FieldTaken('email', 'email is taken: another account has it. Choose another email.');
    }
  }
  if (!(yield* insertAccount(account))) {
    yield* requireUnique(profile, id);
    throw new FieldTaken('username', 'username or email is taken: another account has it.');
  }
  yield* requireUnreserved(profile.email, id, now);
  yield* rejectHeldUsername(profile.username, id, now);
  yield* record({ at: now, type: 'account.created', origin, accountId: id });
  if (by.kind === 'operator') yield* recordCreation(by, account);
}

/**
 * An address that is verified at once is so by the word of the operator alone. Who knows the password, or reads the address, may sign in
 * before the person for whom it is.
 */
function* recordCreation(by: AccountActor, { id, profile, passwordHash, createdAt }: Account): Work<void> {
  if (passwordHash !== null || canReceiveMail(profile.email)) {
    yield* recordOpening(by, { accountId: id, kind: 'created', actedAt: createdAt, isGuarded: false });
  }
  yield* recordAccountAct(by, id, 'created', createdAt);
  if (profile.emailVerified) yield* recordAccountAct(by, id, 'address', createdAt);
}

/**
 * Creates an account in a unit of work of its own.
 * @throws {FieldTaken}
 * @throws {JoiningRefused}
 * @throws {Failure} `invalid` for an invalid field or a weak password
 */
export async function createAccount(
  services: PasswordContext & { readonly database: Database; readonly clock: Clock; readonly ids: Ids },
  input: CreateUserRequest,
  by: CreatedBy,
  origin: Origin,
): Promise<Account> {
  const { database, clock, ids, passwords } = services;
  const now = clock();
  const id = await ids.next();
  const profile = newProfile(input, id, now);
  if (input.password !== undefined) await requireGoodPassword(services, input.password, profile);
  const passwordHash = input.password === undefined ? null : await passwords.hash(input.password, addressFlows(origin));
  const account = newAccount(id, profile, passwordHash, now);
  await database.commit(() => addAccount(account, by, origin));
  return account;
}
