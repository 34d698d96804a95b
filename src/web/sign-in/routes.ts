import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { createAccount, FieldTaken } from '../../accounts/accounts.ts';
import { isCommonPassword } from '../../accounts/common-passwords.ts';
import { PROFILE_FIELDS } from '../../accounts/fields.ts';
import { password } from '../../accounts/schema.ts';
import { type Account, findAccount } from '../../accounts/store.ts';
import type { AuthenticationServices } from '../../authenticators/authenticators.ts';
import { destinationOf } from '../../clients/rules/redirect-uri.ts';
import { take } from '../../limits/limits.ts';
import { digest } from '../../platform/crypto/secrets.ts';
import type { Work } from '../../platform/database/database.ts';
import { formOf } from '../../platform/http/bodies.ts';
import type { Browser } from '../../platform/http/browser.ts';
import { originOf } from '../../platform/http/origin.ts';
import type { Ids } from '../../platform/ids/ids.ts';
import { schemasOf } from '../../platform/validation/fields.ts';
import { addressBucket } from '../../platform/validation/ip-address.ts';
import { findProblem } from '../../platform/validation/validate.ts';
import type { PendingRequest } from '../../protocol/authorize/authorization.ts';
import { setSignedInSession } from '../../protocol/authorize/interaction-store.ts';
import {
  type AuthorizationPageServices,
  advance,
  continueContext,
  HANDLE,
  loadPendingRequest,
  readPending,
  redirect,
} from '../../protocol/authorize/pending-request.ts';
import { formActionSources } from '../../protocol/authorize/rules/request.ts';
import { endSession, findVisitor, SESSION_LIFETIME } from '../../sessions/sessions.ts';
import { type SignInResult, signIn } from '../../sessions/sign-in.ts';
import { formatMoment, generalProblem, NO_PROBLEMS, type Problems } from '../kit/components.ts';
import { sendPage } from '../kit/layout.ts';
import { type Present, type SignUpValues, signInPage, signUpPage, type Waiting } from './pages.ts';

export interface PageServices extends AuthorizationPageServices, AuthenticationServices {
  readonly ids: Ids;
}

/** What a form that signs out belongs to: the person whom it was shown to. */
export const logoutContext = (accountId: string): string => `logout ${accountId}`;

