import type { Account } from '../../accounts/store.ts';
import { record } from '../../audit/audit.ts';
import { countRecoveryCodes } from '../../authenticators/recovery-code-store.ts';
import { allowMailAlone, requireRecoveryCode } from '../../authenticators/recovery-setting-store.ts';
import { take } from '../../limits/limits.ts';
import type { Limits } from '../../limits/settings.ts';
import { mailTexts } from '../../mail/messages.ts';
import { HOUR } from '../../platform/clock.ts';
import type { Work } from '../../platform/database/database.ts';
import { conflict, limited } from '../../platform/failure.ts';
import type { Origin } from '../../platform/validation/origin.ts';
import { type SessionServices, sessionDatabase } from '../../sessions/sessions.ts';
import type { Session } from '../../sessions/store.ts';
import { accountTime } from '../notices/account-time.ts';
import { enqueueSecurityNotice, type SecurityNoticeServices } from '../notices/notices.ts';
import { deviceFacts } from '../notices/rules/notice-text.ts';

/** A signed-in person who has proved who they are for this change. */
interface Actor {
  readonly account: Account;
  readonly session: Session;
  readonly origin: Origin;
}

/** Each change is told by mail and can be reported for a week, and ends nothing: a thief must not bury the other messages under these. */
const MOST_CHANGES = { count: 10, windowMs: HOUR };

/**
 * Sets whether a recovery by mail asks for a recovery code as well. It holds for links that were sent before, too, because what is asked
 * for is read when the link is used.
 * @returns false where it was so before: nothing was changed
 * @throws {SessionEnded} where the session ended meanwhile
 * @throws {Failure} `conflict` where the person has no recovery code that can be used; `limited`
 */
export async function setRecoveryCodeRequired(
  services: SessionServices & SecurityNoticeServices & { readonly limits: Limits },
  { account, session, origin }: Actor,
  isRequired: boolean,
): Promise<boolean> {
  const now = services.clock();
  const accountId = account.id;
  const limit = services.limits.formAccount === null ? null : MOST_CHANGES;
  const about = { name: 'formAccount', origin, accountId } as const;
  const database = sessionDatabase(services, session);
  const wait = await database.commit(() => take(`recovery setting ${accountId}`, limit, now, about));
  if (wait > 0) throw limited(wait);
  return database.commit(function* set(): Work<boolean> {
    if (isRequired && ((yield* countRecoveryCodes({ accountId }))?.left ?? 0) === 0) {
      throw conflict('Get recovery codes first. Nothing was changed.');
    }
    const at = yield* accountTime(account, now);
    const changed = isRequired
      ? yield* requireRecoveryCode({ accountId, now: at })
      : yield* allowMailAlone({ accountId });
    if (!changed) return false;
    const { things } = mailTexts.noticeTexts;
    const what = isRequired ? things.mailAndCode : things.mailAlone;
    yield* enqueueSecurityNotice(services, account, 'recovery setting', { ...deviceFacts(session), what }, now, at);
    const details = { codeRequired: isRequired };
    yield* record({ at: now, type: 'account.recovery_setting_changed', origin, accountId, details });
    return true;
  });
}
