import { record } from '../../audit/audit.ts';
import {
  findTrustedBrowser,
  insertTrustedBrowser,
  removeOldestTrustedBrowsers,
  removeTrustedBrowser,
} from '../../authenticators/trusted-browser-store.ts';
import { digest, isSecretForm } from '../../platform/crypto/secrets.ts';
import type { Work } from '../../platform/database/database.ts';
import type { Origin } from '../../platform/validation/origin.ts';
import type { Session } from '../../sessions/store.ts';

/** An account trusts this many browsers: the latest. */
const MAX_TRUSTED_BROWSERS = 16;

/**
 * Whether the second factor is not asked for in the browser with this secret. Such a sign-in has proved the first factor alone, and its
 * session says so.
 */
export function* isTrustedBrowser(
  secret: string | undefined,
  { id: accountId, generation }: { readonly id: string; readonly generation: string },
  now: number,
): Work<boolean> {
  if (secret === undefined || !isSecretForm(secret)) return false;
  return (yield* findTrustedBrowser({ hash: digest(secret), accountId, generation, now })) !== undefined;
}

/** What a browser is trusted with. */
export interface BrowserTrust {
  /** For its cookie. */
  readonly secret: string;
  /** In milliseconds. */
  readonly lifetime: number;
}

/** Trusts the browser of a session that has just started with two factors, in the unit of work that starts it. */
export function* trustBrowser(
  session: Session,
  { secret, lifetime }: BrowserTrust,
  origin: Origin,
  now: number,
): Work<void> {
  const { accountId, generation, browser, system, network, sid } = session;
  yield* removeOldestTrustedBrowsers({ accountId, kept: MAX_TRUSTED_BROWSERS - 1 });
  const trusted = { accountId, generation, browser, system, network, createdAt: now, expiresAt: now + lifetime };
  yield* insertTrustedBrowser({ hash: digest(secret), ...trusted });
  const actor = { type: 'user', id: accountId } as const;
  yield* record({ at: now, type: 'browser.trusted', origin: { ...origin, actor }, accountId, details: { sid } });
}

/** Asks for the second factor again in a browser, inside a unit of work. */
export function* distrustBrowser(accountId: string, hash: string, origin: Origin, now: number): Work<boolean> {
  const removed = yield* removeTrustedBrowser({ accountId, hash });
  if (removed) yield* record({ at: now, type: 'browser.distrusted', origin, accountId });
  return removed;
}
