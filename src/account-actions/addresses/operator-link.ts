import { recordAccountAct } from '../../accounts/act-store.ts';
import {
  listAddressesToReturnTo,
  listEarlierAddresses,
  type PreviousAddress,
  takeAddressesAway,
} from '../../accounts/previous-address-store.ts';
import { emailKey } from '../../accounts/rules/profile.ts';
import { type Account, lockAccount } from '../../accounts/store.ts';
import { type HandsOut, holdHandingKey, makingDatabase } from '../../admin-keys/hand-out.ts';
import { record } from '../../audit/audit.ts';
import { untilNow } from '../../authenticators/rules/taking-back.ts';
import { createChallenge, prepareChallenge } from '../../mail/challenges.ts';
import { mailTexts } from '../../mail/messages.ts';
import { CLOCK_SKEW, DAY, iso } from '../../platform/clock.ts';
import type { Work } from '../../platform/database/database.ts';
import { canonicalEmail, readableEmail } from '../../platform/domain-name.ts';
import { conflict } from '../../platform/failure.ts';
import type { Origin } from '../../platform/validation/origin.ts';
import { userNotFound } from '../accounts/accounts.ts';
import { displaceAddress } from '../accounts/displace-address.ts';
import { recordChangedWaysIn } from '../accounts/openings.ts';
import { finishEnding, onlyMakers } from '../makers/made.ts';
import { accountTime } from '../notices/account-time.ts';
import { enqueueNewAddressMails, enqueueSecurityNotice, unansweredSince } from '../notices/notices.ts';
import type { ActingOperator } from '../operators/grants.ts';
import { leftDetails, type Undone } from '../recovery/added-since.ts';
import { linkOf, RECOVERY_LIFETIME } from '../recovery/begin.ts';
import { passkeysOfChanges, spanOf } from '../recovery/older-right.ts';
import { rememberTaken } from './earlier-address.ts';
import { type AddressServices, endEverything } from './secure-account.ts';

/** A link that an operator hands to a person. */
export interface RecoveryLink {
  readonly url: string;
  readonly expiresAt: number;
  /** The address of the account: a person who reads it can recover the account by mail. */
  readonly email: string;
}

export interface RecoveryLinkRequest {
  readonly resetFactors: boolean;
  /**
   * What the operator decides on the address of an account that had another one in the last days: `keep` for the present one, or the
   * earlier one, which the account gets back.
   */
  readonly address?: string | undefined;
}

/**
 * Creates a link that sets a new password, once. It replaces an earlier one, and the person is told by mail. The second factor is kept
 * unless it is reset. Nothing ends before the link is used, unless the operator decides on the address: that takes effect at once.
 * @throws {Failure} `not found`, or `conflict` where a decision on the address is missing, or cannot be carried out
 */
export async function createRecoveryLink(
  services: AddressServices & HandsOut & ActingOperator,
  accountId: string,
  { resetFactors, address }: RecoveryLinkRequest,
  origin: Origin,
): Promise<RecoveryLink> {
  const { database, clock, sealer, issuer, adminKeyId } = services;
  const now = clock();
  const sent = prepareChallenge();
  const expiresAt = now + RECOVERY_LIFETIME;
  let makers = onlyMakers();
  const { email } = await makingDatabase(database).commit(function* create(): Work<Account['profile']> {
    yield* holdHandingKey({ adminKeyId }, now);
    const found = yield* lockAccount({ id: accountId });
    if (found === undefined) throw userNotFound(accountId);
    const { changed: account, undone } = yield* decideAddress(services, found, address, origin, now);
    makers = undone?.makers ?? makers;
    const challenge = {
      purpose: 'recover by operator',
      account,
      address: account.profile.email.toLowerCase(),
      browserHash: null,
      adminKeyId,
      data: { resetFactors },
      lifetime: RECOVERY_LIFETIME,
    } as const;
    yield* createChallenge(sealer, sent, challenge, now);
    const at = yield* accountTime(account, now);
    yield* enqueueSecurityNotice(services, account, 'recovery link made', { byOperator: true }, now, at);
    yield* record({ at: now, type: 'recovery.link_created', origin, accountId, details: { resetFactors } });
    return account.profile;
  });
  await finishEnding({ database, clock }, makers);
  return { url: linkOf(issuer, sent), expiresAt, email };
}

