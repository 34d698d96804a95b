import type { Account } from '../accounts/store.ts';
import { createChallenge, type SentChallenge } from '../challenges/challenges.ts';
import { MINUTE } from '../platform/clock.ts';
import type { Work } from '../platform/database/database.ts';
import type { Origin } from '../platform/validation/origin.ts';
import type { SecurityNoticeServices } from '../security-notices/notices.ts';

const RECOVERY_LIFETIME = 30 * MINUTE;

/** Sends the link that recovers an account, inside a unit of work. */
export function* beginRecovery(
  { sealer, mail, issuer }: SecurityNoticeServices,
  account: Account,
  { sent, browserHash }: { readonly sent: SentChallenge; readonly browserHash: string | null; readonly origin: Origin },
  now: number,
): Work<void> {
  const address = account.profile.email.toLowerCase();
  const challenge = {
    purpose: 'recover',
    account,
    address,
    browserHash,
    data: {},
    lifetime: RECOVERY_LIFETIME,
  } as const;
  yield* createChallenge(sealer, sent, challenge, now);
  const content = {
    subject: 'Recover your account',
    paragraphs: [
      `Everything of your account ${account.profile.username} was ended. Open the link to set a new password.`,
    ],
    action: { label: 'Recover your account', url: `${issuer}/recover/link?token=${sent.link}` },
    footer: ['The link works once, for 30 minutes.'],
  };
  const expiresAt = now + RECOVERY_LIFETIME;
  yield* mail.enqueue(
    { to: account.profile.email, accountId: account.id, kind: 'recovery', content, expiresAt, challenge: sent.hash },
    now,
  );
}
