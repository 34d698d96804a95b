import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { createAccount, FieldTaken } from '../../accounts/accounts.ts';
import { isCommonPassword } from '../../accounts/common-passwords.ts';
import { PROFILE_FIELDS } from '../../accounts/fields.ts';
import { password } from '../../accounts/schema.ts';
import { type Account, findAccount } from '../../accounts/store.ts';
import type { AuthenticationServices } from '../../authenticators/authenticators.ts';
import { destinationOf } from '../../clients/rules/redirect-uri.ts';
import { take } from '../../limits/limits.ts';
import type { Work } from '../../platform/database/database.ts';
import { formOf } from '../../platform/http/bodies.ts';
import type { Browser } from '../../platform/http/browser.ts';
import { originOf } from '../../platform/http/origin.ts';
import type { RepeatableParameters } from '../../platform/http/parameters.ts';
import type { Ids } from '../../platform/ids/ids.ts';
import { schemasOf } from '../../platform/validation/fields.ts';
import { addressBucket } from '../../platform/validation/ip-address.ts';
import { findProblem } from '../../platform/validation/validate.ts';
import { continueContext } from '../../protocol/authorize/continue.ts';
import { signInFor } from '../../protocol/authorize/interaction-store.ts';
import type { Progress } from '../../protocol/authorize/progress.ts';
import { formActionSources } from '../../protocol/authorize/rules/request.ts';
import {
  type FlowParts,
  follow,
  HANDLE,
  type Pending,
  pendingOrAnswer,
  progressFor,
  redirect,
  sendClientGone,
} from '../../protocol/authorize/steps.ts';
import { endSession, findVisitor, SESSION_LIFETIME } from '../../sessions/sessions.ts';
import { type SignInResult, signIn } from '../../sessions/sign-in.ts';
import { formatMoment, generalProblem, NO_PROBLEMS, type Problems } from '../kit/components.ts';
import { sendPage } from '../kit/layout.ts';
import { type Present, type SignUpValues, signInPage, signUpPage, type Waiting } from './pages.ts';

export interface PageServices extends FlowParts, AuthenticationServices {
  readonly ids: Ids;
}

type Standing = Extract<Progress, { kind: 'step' }>;

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
    readonly pending: Pending | undefined;
    readonly waiting: Waiting | undefined;
    /** Who may go on without signing in again. */
    readonly present: Present | undefined;
    /** Who is expected to sign in, as far as that is known. */
    readonly expected: string;
  }
  const nobody = { pending: undefined, waiting: undefined, present: undefined, expected: '' };

  /** The browser, and the request that waits for its sign-in; undefined where the answer was sent. */
  async function visit(
    request: FastifyRequest,
    reply: FastifyReply,
    handle: string | undefined,
  ): Promise<Visit | undefined> {
    const browser = browsers.of(request, reply);
    if (handle === undefined) return { request, reply, browser, ...nobody };
    const pending = await pendingOrAnswer(parts, request, reply, handle);
    if (pending === undefined) return undefined;
    const progress = await progressFor(parts, pending, browser);
    if (progress.kind === 'client gone') {
      sendClientGone(parts, request, reply);
      return undefined;
    }
    if (request.method === 'GET' && progress.step.kind !== 'login' && progress.step.kind !== 'choose') {
      await follow(parts, request, reply, pending, browser);
      return undefined;
    }
    const host = destinationOf(pending.interaction.request.redirectUri);
    const waiting = { handle, client: progress.client, host };
    const expected = await expectedName(pending, progress);
    return { request, reply, browser, pending, waiting, present: presentFor(progress, browser, handle), expected };
  }

  function presentFor({ step, signedIn }: Standing, browser: Browser, handle: string): Present | undefined {
    if (step.kind !== 'choose' || signedIn.kind !== 'signed in') return undefined;
    const { id, profile } = signedIn.account;
    const { displayName, username } = profile;
    return { displayName, username, token: browser.formToken(continueContext(handle, id)) };
  }

  /**
   * What is written into the first field: whom a verified ID token named, what the client wrote, or who is to prove again that
   * it is them. None of it says whether there is such an account but to those who know.
   */
  async function expectedName({ interaction }: Pending, { step, signedIn }: Standing): Promise<string> {
    const { hinted, loginHint, subjects } = interaction.request;
    const named = hinted === null ? undefined : await parts.database.read(() => findAccount({ id: hinted }));
    if (named !== undefined) return named.profile.username;
    if (loginHint !== null) return loginHint;
    const again = step.kind === 'login' && signedIn.kind === 'signed in' && subjects === null;
    return again ? signedIn.account.profile.username : '';
  }

  const formTargets = ({ pending }: Visit): readonly string[] =>
    pending === undefined ? [] : formActionSources(pending.interaction.request.redirectUri);

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
      if (pending !== undefined) yield* signInFor(pending.interaction.hash, session.hash);
    };
    const { sessionSecret: previousSecret, hash: browserHash } = browser;
    const origin = originOf(at.request);
    const userAgent = at.request.headers['user-agent'];
    return signIn(parts, { identifier, password, browserHash, userAgent, previousSecret, origin }, whenSignedIn);
  }

  /** After a sign-in the browser goes on with what waited, or to the account: never to an address from the request. */
  async function arrive(at: Visit, outcome: Extract<SignInResult, { kind: 'signed in' }>): Promise<FastifyReply> {
    const { request, reply, pending } = at;
    const { secret, session } = outcome.created;
    browsers.setSession(reply, secret, SESSION_LIFETIME);
    if (pending === undefined) return redirect(request, reply, site.path('/account'));
    const interaction = { ...pending.interaction, signedInSession: session.hash };
    return follow(parts, request, reply, { ...pending, interaction }, { sessionSecret: secret });
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

  app.get('/login', async (request, reply) => {
    const at = await visit(request, reply, (request.query as RepeatableParameters).get(HANDLE));
    if (at === undefined) return reply;
    if (at.pending === undefined && (await findVisitor(parts, at.browser.sessionSecret)).kind === 'signed in') {
      return redirect(request, reply, site.path('/account'));
    }
    return showSignIn(at, 200, NO_PROBLEMS, at.expected);
  });

  app.post('/login', async (request, reply) => {
    browsers.refuseForeignForm(request);
    const form = formOf(request);
    const at = await visit(request, reply, form.get(HANDLE));
    if (at === undefined) return reply;
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

  app.get('/signup', async (request, reply) => {
    const at = await visit(request, reply, (request.query as RepeatableParameters).get(HANDLE));
    if (at === undefined) return reply;
    return showSignUp(at, 200, NO_PROBLEMS, { displayName: '', username: '', email: '' });
  });

  app.post('/signup', async (request, reply) => {
    browsers.refuseForeignForm(request);
    const form = formOf(request);
    const at = await visit(request, reply, form.get(HANDLE));
    if (at === undefined) return reply;
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
