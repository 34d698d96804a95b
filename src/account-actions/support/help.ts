import { type AccountActor, recordAccountAct } from '../../accounts/act-store.ts';
import { otherKnownBrowsers } from '../../accounts/known-browser-store.ts';
import { listPreviousAddresses } from '../../accounts/previous-address-store.ts';
import { mayAct } from '../../accounts/rules/may-act.ts';
import { emailKey, identifierKey } from '../../accounts/rules/profile.ts';
import { type Account, lockAccount } from '../../accounts/store.ts';
import { record } from '../../audit/audit.ts';
import { removePasskeys } from '../../authenticators/earlier-factors.ts';
import {
  listFactors,
  listNamedFactors,
  type NamedFactor,
  removeTotp,
  removeUselessCodes,
} from '../../authenticators/factor-store.ts';

import { BY_OPERATOR } from '../../authenticators/rules/taking-back.ts';
import { forget, takeWithin } from '../../limits/limits.ts';
import { prepareChallenge } from '../../mail/challenges.ts';
import { mailTexts } from '../../mail/messages.ts';
import { isSecondFactorRequired } from '../../organizations/requirement.ts';
import { type Clock, DAY, HOUR, iso } from '../../platform/clock.ts';
import { digest, randomIdentifier } from '../../platform/crypto/secrets.ts';
import type { Database, Work } from '../../platform/database/database.ts';
import { conflict, limited } from '../../platform/failure.ts';
import type { Origin } from '../../platform/validation/origin.ts';
import { lockToChange, saveChange, userNotFound } from '../accounts/accounts.ts';
import { recordAccountOpening, recordLostApp } from '../accounts/openings.ts';
import { passwordBuckets } from '../authentication/password.ts';
import { canSpare, type WayInServices } from '../factors/last-way-in.ts';
import { canSparePasskey } from '../factors/passkeys.ts';
import { accountTime } from '../notices/account-time.ts';
import { enqueueSecurityNotice, type SecurityNoticeServices } from '../notices/notices.ts';
import { beginRecovery } from '../recovery/begin.ts';

interface SupportServices extends SecurityNoticeServices {
  readonly database: Database;
  readonly clock: Clock;
}

/** How often recovery is sent to one person for operators. */
const MOST_RECOVERIES = { count: 5, windowMs: HOUR };

/**
 * Sends a person the link that recovers the account, to the verified address. The operator does not see it.
 * @throws {Failure} `not found`, `limited`, or `conflict` where there is no address that it may go to
 */
export async function sendRecovery(services: SupportServices, accountId: string, origin: Origin): Promise<void> {
  const { database, clock, mail } = services;
  const now = clock();
  const sent = prepareChallenge();
  await database.commit(function* send(): Work<void> {
    const account = yield* lockAccount({ id: accountId });
    if (account === undefined) throw userNotFound(accountId);
    if (!mail.available) throw conflict('This server sends no mail. Set TESSERA_SMTP_URL first.');
    if (!mayAct(account, now)) {
      throw conflict('The account is banned, suspended or about to be deleted: it cannot be recovered.');
    }
    if (!account.profile.emailVerified) {
      throw conflict(
        'The address of this account is not verified, so nothing is sent to it. An admin can make a recovery link.',
      );
    }
    if ((yield* listPreviousAddresses({ accountId, now })).length > 0) {
      throw conflict(
        'The address of this account was changed in the last seven days, so its reader may be another person. An admin decides which address is the owner’s, with a recovery link.',
      );
    }
    if (!(yield* takeWithin(`recovery by operator ${accountId}`, MOST_RECOVERIES, now))) throw limited(HOUR / 1000);
    yield* beginRecovery(services, account, { sent, browserHash: null, origin, cause: { by: 'operator' } }, now);
    const at = yield* accountTime(account, now);
    yield* enqueueSecurityNotice(services, account, 'recovery link made', { byOperator: true }, now, at);
  });
}

/** How often an operator asks one person to verify their address. */
const MOST_REMINDERS = { count: 3, windowMs: HOUR };

/**
 * Asks a person by mail to verify their address. The message leads to the page of the account, where the person signs in first: only a
 * browser that is signed in can be sent what verifies an address.
 * @returns false where the address is verified already
 * @throws {Failure} `not found`, `limited`, or `conflict` where no message can be sent or acted on
 */
export async function remindToVerify(services: SupportServices, accountId: string, origin: Origin): Promise<boolean> {
  const { database, clock, mail, issuer } = services;
  const now = clock();
  return database.commit(function* remind(): Work<boolean> {
    const account = yield* lockAccount({ id: accountId });
    if (account === undefined) throw userNotFound(accountId);
    if (account.profile.emailVerified) return false;
    if (!mail.available) throw conflict('This server sends no mail. Set TESSERA_SMTP_URL first.');
    if (!mayAct(account, now)) {
      throw conflict(
        'The account is banned, suspended or about to be deleted: nobody can sign in and verify the address.',
      );
    }
    if (!(yield* takeWithin(`verification by operator ${accountId}`, MOST_REMINDERS, now))) throw limited(HOUR / 1000);
    const { username, email: to } = account.profile;
    const content = mailTexts.addresses.reminder({ username, url: `${issuer}/account/email` });
    yield* mail.enqueue({ to, accountId, kind: 'verify address', content, expiresAt: now + DAY }, now);
    yield* record({ at: now, type: 'account.verification_reminded', origin, accountId });
    return true;
  });
}