/**
 * Decides which address an account has, while an earlier one can still undo its change. A link beside that would let in both: the person
 * to whom it is handed, and by a recovery or an undo the reader of a mailbox. With the decision everything ends that was issued to the
 * account, the password included, and every link, right and reservation of an address: what remains is the link that is made now.
 * @returns the account as it is then, and what was removed
 */
function* decideAddress(
  services: AddressServices & ActingOperator,
  account: Account,
  decision: string | undefined,
  origin: Origin,
  now: number,
): Work<{ readonly changed: Account; readonly undone?: Undone }> {
  const { id, profile } = account;
  const rights = yield* listAddressesToReturnTo({ accountId: id, now });
  const chosen = decision === undefined || decision === 'keep' ? decision : emailKey(canonicalEmail(decision));
  const isPresent = chosen === 'keep' || chosen === emailKey(profile.email);
  if (rights.length === 0) {
    if (decision === undefined || isPresent) return { changed: account };
    throw conflict(
      `address cannot be ${decision}: this account had no other address in the last seven days. Leave address out, or set the address of the account first.`,
    );
  }
  if (decision === undefined) throw undecided(account, rights);
  // The oldest right: what came since the address was given up for the first time ends.
  const right = isPresent ? undefined : rights.findLast(({ email }) => emailKey(email) === chosen);
  if (right === undefined && !isPresent) throw undecided(account, rights);
  const email = right?.email ?? profile.email;
  if (right !== undefined && (yield* displaceAddress(email, id, now, origin)) === 'taken') {
    throw conflict(`Another account has the address ${readableEmail(email)} by now. Nothing was changed.`);
  }
  const at = yield* accountTime(account, now);
  const reported = yield* unansweredSince(services.sealer, id, at);
  // Where nothing was reported, nothing is known to be another person's.
  const foreignSince = right?.factorsSince ?? (reported < at ? reported : undefined);
  const since = foreignSince ?? at + CLOCK_SKEW + 1;
  const passkeys = right && passkeysOfChanges(yield* listEarlierAddresses({ accountId: id, now }), right);
  yield* takeAddressesAway({ accountId: id });
  if (right !== undefined) yield* rememberTaken(account, { at, factorsSince: Math.min(reported, at) }, now);
  const decided = { ...profile, email, ...(right !== undefined && { emailVerified: right.standing === 'right' }) };
  const span = right === undefined ? untilNow(since) : spanOf(right);
  const decidedSince = foreignSince === undefined ? since : undefined;
  const back = { operator: services.operator, span, decidedSince, ...(passkeys && { passkeys }) };
  const { changed, undone } = yield* endEverything(services, account, decided, back, origin, now);
  if (right !== undefined) yield* enqueueNewAddressMails(services, changed, profile.email, now, undone);
  else yield* tellOldest(services, changed, rights, now);
  yield* recordAccountAct(services, id, 'address', now);
  yield* recordChangedWaysIn(services, account, changed, { isNamed: true, isNewPassword: false });
  yield* record({
    at: now,
    type: 'account.updated',
    origin,
    accountId: id,
    details: { fields: ['email'], ...leftDetails(undone) },
  });
  return { changed, undone };
}

/** Tells the oldest earlier address that it can undo nothing any more, in case the operator was deceived. */
function* tellOldest(
  { mail }: AddressServices,
  { id: accountId, profile }: Account,
  rights: readonly PreviousAddress[],
  now: number,
): Work<void> {
  const oldest = rights.findLast(({ standing }) => standing === 'right');
  if (oldest === undefined) return;
  const content = mailTexts.addresses.rightEnded(profile);
  yield* mail.enqueue({ to: oldest.email, accountId, kind: 'address changed', content, expiresAt: now + DAY }, now);
}

/** Names the addresses of which the operator has to choose one. */
function undecided({ profile }: Account, rights: readonly PreviousAddress[]) {
  const earlier = rights.map(({ email, changedAt }) => `${readableEmail(email)} (until ${iso(changedAt)})`).join(', ');
  return conflict(
    `The address of this account was changed in the last seven days. Now it has ${readableEmail(profile.email)}; earlier it had ${earlier}. ` +
      'Find out which one is its owner’s. Then repeat this with it as address, or with keep for the present one (on the command line: --address). ' +
      'This ends every session, token and password of the account at once, and every link by which another address could get it.',
  );
}
