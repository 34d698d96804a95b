import { recordMovedAddress, recordReturnedAddress } from '../../accounts/opening-store.ts';
import {
  insertPreviousAddress,
  listAddressesToReturnTo,
  listEarlierAddresses,
  listPreviousAddresses,
  type PreviousAddress,
  prolongPreviousAddresses,
  removePreviousAddresses,
} from '../../accounts/previous-address-store.ts';
import { emailKey } from '../../accounts/rules/profile.ts';
import type { Account } from '../../accounts/store.ts';
import { listFactors } from '../../authenticators/factor-store.ts';
import { type Factor, needsProof } from '../../authenticators/rules/factors.ts';
import { isAmong, secondFactorOf } from '../../authenticators/rules/taking-back.ts';
import type { Limits } from '../../limits/settings.ts';
import { endChallenges, prepareChallenge, type SentChallenge } from '../../mail/challenges.ts';
import { mailTexts } from '../../mail/messages.ts';
import { DAY } from '../../platform/clock.ts';
import { digest, randomSecret } from '../../platform/crypto/secrets.ts';
import type { Work } from '../../platform/database/database.ts';
import { readableEmail } from '../../platform/domain-name.ts';
import type { Origin } from '../../platform/validation/origin.ts';
import type { Session } from '../../sessions/store.ts';
import type { EndedMakers } from '../makers/made.ts';
import { type SecurityNoticeServices, unansweredPasskeys, unansweredSince } from '../notices/notices.ts';
import { undoneSentences } from '../notices/rules/undone-text.ts';
import { removeAddedSince } from '../recovery/added-since.ts';
import { beginRecovery } from '../recovery/begin.ts';
import { factorsOf, passkeysOfChanges, spanOf } from '../recovery/older-right.ts';
import { giveChangesBack } from './change-limit.ts';
import { isReturnProof } from './rules/earlier-proof.ts';

/** How long a change can be undone from the earlier address. */
export const UNDO_LIFETIME = 7 * DAY;

/**
 * The factors with which the person of an account goes back to an earlier address, the first one by default. What is newer, and may be a
 * thief's, does not stand in the way.
 */
export function* factorsToReturn(
  account: Pick<Account, 'id' | 'passwordHash'>,
  now: number,
  address?: PreviousAddress,
): Work<readonly Factor[]> {
  const factors = yield* listFactors(account);
  const right = address ?? (yield* listAddressesToReturnTo({ accountId: account.id, now })).at(-1);
  if (right === undefined) return factors;
  const kept = yield* factorsOf(right);
  if (kept === undefined) return factors.filter(({ createdAt }) => createdAt < right.factorsSince);
  return factors.filter(({ kind, createdAt }) => kind !== 'password' && isAmong(kept, createdAt));
}

/**
 * The address that an account had in the last days and now goes back to, if its person freshly proved themselves for that: the first time
 * that it was given up. Otherwise going back is a change like any other.
 */
export function* findReturn(
  account: Pick<Account, 'id' | 'passwordHash' | 'passwordSetAt'>,
  session: Session,
  email: string,
  now: number,
): Work<PreviousAddress | undefined> {
  const addresses = yield* listAddressesToReturnTo({ accountId: account.id, now });
  for (const address of addresses.toReversed()) {
    if (emailKey(address.email) !== emailKey(email)) continue;
    if (!isReturnProof(session, account, address.factorsSince, yield* factorsOf(address))) continue;
    if (!needsProof(yield* factorsToReturn(account, now, address), session, now)) return address;
  }
  return undefined;
}

/**
 * Ends what came since an account gave up the address that it has again, in the unit of work that has saved it: younger rights, links
 * and codes, and what was added since. The address that it drops is told, and gets nothing that acts.
 * @param left the account's address until now
 * @returns whose rights as operators ended, to wait for after the commit
 */
