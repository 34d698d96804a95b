import { type BrowserMark, hasKnownBrowsers, isKnownBrowser } from '../../accounts/known-browser-store.ts';
import type { Account } from '../../accounts/store.ts';
import { HOUR } from '../../platform/clock.ts';
import type { Work } from '../../platform/database/database.ts';
import type { Session } from '../../sessions/store.ts';
import { accountTime } from '../notices/account-time.ts';
import { enqueueSecurityNotice, type SecurityNoticeServices } from '../notices/notices.ts';
import { deviceFacts } from '../notices/rules/notice-text.ts';

/** An account this young is signed in to for the first time by the person who signed up. */
const FIRST_SIGN_IN = HOUR;

/** Tells a person of a sign-in in a browser that did not sign in to the account before. */
export function* reportNewDevice(
  services: SecurityNoticeServices,
  account: Account,
  mark: BrowserMark,
  session: Session,
  now: number,
): Work<void> {
  if (!services.mail.available || (yield* isKnownBrowser(account.id, mark))) return;
  // Whatever makes an account forget its browsers changes it, too.
  const isUntouched = account.updatedAt === account.createdAt && now - account.createdAt < FIRST_SIGN_IN;
  if (isUntouched && !(yield* hasKnownBrowsers(account.id))) return;
  const at = yield* accountTime(account, now);
  yield* enqueueSecurityNotice(services, account, 'new device', deviceFacts(session), now, at);
}
