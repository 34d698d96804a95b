import { isAddressDoubted } from '../../accounts/act-store.ts';
import { otherKnownBrowsers } from '../../accounts/known-browser-store.ts';
import type { Account } from '../../accounts/store.ts';
import { record } from '../../audit/audit.ts';
import { createChallenge, type NewChallenge, type SentChallenge } from '../../mail/challenges.ts';
import type { MailContent } from '../../mail/content.ts';
import { mailTexts } from '../../mail/messages.ts';
import { MINUTE } from '../../platform/clock.ts';
import type { Work } from '../../platform/database/database.ts';
import type { Device, Origin } from '../../platform/validation/origin.ts';
import { accountStatus } from '../../verdict/rules.ts';
import type { SecurityNoticeServices } from '../notices/notices.ts';
import { askedFrom } from '../notices/rules/notice-text.ts';
import { type UndoneFacts, undoneSentences } from '../notices/rules/undone-text.ts';

/** How long a recovery link works. */
export const RECOVERY_LIFETIME = 30 * MINUTE;

/** What a recovery challenge remembers. */
export interface RecoveryData {
  /** The handle of the pending request during which the person asked. */
  readonly request?: string | undefined;
  /** Of an operator's link: whether it removes the factors beside the password. */
  readonly resetFactors?: boolean;
}

/** Why a recovery begins. */
type RecoveryCause =
  /** A browser asked. */
  | { readonly by: 'browser'; readonly device: Device | undefined }
  | { readonly by: 'operator' }
  /** The owner ended everything; with what was removed from the account in the same act. */
  | { readonly by: 'securing'; readonly undone: UndoneFacts }
  /** The owner went back to an earlier address, with which nothing is left that signs in. */
  | { readonly by: 'going back' };

interface AskedBy {
  readonly cause: RecoveryCause;
  /** From `prepareChallenge`, outside of the unit of work. */
  readonly sent: SentChallenge;
  /** The browser that asked; null where none did. */
  readonly browserHash: string | null;
  /** Whether the account knows that browser: a copy of its cookies is a stranger, too. */
  readonly isKnown?: boolean;
  readonly request?: string | undefined;
  readonly origin: Origin;
}

export const linkOf = (issuer: string, { link }: Pick<SentChallenge, 'link'>): string =>
  `${issuer}/recover/link?token=${link}`;

/** What the messages say of an account. */
export const subjectOf = (issuer: string, { profile }: Account) => ({
  username: profile.username,
  host: new URL(issuer).host,
});

/**
 * Sends a link that recovers an account, inside a unit of work, and a code where a browser asked. They replace earlier ones, except
 * those that another browser asked for which signed in to the account before, and end with the account's generation. Does nothing where
 * the address is not to be trusted with the account: see `closeAccount`. A banned or suspended person is told why none comes.
 */
export function* beginRecovery(
  { sealer, mail, issuer }: SecurityNoticeServices,
  account: Account,
  { sent, browserHash, isKnown = false, request, origin, cause }: AskedBy,
  now: number,
): Work<void> {
  if (yield* isAddressDoubted(account)) return;
  const status = accountStatus(account, now);
  if (status !== 'active') {
    const undone = cause.by === 'securing' ? undoneSentences(cause.undone) : [];
    const about = { ...subjectOf(issuer, account), undone };
    const bannedUntil = status === 'banned' ? account.bannedUntil : null;
    const content = mailTexts.recovery.securedBarred[status]({ ...about, bannedUntil });
    const told = { to: account.profile.email, accountId: account.id, content, expiresAt: now + RECOVERY_LIFETIME };
    return yield* mail.enqueue({ ...told, kind: 'recovery' }, now);
  }
  const address = account.profile.email.toLowerCase();
  const data: RecoveryData = { request };
  const challenge = { purpose: 'recover', account, address, browserHash, data, lifetime: RECOVERY_LIFETIME } as const;
  // A stranger who asks later must not end what the owner asked for.
  const spared = yield* otherKnownBrowsers(account.id, isKnown ? browserHash : null);
  yield* createChallenge(sealer, sent, { ...challenge, spared }, now);
  const content = contentFor(cause, { ...subjectOf(issuer, account), url: linkOf(issuer, sent) }, sent.code);
  const expiresAt = now + RECOVERY_LIFETIME;
  const message = { to: account.profile.email, accountId: account.id, content, expiresAt, challenge: sent.hash };
  yield* mail.enqueue({ ...message, kind: 'recovery' }, now);
  yield* record({ at: now, type: 'recovery.requested', origin, accountId: account.id });
}

/** The message. Where no browser asked, there is none in which the code could be typed: it has the link alone. */
function contentFor(
  cause: RecoveryCause,
  about: ReturnType<typeof subjectOf> & { readonly url: string },
  code: string,
): MailContent {
  const texts = mailTexts.recovery;
  if (cause.by === 'browser') return texts.recover({ ...about, from: askedFrom(cause.device), code });
  if (cause.by === 'operator') return texts.sentByOperator(about);
  if (cause.by === 'securing') return texts.secured({ ...about, undone: undoneSentences(cause.undone) });
  return texts.wentBack(about);
}

/**
 * Stores a challenge that nothing answers, where there is no account to send a message to: codes that are typed then cost the same
 * as others.
 * @param name a digest of what was typed
 */
export const createDecoy = (
  { sealer }: SecurityNoticeServices,
  { sent, ...decoy }: Pick<AskedBy, 'sent'> & Pick<NewChallenge, 'purpose' | 'browserHash' | 'lifetime'>,
  name: string,
  now: number,
): Work<void> =>
  createChallenge(sealer, sent, { ...decoy, account: null, address: name, data: {}, isDecoy: true }, now);
