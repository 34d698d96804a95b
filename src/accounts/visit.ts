import type { FastifyReply, FastifyRequest } from 'fastify';
import { redirect } from '../authorization/steps.ts';
import type { Origin } from '../events/audit.ts';
import { formOf } from '../http/bodies.ts';
import type { Browser } from '../http/browser.ts';
import { originOf } from '../http/origin.ts';
import type { RepeatableParameters } from '../http/parameters.ts';
import { logoutContext, type SessionParts } from '../sessions/routes.ts';
import { whoIs } from '../sessions/sessions.ts';
import type { Session } from '../sessions/store.ts';
import type { Frame } from './frame.ts';
import type { Account } from './store.ts';

/** Somebody who is signed in, at a page of their account. */
export interface Visit {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly browser: Browser;
  readonly account: Account;
  readonly session: Session;
}

/** A form of the account, and whether it came from our own page, for the person who is signed in. */
export interface Submitted {
  readonly at: Visit;
  readonly form: RepeatableParameters;
  readonly fits: boolean;
}

/** What every form of the account belongs to: the session that its page was shown in. */
export const contextOf = ({ session }: Pick<Visit, 'session'>): string => `account ${session.hash}`;

export const originAt = ({ request, account }: Visit): Origin => originOf(request, { type: 'user', id: account.id });

export const frameOf = (at: Visit): Frame => ({
  account: at.account,
  token: at.browser.formToken(contextOf(at)),
  logoutToken: at.browser.formToken(logoutContext(at.account.id)),
});

/** How the pages of the account begin: with who is signed in, by the verdict of now. */
export function visits(parts: SessionParts) {
  const { site, browsers } = parts;

  /** The person behind a request; undefined where the browser was sent to sign in. */
  async function visit(request: FastifyRequest, reply: FastifyReply): Promise<Visit | undefined> {
    const browser = browsers.of(request, reply);
    const signedIn = await whoIs(parts, browser.sessionSecret);
    if (signedIn.kind === 'somebody') return { request, reply, browser, ...signedIn };
    browsers.clearSession(reply);
    redirect(request, reply, site.path('/login'));
    return undefined;
  }

  /** A form of the account; undefined where the answer was sent. */
  async function submitted(request: FastifyRequest, reply: FastifyReply): Promise<Submitted | undefined> {
    browsers.refuseForeignForm(request);
    const at = await visit(request, reply);
    if (at === undefined) return undefined;
    const form = formOf(request);
    return { at, form, fits: at.browser.owns(form, contextOf(at)) };
  }

  return { visit, submitted };
}