/** A factor of a person beside the password, as operators see it. */
export interface PersonalFactor {
  /** `totp`, or the ID of a passkey. */
  readonly id: string;
  readonly kind: 'totp' | 'passkey';
  /** The name that the person gave to a passkey. */
  readonly name: string | null;
  readonly createdAt: number;
}

export const factorView = (factor: PersonalFactor) => ({ ...factor, createdAt: iso(factor.createdAt) });

const TOTP = 'totp';

/** The factors of an account beside the password. */
export function* personalFactors({ id: accountId }: Pick<Account, 'id'>): Work<readonly PersonalFactor[]> {
  return (yield* listNamedFactors({ accountId })).map(personalFactor);
}

export const personalFactor = (factor: NamedFactor): PersonalFactor => ({ ...factor, id: factor.id ?? TOTP });

/**
 * Removes a factor that a person lost: the authenticator app or one passkey. Every session and token from before ends.
 * @returns whether there was such a factor
 * @throws {Failure} `not found`, or `conflict` where the person would be left without a way in, or without the second factor that is
 *   required of them
 */
export function removeLostFactor(
  services: SupportServices & WayInServices & AccountActor,
  accountId: string,
  factorId: string,
  origin: Origin,
): Promise<boolean> {
  const now = services.clock();
  return services.database.commit(function* remove(): Work<boolean> {
    const account = yield* lockToChange(accountId);
    const lost = (yield* personalFactors(account)).find(({ id }) => id === factorId);
    if (lost === undefined) return false;
    yield* requireSpare(services, account, lost.kind);
    const at = yield* accountTime(account, now);
    const changed = yield* saveChange(account, { generation: randomIdentifier() }, at, now);
    yield* removeFactor(services, changed, lost);
    const { things } = mailTexts.noticeTexts;
    const what = lost.kind === 'totp' ? things.app : things.passkey(lost.name ?? '');
    const facts = { what, byOperator: true };
    yield* enqueueSecurityNotice(services, changed, 'factor removed', facts, now, changed.updatedAt);
    yield* recordAccountAct(services, accountId, 'factor removed', now);
    if (lost.kind === 'totp') {
      yield* recordAccountOpening(services, accountId, 'factor removed', changed.updatedAt);
      yield* recordLostApp(changed);
    }
    const details = { factor: lost.kind };
    yield* record({ at: now, type: 'account.factor_removed', origin, accountId, details });
    return true;
  });
}

/** @throws {Failure} `conflict` */
function* requireSpare(services: WayInServices, account: Account, factor: 'totp' | 'passkey'): Work<void> {
  const factors = yield* listFactors(account);
  const second = factors.filter(({ kind }) => kind !== 'password');
  if (second.length === 1 && (yield* isSecondFactorRequired(services.secondFactor, account))) {
    throw conflict(
      'This is the last second factor of a person of whom one is required. An admin can make a recovery link that resets it.',
    );
  }
  const spares =
    factor === 'totp'
      ? yield* canSpare(services, account, factors, { kind: 'totp' })
      : yield* canSparePasskey(services, account, factors);
  if (!spares) throw conflict('Without it there would be no way into this account. An admin can make a recovery link.');
}

function* removeFactor({ secondFactor }: WayInServices, account: Account, { kind, id }: PersonalFactor): Work<void> {
  if (kind === 'totp') {
    yield* removeTotp(secondFactor, account);
    return;
  }
  yield* removePasskeys(account.id, account.updatedAt, (passkey) => passkey.id === id, { removedBy: BY_OPERATOR });
  yield* removeUselessCodes(secondFactor, account);
}

/**
 * Ends the wait after too many failed sign-ins to an account, in every browser and by each of its names.
 * @throws {Failure} `not found`
 */
export async function unlockAccount(services: SupportServices, accountId: string, origin: Origin): Promise<void> {
  const now = services.clock();
  await services.database.commit(function* unlock(): Work<void> {
    const account = yield* lockAccount({ id: accountId });
    if (account === undefined) throw userNotFound(accountId);
    const { username, email } = account.profile;
    const browsers = yield* otherKnownBrowsers(accountId, null);
    for (const name of [identifierKey(username), identifierKey(email), emailKey(email)]) {
      for (const bucket of passwordBuckets(accountId, digest(name), browsers)) yield* forget({ bucket });
    }
    yield* record({ at: now, type: 'account.unlocked', origin, accountId });
    const at = yield* accountTime(account, now);
    yield* enqueueSecurityNotice(services, account, 'unlocked', { byOperator: true }, now, at);
  });
}
