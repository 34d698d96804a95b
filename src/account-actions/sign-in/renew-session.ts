import { type BrowserMark, rememberBrowser } from '../../accounts/known-browser-store.ts';
import type { Account } from '../../accounts/store.ts';
import { withMethod } from '../../authenticators/rules/authentication-context.ts';
import type { FactorUse } from '../../authenticators/rules/factors.ts';
import type { Limits } from '../../limits/settings.ts';
import { digest, randomIdentifier, randomSecret } from '../../platform/crypto/secrets.ts';
import type { Work } from '../../platform/database/database.ts';
import type { Origin } from '../../platform/validation/origin.ts';
import { carryRequest } from '../../sessions/interaction-store.ts';
import {
  type NewSession,
  newSession,
  type SessionProof,
  type SessionServices,
  type SessionStart,
  sessionDatabase,
} from '../../sessions/sessions.ts';
import { insertSession, removeSession, type Session } from '../../sessions/store.ts';
import { carryUpstreamSession } from '../../upstreams/session-store.ts';
import { lockToChange, saveChange } from '../accounts/accounts.ts';
import { countGeneration, requireFewGenerations } from '../accounts/generation-limit.ts';
import { accountTime } from '../notices/account-time.ts';

/** An account that was secured, and the session in which its owner continues. */
export interface Renewal {
  readonly account: Account;
  readonly created: NewSession;
}

/** A signed-in person who acts on their account. */
export interface ActingOwner {
  /** As it was when the act began. */
  readonly account: Account;
  readonly session: Session;
  /** The browser in which they act: it alone stays known to an account that they secure. */
  readonly browser: BrowserMark;
  readonly origin: Origin;
  /** The digest of the pending request that asks for the act: it goes on with the session in which the person continues. */
  readonly interactionHash?: string | null;
}

/** An account that its owner secures, inside a unit of work. */
export interface Securing {
  /** As it is under the lock. */
  readonly account: Account;
  /** The {@link accountTime} of the act. */
  readonly at: number;
  /** By the clock of this node. */
  readonly now: number;
}

/**
 * Does what secures an account in one commit, which checks again that the session and the account's generation are still those that the
 * person acted in, and locks the account.
 * @throws {SessionEnded} where the session ended meanwhile
 * @throws {Failure} `limited` where the account was secured too often
 */
export async function secureInSession<Done>(
  services: SessionServices & { readonly limits: Limits },
  { account: { id }, session, origin }: ActingOwner,
  act: (securing: Securing) => Work<Done>,
): Promise<Done> {
  await requireFewGenerations(services, { accountId: id, origin });
  const now = services.clock();
  return sessionDatabase(services, session).commit(function* secure() {
    const account = yield* lockToChange(id);
    return yield* act({ account, at: yield* accountTime(account, now), now });
  });
}

/** What changes when a session is renewed. */
interface RenewalChange {
  /** How the person authenticated, if it is not as in the session. */
  readonly start?: Partial<Pick<SessionStart, 'amr' | 'acr' | keyof SessionProof>>;
  /** The change of the account beside its new generation. */
  readonly values?: Partial<Pick<Account, 'passwordHash' | 'passwordSetAt' | 'profile'>>;
}

/**
 * Begins a new generation of an account that its owner secures: every session, code and token from before ends, and the acting browser
 * continues in a new session. What the act sets up has the time `updatedAt` of the account that this returns.
 */
export function* renewSession(
  { limits }: { readonly limits: Limits },
  { session, browser, origin, interactionHash = null }: ActingOwner,
  { account, at, now }: Securing,
  { start, values }: RenewalChange = {},
): Work<Renewal> {
  yield* countGeneration(limits, { accountId: account.id, origin }, now);
  const started = newSession(account, now, { ...session, ...start });
  const changed = yield* saveChange(account, { ...values, generation: randomIdentifier() }, at, now);
  const renewed: Session = { ...started.session, generation: changed.generation };
  yield* removeSession({ hash: session.hash });
  yield* insertSession(renewed);
  yield* carryUpstreamSession(session, renewed);
  yield* rememberBrowser(changed.id, browser, started.secret, now);
  yield* carryRequest(interactionHash, { from: session.hash, to: renewed.hash });
  return { account: changed, created: { secret: started.secret, session: renewed } };
}

/**
 * Continues a session after one more proof, inside a unit of work that has locked it. It gets a new secret, so that one that was known
 * before is not raised with it, and keeps its name and its end.
 * @param account as it was when the proof was checked, or later
 */
export function* continueProved(
  session: Session,
  { method, factorSince }: FactorUse,
  account: Pick<Account, 'updatedAt'>,
  browser: BrowserMark,
  now: number,
): Work<NewSession> {
  const secret = randomSecret();
  const proved: Session = {
    ...session,
    ...withMethod(session, method),
    hash: digest(secret),
    lastSeenAt: now,
    provedAt: now,
    provedBy: method,
    provedFactorSince: factorSince,
    provedAfter: account.updatedAt,
  };
  yield* removeSession({ hash: session.hash });
  yield* insertSession(proved);
  yield* rememberBrowser(session.accountId, browser, secret, now);
  return { secret, session: proved };
}
