import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Account } from '../../accounts/store.ts';
import { take } from '../../limits/limits.ts';
import { formOf } from '../../platform/http/bodies.ts';
import type { Browser } from '../../platform/http/browser.ts';
import { type Origin, originOf } from '../../platform/http/origin.ts';
import type { RepeatableParameters } from '../../platform/http/parameters.ts';
import { rateLimited } from '../../platform/oauth-error.ts';
import { redirect } from '../../protocol/authorize/steps.ts';
import { findVisitor, SessionEnded, sessionDatabase } from '../../sessions/sessions.ts';
import type { Session } from '../../sessions/store.ts';
import { logoutContext, type SessionParts } from '../sign-in/routes.ts';
import type { Frame } from './frame.ts';

/** Somebody who is signed in, at a page of their account. */
export interface AccountVisit {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly browser: Browser;
  readonly account: Account;
  readonly session: Session;
}

/** A form of the account, and whether it came from our own page, for the person who is signed in. */
export interface Submitted {
  readonly at: AccountVisit;
  readonly form: RepeatableParameters;
  readonly fits: boolean;
}

/** What every form of the account belongs to: the session that its page was shown in. */
export const contextOf = ({ session }: Pick<AccountVisit, 'session'>): string => `account ${session.hash}`;

export const originAt = ({ request, account }: AccountVisit): Origin =>
  originOf(request, { type: 'user', id: account.id });

export const frameOf = (at: AccountVisit): Frame => ({
  account: at.account,
  token: at.browser.formToken(contextOf(at)),
  logoutToken: at.browser.formToken(logoutContext(at.account.id)),
});

/** How the pages of the account begin: with who is signed in, by the verdict of now. */
export function visits(parts: SessionParts) {
  const { browsers } = parts;

  /** The person behind a request. @throws {SessionEnded} where nobody is signed in */
  async function visit(request: FastifyRequest, reply: FastifyReply): Promise<AccountVisit> {
    const browser = browsers.of(request, reply);
    const signedIn = await findVisitor(parts, browser.sessionSecret);
    if (signedIn.kind !== 'signed in') {
      browsers.clearSession(reply);
      throw new SessionEnded();
    }
    return { request, reply, browser, ...signedIn };
  }

  /** A form of the account. @throws {SessionEnded} @throws {OAuthError} `rate_limit_exceeded` */
  async function submitted(request: FastifyRequest, reply: FastifyReply): Promise<Submitted> {
    browsers.refuseForeignForm(request);
    const at = await visit(request, reply);
    const { id: accountId } = at.account;
    const now = parts.clock();
    const about = { name: 'formAccount', origin: originAt(at), accountId } as const;
    const wait = await parts.database.commit(() => take(`forms ${accountId}`, parts.limits.formAccount, now, about));
    if (wait > 0) throw rateLimited(wait);
    const form = formOf(request);
    return { at, form, fits: at.browser.owns(form, contextOf(at)) };
  }

  /** The parts for what the person does there: nothing is written unless the session is still good. */
  const actingIn = ({ session }: AccountVisit): SessionParts => ({
    ...parts,
    database: sessionDatabase(parts, session),
  });

  return { visit, submitted, actingIn };
}

/**
 * Answers at the pages of the account where the session has ended: the browser is sent to sign in. One that ended during the
 * request keeps its cookie, for another tab may have put a new session there: two presses of "Change password", for example.
 */
export function sendToSignIn(app: FastifyInstance, { site }: SessionParts): void {
  app.setErrorHandler((error, request, reply) => {
    if (!(error instanceof SessionEnded)) throw error;
    return redirect(request, reply, site.path('/login'));
  });
}
