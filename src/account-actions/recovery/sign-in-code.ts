import { otherKnownBrowsers } from '../../accounts/known-browser-store.ts';
import type { Account } from '../../accounts/store.ts';
import { createChallenge, type SentChallenge } from '../../mail/challenges.ts';
import { mailTexts } from '../../mail/messages.ts';
import { MINUTE } from '../../platform/clock.ts';
import type { Work } from '../../platform/database/database.ts';
import type { Device } from '../../platform/validation/origin.ts';
import type { SecurityNoticeServices } from '../notices/notices.ts';
import { askedFrom } from '../notices/rules/notice-text.ts';
import { subjectOf } from './begin.ts';

/** How long a sign-in code works. */
export const SIGN_IN_CODE_LIFETIME = 15 * MINUTE;

/**
 * Sends a code that signs a browser in, inside a unit of work that holds the account's lock. It replaces an earlier one, and ends with the
 * account's generation. The message has no link: only the browser that asked can use it.
 */
export function* sendSignInCode(
  { sealer, mail, issuer }: SecurityNoticeServices,
  account: Account,
  {
    sent,
    browserHash,
    device,
  }: { readonly sent: SentChallenge; readonly browserHash: string; readonly device?: Device | undefined },
  now: number,
): Work<void> {
  const to = account.profile.email;
  const lifetime = SIGN_IN_CODE_LIFETIME;
  const challenge = {
    purpose: 'sign in',
    account,
    address: to.toLowerCase(),
    browserHash,
    // A stranger who asks later must not end what the owner asked for.
    spared: yield* otherKnownBrowsers(account.id, browserHash),
    data: {},
    lifetime,
  } as const;
  yield* createChallenge(sealer, sent, challenge, now);
  const content = mailTexts.recovery.signInCode({
    ...subjectOf(issuer, account),
    from: askedFrom(device),
    code: sent.code,
  });
  const message = { to, accountId: account.id, content, expiresAt: now + lifetime, challenge: sent.hash };
  yield* mail.enqueue({ ...message, kind: 'sign-in code' }, now);
}
