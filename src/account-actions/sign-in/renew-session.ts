import { type BrowserMark, rememberBrowser } from '../../accounts/known-browser-store.ts';
import type { Account } from '../../accounts/store.ts';
import { withMethod } from '../../authenticators/rules/authentication-context.ts';
import type { FactorUse } from '../../authenticators/rules/factors.ts';
import type { Limits } from '../../platform/config/limits.ts';
import { digest, randomIdentifier, randomSecret } from '../../platform/crypto/secrets.ts';
import type { Database, Work } from '../../platform/database/database.ts';
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
import { type AccountChangeEvent, changeAccount } from '../accounts/accounts.ts';
import { countGeneration, requireFewGenerations } from '../accounts/generation-limit.ts';

/** An account that was secured, and the session in which its owner continues. */
export interface Renewal {
  readonly account: Account;
  readonly created: NewSession;
}

/** A change that secures an account, made in a session. */
interface SecuringChange {
  readonly account: Account;
  readonly session: Session;
  /** The browser in which it is made: it alone stays known to the account. */
  readonly browser: BrowserMark;
  /** How the person authenticated, if it is not as in the session. */
  readonly start?: Partial<Pick<SessionStart, 'amr' | 'acr' | keyof SessionProof>>;
  readonly event: AccountChangeEvent;
  /** The change beside the new generation, given the account as it is under the lock, and its time. It refuses by throwing. */
  readonly decide?: (
    account: Account,
    at: number,
  ) => Partial<Pick<Account, 'passwordHash' | 'passwordSetAt' | 'profile'>>;
  /** Work of the same commit before the change, under the account's lock. It refuses by throwing. */
  readonly prepare?: () => Work<void>;
  /**
   * More work of the same commit, given the changed account and the session in which its owner continues. What it sets up has the time
   * `changed.updatedAt`.
   */
  readonly afterSave?: (changed: Account, session: Pick<Session, 'hash'>) => Work<void>;
}

/**
 * Secures an account: every session, code and token from before ends, and the acting browser continues in a new session, all in one
 * commit. That commit checks again that the session and the account's generation are still those that the person acted in.
 * @throws {SessionEnded} where the session ended meanwhile
 * @throws {Failure} `limited` where the account was secured too often
 */
export async function renewSession(
  services: SessionServices & { readonly limits: Limits },
  change: SecuringChange,
): Promise<Renewal> {
  const { account, session, browser, start, event, decide, prepare, afterSave } = change;
  const subject = { accountId: account.id, origin: event.origin };
  await requireFewGenerations(services, subject);
  const inSession = sessionDatabase(services, session);
  const database: Database = {
    ...inSession,
    commit: (work) =>
      inSession.commit(function* prepared() {
        if (prepare !== undefined) yield* prepare();
        yield* countGeneration(services.limits, subject, services.clock());
        return yield* work();
      }),
  };
  const started = newSession(account, services.clock(), { ...session, ...start });
  const changed = await changeAccount(
    { ...services, database },
    account.id,
    event,
    (locked, _now, at) => ({ ...decide?.(locked, at), generation: randomIdentifier() }),
    function* replace(saved): Work<void> {
      yield* removeSession({ hash: session.hash });
      yield* insertSession({ ...started.session, generation: saved.generation });
      yield* carryUpstreamSession(session, started.session);
      yield* rememberBrowser(saved.id, browser, started.secret, services.clock());
      if (afterSave !== undefined) yield* afterSave(saved, started.session);
    },
  );
  const created = { secret: started.secret, session: { ...started.session, generation: changed.generation } };
  return { account: changed, created };
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