/** The pages that begin and end sessions. */
export function sessionRoutes(app: FastifyInstance, parts: PageServices): void {
  const { site, browsers } = parts;
  const { messages } = site;

  interface Visit {
    readonly request: FastifyRequest;
    readonly reply: FastifyReply;
    readonly browser: Browser;
    readonly pending: PendingRequest | undefined;
    readonly waiting: Waiting | undefined;
    /** The account that may continue without signing in again. */
    readonly present: Present | undefined;
  }

  const preHandler = loadPendingRequest(parts, { optional: true });

  /** The browser, and the pending request that needs the sign-in, if there is one. */
  function visit(request: FastifyRequest, reply: FastifyReply): Visit {
    const browser = browsers.of(request, reply);
    const pending = request.pendingRequest;
    if (pending === undefined) {
      return { request, reply, browser, pending: undefined, waiting: undefined, present: undefined };
    }
    const { client, handle } = pending;
    const waiting = { handle, client, host: destinationOf(pending.request.redirectUri) };
    return { request, reply, browser, pending, waiting, present: presentFor(pending, browser) };
  }

  const needsSignIn = ({ step }: PendingRequest): boolean => step.kind === 'login' || step.kind === 'choose';

  function presentFor({ handle, step, visitor }: PendingRequest, browser: Browser): Present | undefined {
    if (step.kind !== 'choose' || visitor.kind !== 'signed in') return undefined;
    const { id, profile } = visitor.account;
    const { displayName, username } = profile;
    return { displayName, username, token: browser.formToken(continueContext(handle, id)) };
  }

  /**
   * The initial value of the first field: the account that a verified ID token names, the client's `login_hint`, or the account
   * that has to authenticate again. It reveals an account only to those who know of it already.
   */
  async function expectedName({ request, step, visitor }: PendingRequest): Promise<string> {
    const { hinted, loginHint, subjects } = request;
    const named = hinted === null ? undefined : await parts.database.read(() => findAccount({ id: hinted }));
    if (named !== undefined) return named.profile.username;
    if (loginHint !== null) return loginHint;
    const again = step.kind === 'login' && visitor.kind === 'signed in' && subjects === null;
    return again ? visitor.account.profile.username : '';
  }

  const formTargets = ({ pending }: Visit): readonly string[] =>
    pending === undefined ? [] : formActionSources(pending.request.redirectUri);

  function showSignIn(at: Visit, status: number, problems: Problems, identifier: string): FastifyReply {
    const { browser, waiting, present, reply } = at;
    const page = signInPage(site, { token: browser.formToken('login'), waiting, problems, identifier, present });
    return sendPage(reply, status, site, page, formTargets(at));
  }

  function showSignUp(at: Visit, status: number, problems: Problems, values: SignUpValues): FastifyReply {
    const { browser, waiting, reply } = at;
    const page = signUpPage(site, { token: browser.formToken('signup'), waiting, problems, values });
    return sendPage(reply, status, site, page, formTargets(at));
  }

  function attempt(at: Visit, identifier: string, password: string): Promise<SignInResult> {
    const { browser, pending } = at;
    const whenSignedIn = function* (session: { hash: string }): Work<void> {
      if (pending !== undefined) yield* setSignedInSession({ hash: digest(pending.handle), session: session.hash });
    };
    const { sessionSecret: previousSecret, hash: browserHash } = browser;
    const origin = originOf(at.request);
    const userAgent = at.request.headers['user-agent'];
    return signIn(parts, { identifier, password, browserHash, userAgent, previousSecret, origin }, whenSignedIn);
  }

  /** After a sign-in the browser continues with the pending request, or goes to the account: never to an address from a request. */
  async function arrive(at: Visit, outcome: Extract<SignInResult, { kind: 'signed in' }>): Promise<FastifyReply> {
    const { request, reply, pending } = at;
    const { secret, session } = outcome.created;
    browsers.setSession(reply, secret, SESSION_LIFETIME);
    if (pending === undefined) return redirect(request, reply, site.path('/account'));
    return advance(parts, request, reply, await readPending(parts, request, reply, pending.handle, session.hash));
  }

  function barred(outcome: { kind: 'banned' | 'suspended'; account: Account }): string {
    if (outcome.kind === 'suspended') return messages.signIn.suspended;
    const until = outcome.account.bannedUntil;
    return until === null ? messages.signIn.banned : messages.signIn.bannedUntil(formatMoment(until));
  }

  function refuseSignIn(at: Visit, outcome: Exclude<SignInResult, { kind: 'signed in' }>, identifier: string) {
    if (outcome.kind === 'limited') {
      at.reply.header('retry-after', String(outcome.seconds));
      return showSignIn(at, 429, generalProblem(messages.signIn.limited(outcome.seconds)), identifier);
    }
    if (outcome.kind === 'wrong') return showSignIn(at, 401, generalProblem(messages.signIn.wrong), identifier);
    if (outcome.kind === 'changed') return showSignIn(at, 409, generalProblem(messages.signIn.changed), identifier);
    return showSignIn(at, 403, generalProblem(barred(outcome)), identifier);
  }

  app.get('/login', { preHandler }, async (request, reply) => {
    const at = visit(request, reply);
    if (at.pending === undefined) {
      const visitor = await findVisitor(parts, at.browser.sessionSecret);
      if (visitor.kind === 'signed in') return redirect(request, reply, site.path('/account'));
      return showSignIn(at, 200, NO_PROBLEMS, '');
    }
    if (!needsSignIn(at.pending)) return advance(parts, request, reply, at.pending);
    return showSignIn(at, 200, NO_PROBLEMS, await expectedName(at.pending));
  });

  app.post('/login', { preHandler }, async (request, reply) => {
    const form = formOf(request);
    const at = visit(request, reply);
    const identifier = (form.get('identifier') ?? '').trim();
    const password = form.get('password') ?? '';
    if (!at.browser.owns(form, 'login'))
      return showSignIn(at, 400, generalProblem(messages.account.formExpired), identifier);
    const fields = {
      ...(identifier === '' && { identifier: messages.signIn.identifierMissing }),
      ...(password === '' && { password: messages.signIn.passwordMissing }),
    };
    if (Object.keys(fields).length > 0) return showSignIn(at, 400, { fields, general: [] }, identifier);

    const outcome = await attempt(at, identifier, password);
    return outcome.kind === 'signed in' ? arrive(at, outcome) : refuseSignIn(at, outcome, identifier);
  });

  app.get('/signup', { preHandler }, async (request, reply) => {
    const at = visit(request, reply);
    if (at.pending !== undefined && !needsSignIn(at.pending)) return advance(parts, request, reply, at.pending);
    return showSignUp(at, 200, NO_PROBLEMS, { displayName: '', username: '', email: '' });
  });

  app.post('/signup', { preHandler }, async (request, reply) => {
    const form = formOf(request);
    const at = visit(request, reply);
    const values = {
      displayName: (form.get('displayName') ?? '').trim(),
      // Phones capitalise the first letter; the name that is registered is in lower case.
      username: (form.get('username') ?? '').trim().toLowerCase(),
      email: (form.get('email') ?? '').trim(),
    };
    const password = form.get('password') ?? '';
    if (!at.browser.owns(form, 'signup'))
      return showSignUp(at, 400, generalProblem(messages.account.formExpired), values);
    const fields = signUpProblems({ ...values, password });
    if (Object.keys(fields).length === 0 && (await isCommonPassword(password, [values.username, values.email]))) {
      fields['password'] = messages.signUp.passwordCommon;
    }
    if (Object.keys(fields).length > 0) return showSignUp(at, 400, { fields, general: [] }, values);

    const origin = originOf(request);
    const now = parts.clock();
    const bucket = `sign-up ${addressBucket(request.address)}`;
    const about = { name: 'signUpAddress', origin } as const;
    const wait = await parts.database.commit(() => take(bucket, parts.limits.signUpAddress, now, about));
    if (wait > 0) {
      reply.header('retry-after', String(wait));
      return showSignUp(at, 429, generalProblem(messages.signUp.limited(wait)), values);
    }
    let taken: FieldTaken | undefined;
    try {
      await createAccount(parts, { ...values, password }, origin);
    } catch (error) {
      if (!(error instanceof FieldTaken)) throw error;
      taken = error;
    }
    // A second submit of the same form finds the account that the first one made: whoever knows its password signs in.
    const outcome = await attempt(at, values.username, password);
    if (outcome.kind === 'signed in') return arrive(at, outcome);
    if (taken === undefined) return refuseSignIn(at, outcome, values.username);
    const { field } = taken;
    const text = field === 'email' ? messages.signUp.emailTaken : messages.signUp.usernameTaken;
    return showSignUp(at, 409, { fields: { [field]: text }, general: [] }, values);
  });

  function signUpProblems(values: SignUpValues & { password: string }): Record<string, string> {
    const text = {
      displayName: messages.signUp.displayNameBad,
      username: messages.signUp.usernameBad,
      email: messages.signUp.emailBad,
      password: messages.signUp.passwordBad,
    };
    const problems: Record<string, string> = {};
    for (const name of Object.keys(text) as (keyof typeof text)[]) {
      if (findProblem(SIGN_UP_SCHEMAS[name], values[name]) !== undefined) problems[name] = text[name];
    }
    return problems;
  }

  app.post('/logout', async (request, reply) => {
    browsers.refuseForeignForm(request);
    const form = formOf(request);
    const browser = browsers.of(request, reply);
    const handle = form.get(HANDLE);
    const next = site.path(handle === undefined ? '/login' : `/login?${HANDLE}=${encodeURIComponent(handle)}`);
    const signedIn = await findVisitor(parts, browser.sessionSecret);
    if (signedIn.kind === 'signed in') {
      // A form that another person left behind in this browser signs nobody out.
      if (!browser.owns(form, logoutContext(signedIn.account.id)))
        return redirect(request, reply, site.path('/account'));
      await endSession(
        parts,
        browser.sessionSecret ?? '',
        originOf(request, { type: 'user', id: signedIn.account.id }),
      );
    }
    browsers.clearSession(reply);
    reply.header('clear-site-data', '"cache", "storage"');
    return redirect(request, reply, next);
  });
}
const { username, displayName, email } = schemasOf(PROFILE_FIELDS, 'schema');
const SIGN_UP_SCHEMAS = { username, displayName, email, password } as const;
