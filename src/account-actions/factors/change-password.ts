import { givenPasswords, recordReplacedPassword } from '../../accounts/act-store.ts';
import { record } from '../../audit/audit.ts';
import { ACR } from '../../authenticators/rules/authentication-context.ts';
import type { Work } from '../../platform/database/database.ts';
import { conflict } from '../../platform/failure.ts';
import { addressFlows } from '../../platform/validation/origin.ts';
import { endOpeningsByOwner } from '../accounts/openings.ts';
import type { AttemptsLimited, AuthenticationServices } from '../authentication/authenticators.ts';
import { confirmPassword } from '../authentication/password.ts';
import { enqueueSecurityNotice } from '../notices/notices.ts';
import { deviceFacts } from '../notices/rules/notice-text.ts';
import { type ActingOwner, type Renewal, renewSession, secureInSession } from '../sign-in/renew-session.ts';

/** What a person sent to change the password, and the session in which they did. */
export interface PasswordChange extends ActingOwner {
  /** Both exactly as typed. */
  readonly current: string;
  readonly password: string;
}

export type PasswordChangeResult =
  | ({ readonly kind: 'changed' } & Renewal)
  | { readonly kind: 'wrong' }
  | AttemptsLimited;

/**
 * Changes the password of a person who knows the current one: every session, code and token from before ends, and this browser
 * continues in a new session, all in one commit. That commit checks again what was checked before the hashes: the session,
 * the account's generation, and that the current password is still the one that was confirmed.
 * @throws {SessionEnded} where the session ended meanwhile
 * @throws {Failure} `conflict` where the stored password was replaced meanwhile
 */
export async function changePassword(
  services: AuthenticationServices,
  change: PasswordChange,
): Promise<PasswordChangeResult> {
  const { account, session, browser, current, password, origin } = change;
  const refusal = await confirmPassword(services, account, { password: current, browser, origin });
  if (refusal !== undefined) return refusal;

  const hash = await services.passwords.hash(password, [...addressFlows(origin), `account ${account.id}`]);
  return secureInSession(services, change, function* replace(securing): Work<PasswordChangeResult> {
    const { account: locked, at, now } = securing;
    if (locked.passwordHash !== account.passwordHash) {
      throw conflict('The password was replaced meanwhile. Nothing was changed. Open the page again.');
    }
    const setAt = account.passwordSetAt ?? account.createdAt;
    // A session that a stronger factor began says nothing new of that factor.
    const proof = { provedAt: now, provedBy: 'password', provedFactorSince: account.passwordSetAt ?? 0 } as const;
    const renewal = yield* renewSession(services, change, securing, {
      values: { passwordHash: hash, passwordSetAt: at },
      ...(session.acr === ACR && { start: proof }),
    });
    const { account: changed } = renewal;
    // A factor from before it says that the person is not the operator.
    const isOwners = session.provedBy !== 'password' && (session.provedFactorSince ?? setAt) < setAt;
    const [given] = isOwners ? [] : yield* givenPasswords(locked);
    if (isOwners) yield* endOpeningsByOwner(changed, session.provedFactorSince ?? 0);
    if (given !== undefined) yield* recordReplacedPassword(account.id, given, changed.passwordSetAt ?? at);
    yield* enqueueSecurityNotice(services, changed, 'password changed', deviceFacts(session), now, changed.updatedAt);
    const event = { type: 'account.password_changed', origin, details: { fields: ['password'] } } as const;
    yield* record({ at: now, accountId: account.id, ...event });
    return { kind: 'changed', ...renewal };
  });
}
