import type { BrowserMark } from '../../accounts/known-browser-store.ts';
import { recordReturnedAddress } from '../../accounts/opening-store.ts';
import {
  findPreviousAddress,
  listEarlierAddresses,
  listPreviousAddresses,
  type PreviousAddress,
  prolongPreviousAddresses,
  removePreviousAddresses,
} from '../../accounts/previous-address-store.ts';
import { emailKey } from '../../accounts/rules/profile.ts';
import { type Account, findAccount, lockAccount } from '../../accounts/store.ts';
import { makingDatabase } from '../../admin-keys/hand-out.ts';
import { record } from '../../audit/audit.ts';
import { acceptedPasskeys, askedIn, type HeldPasskey } from '../../authenticators/earlier-factors.ts';
import type { FactorUse } from '../../authenticators/rules/factors.ts';
import type { ChallengeUse } from '../../authenticators/rules/passkey-challenge.ts';
import { mailTexts } from '../../mail/messages.ts';
import { digest, isSecretForm } from '../../platform/crypto/secrets.ts';
import type { Work } from '../../platform/database/database.ts';
import type { Origin } from '../../platform/validation/origin.ts';
import { accountStatus } from '../../verdict/rules.ts';
import { displaceAddress } from '../accounts/displace-address.ts';
import type { AttemptsLimited, CheckedAttempt } from '../authentication/authenticators.ts';
import type { CodeServices } from '../authentication/code-attempt.ts';
import {
  authenticateByPasskey,
  type PasskeyRequest,
  type PasskeyServices,
  requestPasskey,
} from '../authentication/passkey.ts';
import { authenticateByRecoveryCode } from '../authentication/recovery-code.ts';
import { authenticateByTotp } from '../authentication/totp.ts';
import { finishEnding, onlyMakers } from '../makers/made.ts';
import { leftDetails } from '../recovery/added-since.ts';
import { passkeysOfChanges, spanOf } from '../recovery/older-right.ts';
import { giveChangesBack } from './change-limit.ts';
import { UNDO_LIFETIME } from './earlier-address.ts';
import { endAndRecover } from './secure-account.ts';

/** A change of address that can still be undone. */
export interface OpenUndo {
  readonly account: Account;
  readonly previous: PreviousAddress;
  /**
   * The second factors from before the change of which one has to be shown, since the mailbox alone may be in foreign hands; empty where
   * the account had none.
   */
  readonly asks: readonly ('code' | 'passkey')[];
}

/** Reads the change that a link undoes, inside a unit of work; undefined where it no longer does. */
function* readOpen(link: string, now: number, read: typeof findAccount): Work<OpenUndo | undefined> {
  if (!isSecretForm(link)) return undefined;
  const found = yield* findPreviousAddress({ hash: digest(link), now });
  const account = found && (yield* read({ id: found.accountId }));
  // While this waited for the account's lock, the owner or an operator may have ended the right.
  const opened = yield* findPreviousAddress({ hash: digest(link), now });
  if (account === undefined || opened === undefined) return undefined;
  // Each link of an address undoes all that came since the account gave that up for the first time.
  const rights = yield* listPreviousAddresses({ accountId: account.id, now });
  const previous = rights.findLast((right) => emailKey(right.email) === emailKey(opened.email)) ?? opened;
  return { account, previous, asks: yield* askedIn(account.id, spanOf(previous)) };
}

/** Reads the change that a link undoes; undefined where the link no longer works. Changes nothing. */
export async function readUndo({ database, clock }: CodeServices, link: string): Promise<OpenUndo | undefined> {
  const now = clock();
  return database.read(() => readOpen(link, now, findAccount));
}

/** A passkey is asked for by one link in one browser. */
const passkeyUse = (link: string, browserHash: string): ChallengeUse => ({
  purpose: 'undo',
  browserHash,
  subject: digest(link),
});

/** Asks for a passkey from before the change; undefined where the link does not, or where browsers have no passkeys for the base URL. */
export async function requestUndoPasskey(
  { database, clock, relyingParty }: PasskeyServices,
  link: string,
  browserHash: string,
): Promise<PasskeyRequest | undefined> {
  if (relyingParty === undefined) return undefined;
  const now = clock();
  const allowed = await database.read(function* read(): Work<readonly HeldPasskey[]> {
    const open = yield* readOpen(link, now, findAccount);
    return open === undefined ? [] : yield* acceptedPasskeys(open.account.id, spanOf(open.previous));
  });
  if (allowed.length === 0) return undefined;
  return requestPasskey(relyingParty, passkeyUse(link, browserHash), allowed, now);
}

export type UndoResult =
  /** A banned or suspended account cannot be recovered now. */
  | { readonly kind: 'undone'; readonly isBarred: boolean }
  /** The link no longer works. */
  | { readonly kind: 'dead' }
  /** The second factor is missing or wrong. */
  | { readonly kind: 'wrong' }
  | { readonly kind: 'limited'; readonly seconds: number }
  /** An operator gave the address to another account. */
  | { readonly kind: 'refused' };