export function* endSince(
  services: SecurityNoticeServices & { readonly limits: Limits },
  account: Account,
  {
    right,
    left,
    session,
    origin,
  }: {
    readonly right: PreviousAddress;
    readonly left: string;
    readonly session: Pick<Session, 'provedBy' | 'provedFactorSince'>;
    readonly origin: Origin;
  },
  now: number,
): Work<EndedMakers> {
  const { id: accountId, profile } = account;
  const passkeys = passkeysOfChanges(yield* listEarlierAddresses({ accountId, now }), right);
  yield* removePreviousAddresses({ accountId, since: right.changedAt });
  yield* recordReturnedAddress({ accountId, changedAt: right.changedAt });
  yield* endChallenges(accountId);
  // With what the person signed in, they still sign in.
  const shown = { method: session.provedBy, factorSince: session.provedFactorSince };
  const back = { span: spanOf(right), shown, passkeys };
  const undone = yield* removeAddedSince(account, back, origin, now);
  if ((yield* listPreviousAddresses({ accountId, now })).length === 0) {
    yield* giveChangesBack(services.limits, accountId, now);
  }
  const message = { accountId, kind: 'address changed', expiresAt: now + UNDO_LIFETIME } as const;
  yield* services.mail.enqueue({ ...message, to: left, content: mailTexts.addresses.changeUndone(profile) }, now);
  const regained = mailTexts.addresses.regained({ username: profile.username, undone: undoneSentences(undone) });
  yield* services.mail.enqueue({ ...message, to: profile.email, content: regained }, now);
  // Without its way in, which was set up since, the account is recovered by the address that was just proved.
  if ((yield* listFactors(account)).every(({ kind }) => kind === 'totp')) {
    const cause = { by: 'going back' } as const;
    yield* beginRecovery(services, account, { sent: prepareChallenge(), browserHash: null, origin, cause }, now);
  }
  return undone.makers;
}

/**
 * Gives the address that an account had until now the right to undo the change, in the unit of work that has saved it, and tells both
 * addresses. Older rights last as long as this one, so that no later address outlasts them. An address that was never verified may be a
 * stranger's: it is told nothing, and only remembered, for the person who goes back to it and verifies it.
 */
export function* giveUpAddress(
  { mail, sealer, issuer }: SecurityNoticeServices,
  { id: accountId, profile, generation, updatedAt: changedAt }: Account,
  { email: before, emailVerified: isVerified }: Pick<Account['profile'], 'email' | 'emailVerified'>,
  {
    session,
    ...undo
  }: {
    /** In which the address was changed. */
    readonly session: Pick<Session, 'provedBy' | 'provedFactorSince'>;
    readonly sent: SentChallenge;
    readonly path: string;
  },
  now: number,
): Work<void> {
  const { username, email } = profile;
  const expiresAt = now + UNDO_LIFETIME;
  const message = { accountId, kind: 'address changed', expiresAt } as const;
  yield* mail.enqueue(
    { ...message, to: email, content: mailTexts.addresses.gained({ username, isEarlierTold: isVerified }) },
    now,
  );
  yield* prolongPreviousAddresses({ accountId, now, expiresAt });
  yield* recordMovedAddress({ accountId, at: changedAt });
  const provedBy = secondFactorOf(session);
  const own = session.provedBy === 'passkey' && provedBy !== null ? [provedBy] : [];
  const notice = 'address changed';
  const named = yield* unansweredPasskeys(sealer, { id: accountId, generation }, notice, changedAt);
  yield* insertPreviousAddress({
    hash: undo.sent.hash,
    accountId,
    email: before,
    changedAt,
    factorsSince: yield* unansweredSince(sealer, accountId, changedAt),
    expiresAt,
    standing: isVerified ? 'right' : 'unverified',
    provedBy,
    passkeys: [...new Set([...own, ...named])],
  });
  if (!isVerified) return;
  const url = `${issuer}${undo.path}?token=${undo.sent.link}`;
  const content = mailTexts.addresses.lost({ username, email: readableEmail(email), url });
  yield* mail.enqueue({ ...message, to: before, content, restsOn: undo.sent.hash }, now);
}

/** Remembers for some days which address an operator took away, in case that was a mistake. It gives no right, and reserves nothing. */
export const rememberTaken = (
  { id: accountId, profile }: Account,
  { at, factorsSince }: { readonly at: number; readonly factorsSince: number },
  now: number,
): Work<void> =>
  insertPreviousAddress({
    // No link has this hash.
    hash: digest(randomSecret()),
    accountId,
    email: profile.email,
    changedAt: at,
    factorsSince,
    expiresAt: now + UNDO_LIFETIME,
    standing: 'taken',
    provedBy: null,
    passkeys: [],
  });
