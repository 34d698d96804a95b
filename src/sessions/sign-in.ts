import type { Account } from '../accounts/store.ts';
import { record } from '../audit/audit.ts';
import {
  type AuthenticationRefusal,
  type AuthenticationServices,
  authenticators,
} from '../authenticators/authenticators.ts';
import { rememberBrowser } from '../authenticators/known-browser-store.ts';
import type { PasswordAttempt } from '../authenticators/password.ts';
import { authenticationContext } from '../authenticators/rules/authentication-context.ts';
import type { Work } from '../platform/database/database.ts';
import type { Origin } from '../platform/validation/origin.ts';
import { addressBucket } from '../platform/validation/origin.ts';
import { deviceOf } from './rules/device.ts';
import { type NewSession, newSession, replaceSession } from './sessions.ts';
import type { Session } from './store.ts';

export interface SignInAttempt extends PasswordAttempt {
  /** The header of the browser. */
  readonly userAgent: string | undefined;
  /** The session that this browser had before, which ends with a new sign-in. */
  readonly previousSecret: string | undefined;
}

export type SignInResult =
  | { readonly kind: 'signed in'; readonly created: NewSession; readonly account: Account }
  | AuthenticationRefusal;

/**
 * Signs a person in: authenticates them, then starts a session, in one commit with the last checks of the authentication.
 * @param onSignedIn more work of the same commit, for the request that waits for this sign-in
 */
export async function signIn(
  services: AuthenticationServices,
  attempt: SignInAttempt,
  onSignedIn: (session: Session) => Work<void>,
): Promise<SignInResult> {
  const now = services.clock();
  const checked = await authenticators.password(services, attempt, now);
  if (checked.kind === 'limited') return checked;
  return services.database.commit(function* startSession(): Work<SignInResult> {
    const authentication = yield* checked.complete();
    if (authentication.kind !== 'authenticated') return authentication;
    const { account, amr } = authentication;
    const origin: Origin = { ...attempt.origin, actor: { type: 'user', id: account.id } };
    const { secret, session } = newSession(account, now, { ...deviceAt(attempt), ...authenticationContext(amr) });
    const created = { secret, session: yield* replaceSession(session, attempt.previousSecret, now, origin) };
    yield* rememberBrowser(account.id, attempt.browserHash, now);
    yield* onSignedIn(created.session);
    const details = { sid: created.session.sid };
    yield* record({ at: now, type: 'sign_in.succeeded', origin, accountId: account.id, details });
    return { kind: 'signed in', created, account };
  });
}

const deviceAt = ({ userAgent, origin }: SignInAttempt) =>
  deviceOf(userAgent, origin.address === null ? null : addressBucket(origin.address));