interface UndoAttempt {
  /** A code as typed, or what the browser sent of a passkey; an empty code where none is asked for. */
  readonly shown: { readonly code: string } | { readonly passkey: string };
  readonly browser: BrowserMark;
  readonly origin: Origin;
}

/**
 * Undoes a change of address, once: the account has its earlier address again, what was added since is removed, everything ends, and
 * recovery begins at the earlier address. The link belongs to no generation of the account. It works while the account is banned or
 * suspended, too, which stays so: else the change of a thief would be final by the time that the account is let in again.
 */
export async function undoAddressChange(
  services: CodeServices & PasskeyServices,
  link: string,
  { shown: factor, browser, origin }: UndoAttempt,
): Promise<UndoResult> {
  const { database, clock, mail } = services;
  const now = clock();
  const open = await readUndo(services, link);
  if (open === undefined) return { kind: 'dead' };
  const checked = open.asks.length > 0 ? await check(services, link, open, factor, browser, origin, now) : undefined;
  if (checked?.kind === 'limited') return checked;
  let makers = onlyMakers();
  const result = await makingDatabase(database).commit(function* undo(): Work<UndoResult> {
    const current = yield* readOpen(link, now, lockAccount);
    if (current === undefined) return { kind: 'dead' };
    const { account, previous } = current;
    if (current.asks.length > 0 && checked === undefined) return { kind: 'wrong' };
    let shown: FactorUse | undefined;
    if (checked !== undefined) {
      const authentication = yield* checked.complete();
      if (authentication.kind !== 'authenticated') return { kind: 'wrong' };
      shown = authentication;
    }
    const { id, profile } = account;
    const { email, changedAt } = previous;
    if ((yield* displaceAddress(email, id, now, origin)) === 'taken') return { kind: 'refused' };
    const passkeys = passkeysOfChanges(yield* listEarlierAddresses({ accountId: id, now }), previous);
    yield* removePreviousAddresses({ accountId: id, since: changedAt });
    yield* recordReturnedAddress({ accountId: id, changedAt });
    const older = yield* keepOlderRights(services, account, now);
    if (older === undefined) yield* giveChangesBack(services.limits, id, now);
    const back = { span: spanOf(previous), shown, passkeys };
    const earlier = { ...profile, email, emailVerified: true };
    const { undone } = yield* endAndRecover(services, account, earlier, back, origin, now);
    makers = undone.makers;
    const details = leftDetails(undone);
    yield* record({ at: now, type: 'account.address_change_undone', origin, accountId: id, details });
    // The oldest address was told more than this.
    if (![email, older].some((told) => told !== undefined && emailKey(told) === emailKey(profile.email))) {
      const content = mailTexts.addresses.changeUndone(profile);
      const message = { to: profile.email, accountId: id, kind: 'address changed', content } as const;
      yield* mail.enqueue({ ...message, expiresAt: previous.expiresAt }, now);
    }
    return { kind: 'undone', isBarred: accountStatus(account, now) !== 'active' };
  });
  await finishEnding({ database, clock }, makers);
  return result;
}

/** Checks the factor that was shown. */
function check(
  services: CodeServices & PasskeyServices,
  link: string,
  { account, previous }: OpenUndo,
  factor: UndoAttempt['shown'],
  browser: BrowserMark,
  origin: Origin,
  now: number,
): Promise<CheckedAttempt | AttemptsLimited> {
  const span = spanOf(previous);
  if ('passkey' in factor) {
    const use = passkeyUse(link, browser.hash);
    const attempt = { response: factor.passkey, use, accountId: account.id, origin, span, isBarredToo: true };
    return authenticateByPasskey(services, attempt, now);
  }
  const { code } = factor;
  // Each link counts for itself: a thief of a later address has a link, too.
  const attempt = { account, code, browser, origin, link: `undo ${previous.hash}`, span, isBarredToo: true };
  const authenticate = /^[\d\s-]{6,11}$/.test(code) ? authenticateByTotp : authenticateByRecoveryCode;
  return authenticate(services, attempt, now);
}

/**
 * An undo is a change of address, too: the rights that are older than it last as long as after any other, so that a younger one that is
 * used at its last moment does not outlast them. The oldest address is told.
 * @returns that address; undefined where no right is older
 */
function* keepOlderRights(
  { mail }: CodeServices,
  { id: accountId, profile }: Account,
  now: number,
): Work<string | undefined> {
  const oldest = (yield* listPreviousAddresses({ accountId, now })).at(-1);
  if (oldest === undefined) return undefined;
  const expiresAt = now + UNDO_LIFETIME;
  yield* prolongPreviousAddresses({ accountId, now, expiresAt });
  const content = mailTexts.addresses.olderRight(profile);
  yield* mail.enqueue({ to: oldest.email, accountId, kind: 'address changed', content, expiresAt }, now);
  return oldest.email;
}
