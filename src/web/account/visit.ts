import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Account } from '../../accounts/store.ts';
import { sendPage } from '../../pages/layout.ts';
import { unusedFormPage } from '../../pages/unused-form.ts';
import { formOf } from '../../platform/http/bodies.ts';
import { redirect } from '../../platform/http/server.ts';
import { type Origin, originOf } from '../../platform/validation/origin.ts';
import { findVisitor, SessionEnded, sessionDatabase } from '../../sessions/sessions.ts';
import type { Session } from '../../sessions/store.ts';
import type { Browser, FormViewer } from '../browser/browser.ts';
import { logoutContext } from '../browser/signed-in.ts';
import { countAccountForm, countEndingForm } from '../sign-in/account-form.ts';
import { keepDraft, keptField } from '../sign-in/draft.ts';
import { freshPage } from '../sign-in/fresh-page.ts';
import type { PageServices } from '../sign-in/routes.ts';
import type { AccountFrame } from './layout.ts';

/** A signed-in person at a page of their account. */
export interface AccountVisit {
  readonly browser: Browser;
  readonly account: Account;
  readonly session: Session;
  readonly origin: Origin;
}

declare module 'fastify' {
  interface FastifyRequest {
    accountVisit: AccountVisit | undefined;
  }
}

/** The hooks of the account pages. A hook that refuses a request answers it, and its route does not run. */
export interface AccountHooks {
  /** Rejects forms from other sites, and puts the visit on the request. Redirects to sign-in where the visitor is not signed in. */
  readonly requireVisit: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>;
  /** Counts a form against the limits of its session and its account. */
  readonly countForm: (request: FastifyRequest) => Promise<void>;
  /** Counts a form that ends what a thief holds: no other session keeps its person from it. */
  readonly countEnding: (request: FastifyRequest) => Promise<void>;
}

/**
 * Lets only signed-in people reach the routes of this scope, as of the moment of the request, and only with forms that were shown in
 * their session.
 */
export function accountHooks(app: FastifyInstance, services: PageServices): AccountHooks {
  const { browsers, site } = services;

  async function requireVisit(request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
    if (request.method === 'POST') browsers.rejectCrossSiteForm(request);
    const browser = browsers.of(request, reply);
    const visitor = await findVisitor(services, browser.sessionSecret);
    if (visitor.kind !== 'signed in') {
      // Also where another provider vouches for them, and waits to be connected.
      const waits = browser.sessionSecret !== undefined || browser.noteOf('upstream') !== undefined;
      if (waits || request.method === 'POST') keepDraft(services, request, reply);
      if (browsers.hasSessionCookie(request)) browsers.clearSession(reply);
      return redirect(request, reply, site.path('/login'));
    }
    const { account, session } = visitor;
    request.accountVisit = { browser, account, session, origin: originOf(request, { type: 'user', id: account.id }) };
    return undefined;
  }

  /**
   * Where a form was shown in another session, nothing of it is stored or shown. The routes write only while the session is valid that
   * was compared here: see {@link servicesIn}.
   */
  async function requireOwnForm(request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
    if (request.method !== 'POST') return undefined;
    const visit = visitOf(request);
    const form = formOf(request);
    if (visit.browser.owns(form, accountFormContext(visit))) return undefined;
    const isEarlier = visit.browser.audienceOf(form).accountId === visit.account.id;
    const mismatch = isEarlier ? 'earlier session' : 'expired';
    const isKept = isEarlier && keepDraft(services, request, reply);
    const page = unusedFormPage(site, visit.account, mismatch, freshPage(request, site), isKept);
    return sendPage(reply, 400, site, page);
  }

  const countForm = (request: FastifyRequest): Promise<void> => countAccountForm(services, visitOf(request));
  const countEnding = (request: FastifyRequest): Promise<void> => countEndingForm(services, visitOf(request));

  app.decorateRequest('accountVisit', undefined);
  app.addHook('preHandler', requireVisit);
  app.addHook('preHandler', requireOwnForm);
  // A session that ends during the request keeps its cookie: another tab may have replaced it meanwhile, as with two presses of
  // "Change password".
  app.setErrorHandler((error, request, reply) => {
    if (!(error instanceof SessionEnded)) throw error;
    return redirect(request, reply, site.path('/login'));
  });
  return { requireVisit, countForm, countEnding };
}

/** The visit of a request that `requireVisit` has let through. */
export function visitOf({ accountVisit }: FastifyRequest): AccountVisit {
  if (accountVisit === undefined) throw new Error('an account route was reached without its hook');
  return accountVisit;
}

/** What a route works with on behalf of the visitor: nothing is written unless the session is still valid. */
export const servicesIn = <S extends PageServices>(services: S, { session }: AccountVisit): S => ({
  ...services,
  database: sessionDatabase(services, session),
});

/** The context of every form token of the account: the session in which the page was shown. */
const accountFormContext = ({ session }: Pick<FormViewer, 'session'>): string => `account ${session.hash}`;

/** The token of every form of the account. */
export const accountFormToken = (browser: Browser, viewer: FormViewer): string =>
  browser.formToken(accountFormContext(viewer), viewer);

export const frameOf = (visit: AccountVisit): AccountFrame => ({
  account: visit.account,
  token: accountFormToken(visit.browser, visit),
  logoutToken: visit.browser.formToken(logoutContext(visit.account.id), visit),
  keptFor: (address) => keptField(visit.browser, visit, address),
});
