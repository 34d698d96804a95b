import { record } from '../../audit/audit.ts';
import { isProofIn } from '../../authenticators/rules/factors.ts';
import type { Work } from '../../platform/database/database.ts';
import type { Origin } from '../../platform/validation/origin.ts';
import { sessionDatabase } from '../../sessions/sessions.ts';
import type { Session } from '../../sessions/store.ts';
import { type ConnectedIdentity, listIdentities } from '../../upstreams/identity-store.ts';
import { recordUpstreamSession } from '../../upstreams/session-store.ts';
import type {
  AuthenticationRefusal,
  AuthenticationServices,
  CheckedAttempt,
} from '../authentication/authenticators.ts';
import { continueProved } from './renew-session.ts';
import type { SignedIn, SignInBrowser } from './sign-in.ts';

/** The identities with which a person can give a fresh proof in a session: those that were connected before it began. */
export function* identitiesToProve(session: Session): Work<readonly ConnectedIdentity[]> {
  const identities = yield* listIdentities({ accountId: session.accountId });
  return identities.filter(
    ({ isActive, createdAt }) => isActive && isProofIn(session, { method: 'upstream', factorSince: createdAt }),
  );
}

/**
 * Raises a session by another sign-in at an upstream, in one commit, which checks again that the session is still valid.
 * @returns `changed` where the identity is that of another account, or was connected since the session began
 * @throws {SessionEnded} where the session ended meanwhile
 */
export async function proveByUpstream(
  services: Pick<AuthenticationServices, 'database' | 'clock'>,
  session: Session,
  checked: CheckedAttempt,
  browser: SignInBrowser,
): Promise<SignedIn | AuthenticationRefusal> {
  const now = services.clock();
  return sessionDatabase(services, session).commit(function* prove(): Work<SignedIn | AuthenticationRefusal> {
    const authentication = yield* checked.complete();
    if (authentication.kind !== 'authenticated') return authentication;
    const { account, method, upstream } = authentication;
    if (account.id !== session.accountId || !isProofIn(session, authentication)) return { kind: 'changed' };
    const created = yield* continueProved(session, authentication, account, browser.mark, now);
    // What ends the session at the upstream ends this one, too.
    if (upstream !== undefined) yield* recordUpstreamSession(created.session, upstream, now);
    const origin: Origin = { ...browser.origin, actor: { type: 'user', id: account.id } };
    const details = { sid: session.sid, method };
    yield* record({ at: now, type: 'sign_in.confirmed', origin, accountId: account.id, details });
    return { kind: 'signed in', created, account };
  });
}
