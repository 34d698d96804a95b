import { lockAccount } from '../../accounts/store.ts';
import { type HandsOut, holdHandingKey } from '../../admin-keys/hand-out.ts';
import { record } from '../../audit/audit.ts';
import { createChallenge, prepareChallenge } from '../../mail/challenges.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Database, Work } from '../../platform/database/database.ts';
import type { Origin } from '../../platform/validation/origin.ts';
import { userNotFound } from '../accounts/accounts.ts';
import { enqueueSecurityNotice, type SecurityNoticeServices } from '../notices/notices.ts';
import { linkOf, RECOVERY_LIFETIME } from './begin.ts';

/** A link that an operator hands to a person. */
export interface RecoveryLink {
  readonly url: string;
  readonly expiresAt: number;
}

/**
 * Creates a link that sets a new password, once. It replaces an earlier one, and the person is told by mail. The second factor is kept
 * unless it is reset. Nothing ends before the link is used.
 * @throws {OAuthError} `not_found`
 */
export async function createRecoveryLink(
  {
    database,
    clock,
    sealer,
    mail,
    issuer,
    adminKeyId,
  }: SecurityNoticeServices & HandsOut & { readonly database: Database; readonly clock: Clock },
  accountId: string,
  { resetFactors }: { readonly resetFactors: boolean },
  origin: Origin,
): Promise<RecoveryLink> {
  const now = clock();
  const sent = prepareChallenge();
  const expiresAt = now + RECOVERY_LIFETIME;
  await database.commit(function* create(): Work<void> {
    yield* holdHandingKey({ adminKeyId });
    const account = yield* lockAccount({ id: accountId });
    if (account === undefined) throw userNotFound(accountId);
    const { email } = account.profile;
    const challenge = {
      purpose: 'recover by operator',
      account,
      browserHash: null,
      adminKeyId,
      data: { resetFactors },
    } as const;
    yield* createChallenge(
      sealer,
      sent,
      { ...challenge, address: email.toLowerCase(), lifetime: RECOVERY_LIFETIME },
      now,
    );
    yield* enqueueSecurityNotice({ sealer, mail, issuer }, account, 'recovery link made', {}, now);
    yield* record({ at: now, type: 'recovery.link_created', origin, accountId, details: { resetFactors } });
  });
  return { url: linkOf(issuer, sent), expiresAt };
}
