import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { AuthenticationRefusal } from '../../account-actions/authentication/authenticators.ts';
import { authenticators } from '../../account-actions/authentication/authenticators.ts';
import {
  PENDING_SIGN_IN_LIFETIME,
  type SignedIn,
  type SignInBrowser,
  type SignInResult,
  signIn,
} from '../../account-actions/sign-in/sign-in.ts';
import { isOpen } from '../../accounts/rules/joining.ts';
import { findAccount } from '../../accounts/store.ts';
import type { Client } from '../../clients/store.ts';
import { generalProblem, isolate, NO_PROBLEMS, type Problems, unownedForm } from '../../pages/components.ts';
import type { HtmlPart } from '../../pages/html.ts';
import { sendPage } from '../../pages/layout.ts';
import { digest } from '../../platform/crypto/secrets.ts';
import { endOfStep } from '../../platform/event-loop.ts';
import { formOf } from '../../platform/http/bodies.ts';
import { queryOf } from '../../platform/http/parameters.ts';
import { redirect } from '../../platform/http/server.ts';
import { originOf } from '../../platform/validation/origin.ts';
import { trimTyped } from '../../platform/validation/typed-text.ts';
import type { PendingRequest } from '../../protocol/authorize/authorization.ts';
import { formActionSources } from '../../protocol/authorize/rules/request.ts';
import { findVisitor, SESSION_LIFETIME } from '../../sessions/sessions.ts';
import { advance, continueContext, loadPendingRequest, readPending } from '../authorize/pending-request.ts';
import { HANDLE, requestFields } from '../authorize/request-fields.ts';
import { sendExpired } from '../authorize/unknown-request.ts';
import type { Browser } from '../browser/browser.ts';
import { readDraft } from './draft.ts';
import { askedUpstream, homeOf, offeredHome } from './home.ts';
import { keepNamed } from './named.ts';
import { type ContinueAs, requestQuery, signInPage } from './pages.ts';
import { refusalText, SIGN_IN_REFUSALS } from './refusal-texts.ts';
import type { PageServices } from './routes.ts';
import { finishClaims } from './upstream-claims.ts';

/** The sign-in page. */
export function signInRoutes(app: FastifyInstance, services: PageServices): void {
  const { site } = services;
  const { messages } = site;
  const preHandler = loadPendingRequest(services, { optional: true });

  app.get('/login', { preHandler }, async (request, reply) => {
    const visit = signInVisit(services, request, reply);
    const { browser, pending } = visit;
    if (pending !== undefined) {
      if (!needsSignIn(pending)) return advance(services, request, reply, pending);
      const upstream = queryOf(request).has(OTHER_WAY) ? undefined : await askedUpstream(services, pending);
      if (upstream !== undefined)
        return redirect(request, reply, site.path(`/login/with/${upstream}${requestQuery(pending)}`));
      return showSignIn(services, visit, 200, NO_PROBLEMS, await expectedName(services, pending));
    }
    const visitor = await findVisitor(services, browser.sessionSecret);
    const isAgain = readDraft(services, browser)?.isAgain === true;
    if (visitor.kind === 'signed in' && !isAgain) return redirect(request, reply, site.path('/account'));
    return showSignIn(services, visit, 200, NO_PROBLEMS, '');
  });

  // The password that was typed into a page that was left open is of use when the request has expired.
  const outlives = loadPendingRequest(services, { optional: true, outlivesRequest: true });
  app.post('/login', { preHandler: outlives }, async (request, reply) => {
    const began = performance.now();
    const visit = signInVisit(services, request, reply);
    const form = formOf(request);
    const identifier = trimTyped(form.get('identifier'));
    const password = form.get('password') ?? '';
    if (!visit.browser.owns(form, 'login')) {
      return showSignIn(services, visit, 400, unownedForm(messages, visit.request), '');
    }
    const typed = typedHere(visit, identifier, '');
    const fields = {
      ...(identifier === '' && { identifier: messages.signIn.identifierMissing }),
      ...(password === '' &&
        (await homeOf(services, identifier)) === undefined && {
          password: messages.signIn.passwordMissing,
        }),
    };
    if (Object.keys(fields).length > 0) {
      return showSignIn(services, visit, 400, { fields, general: [] }, typed);
    }
    // Nobody has an empty password: the page leads to the provider.
    if (password === '') return showSignIn(services, visit, 200, NO_PROBLEMS, typed);
    const result = await attemptSignIn(services, visit, identifier, password);
    if (isProof(result)) {
      // The second step may come back to this page.
      if (result.kind === 'second factor') keepNamed(services, visit.browser, reply, typed, false);
      return request.expiredFor === undefined
        ? continueSignIn(services, visit, result)
        : continueWithoutRequest(services, visit, result, request.expiredFor);
    }
    // An account that exists takes a little longer, with what is read and recorded of it.
    await endOfStep(began);
    keepNamed(services, visit.browser, reply, typed, false);
    return showRefusal(services, visit, result, typed);
  });
}

/** The query parameter with which the sign-in page is shown although an app asks for another provider. */
export const OTHER_WAY = 'other';

/** A browser at the sign-in or sign-up page. */
export interface SignInVisit {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly browser: Browser;
  /** The authorization request that needs the sign-in, if there is one. */
  readonly pending: PendingRequest | undefined;
  /** Whether the invitation that the browser keeps was accepted with this sign-in. */
  readonly hasAccepted?: boolean;
}

export const signInVisit = ({ browsers }: PageServices, request: FastifyRequest, reply: FastifyReply): SignInVisit => ({
  request,
  reply,
  browser: browsers.of(request, reply),
  pending: request.pendingRequest,
});

/** Also where a session must be raised: its person may sign in as another one instead. */
export const needsSignIn = ({ step }: PendingRequest): boolean =>
  step.kind === 'login' || step.kind === 'choose' || step.kind === 'second factor' || step.kind === 'enroll';

/** What was typed into a form, to be shown again; what is shown instead where somebody has signed in or out since the form was shown. */
export const typedHere = <T>({ request, browser }: SignInVisit, typed: T, instead: T): T =>
  browser.audienceOf(formOf(request)).isThisSession ? typed : instead;

/** The CSP sources to which the forms of a visit lead in the end. */
export const formTargets = ({ pending }: SignInVisit): readonly string[] =>
  pending === undefined ? [] : formActionSources(pending.request.redirectUri);

/** The hidden fields of a sign-in page whose request has expired, so that the next attempt knows the app, too. */
const expiredFields = ({ request }: SignInVisit): Readonly<Record<string, string>> =>
  request.expiredFor === undefined
    ? {}
    : requestFields({ handle: formOf(request).get(HANDLE) ?? '', client: request.expiredFor });

/** What interrupted a person who was signed in. */
function interruption(services: PageServices, { browser, pending }: SignInVisit): HtmlPart {
  const { signIn: texts } = services.site.messages;
  if (pending?.step.kind === 'login' && pending.visitor.kind === 'signed in') {
    return texts.again(isolate(pending.client.name));
  }
  const draft = pending === undefined ? readDraft(services, browser) : undefined;
  if (draft === undefined) return undefined;
  if (draft.isAgain === true) return texts.ended.again;
  if (draft.fields !== undefined) return texts.ended.typed;
  if (draft.isForm) return texts.ended.form;
  return draft.wasSignedIn ? texts.ended.page : texts.ended.never;
}

/** Shows the sign-in page. */
export async function showSignIn(
  services: PageServices,
  visit: SignInVisit,
  status: number,
  problems: Problems,
  identifier: string,
): Promise<FastifyReply> {
  const { site, relyingParty, signUp, signInCode } = services;
  const upstreams = await services.upstreams.shown();
  const token = visit.browser.formToken('login');
  const notice = interruption(services, visit);
  const continueAs = continueAsOf(visit);
  const passkeys = relyingParty !== undefined;
  const offersSignUp = isOpen(signUp);
  const { pending: app } = visit;
  const home = await offeredHome(services, identifier, app);
  const expired = expiredFields(visit);
  const page = signInPage(site, {
    ...{
      token,
      app,
      problems,
      identifier,
      notice,
      expired,
      continueAs,
      passkeys,
      signInCode,
      offersSignUp,
      upstreams,
      home,
    },
  });
  return sendPage(visit.reply, status, site, page, formTargets(visit));
}

function continueAsOf({ browser, pending }: SignInVisit): ContinueAs | undefined {
  if (pending?.step.kind !== 'choose' || pending.visitor.kind !== 'signed in') return undefined;
  const { id, profile } = pending.visitor.account;
  const token = browser.formToken(continueContext(pending.handle, id), pending.visitor);
  return { displayName: profile.displayName, username: profile.username, token };
}

/**
 * The initial value of the first field: the account that a verified ID token names, the client's `login_hint`, or the account
 * that has to authenticate again. It reveals an account only to those who know of it already.
 */
async function expectedName({ database }: PageServices, { request, step, visitor }: PendingRequest): Promise<string> {
  const { hinted, loginHint, subjects } = request;
  const named = hinted === null ? undefined : await database.read(() => findAccount({ id: hinted }));
  if (named !== undefined) return named.profile.username;
  if (loginHint !== null) return loginHint;
  const again = step.kind === 'login' && visitor.kind === 'signed in' && subjects === null;
  return again ? visitor.account.profile.username : '';
}

export async function attemptSignIn(
  services: PageServices,
  visit: SignInVisit,
  identifier: string,
  password: string,
): Promise<SignInResult> {
  const browser = signInBrowser(services, visit);
  const attempt = { identifier, password, browser: browser.mark, origin: browser.origin };
  const checked = await authenticators.password(services, attempt, services.clock());
  return signIn(services, checked, browser);
}

/** What a sign-in records of the browser. */
export const signInBrowser = (
  { trustedBrowsers }: Pick<PageServices, 'trustedBrowsers'>,
  { request, browser, pending }: SignInVisit,
): SignInBrowser => ({
  mark: browser,
  userAgent: request.headers['user-agent'],
  previousSecret: browser.sessionSecret,
  trustedSecret: trustedBrowsers === null ? undefined : browser.trustedSecret,
  interactionHash: pending === undefined ? null : digest(pending.handle),
  origin: originOf(request),
});

type Proof = Extract<SignInResult, { kind: 'signed in' | 'second factor' | 'deletion pending' }>;

/** Whether what was proved was right. */
export const isProof = (result: SignInResult): result is Proof =>
  result.kind === 'signed in' || result.kind === 'second factor' || result.kind === 'deletion pending';

/** After the first factor the browser continues to the second, or as {@link continueSignedIn} says. */
export async function continueSignIn(services: PageServices, visit: SignInVisit, result: Proof): Promise<FastifyReply> {
  if (result.kind === 'signed in') return continueSignedIn(services, visit, result);
  const { request, reply, pending } = visit;
  services.browsers.setSignIn(reply, result.secret, PENDING_SIGN_IN_LIFETIME);
  const query = pending === undefined ? '' : `?${HANDLE}=${encodeURIComponent(pending.handle)}`;
  return redirect(
    request,
    reply,
    services.site.path(`/login/${result.kind === 'second factor' ? 'verify' : 'come-back'}${query}`),
  );
}

/** Gives the browser its session. */
export async function keepSession(
  services: PageServices,
  { request, reply, browser, pending }: SignInVisit,
  { created, said }: Pick<SignedIn, 'created' | 'said'>,
): Promise<void> {
  services.browsers.setSession(reply, created, SESSION_LIFETIME);
  if (browser.signInSecret !== undefined) services.browsers.setSignIn(reply, undefined, 0);
  services.traces.completed.push({
    at: services.clock(),
    requestId: request.id,
    step: 'sign-in',
    clientId: pending?.request.clientId,
    accountId: created.session.accountId,
    flow: pending && digest(pending.handle),
    facts: { method: request.method, path: request.routeOptions.url, description: 'The user signed in.' },
  });
  if (said !== undefined) await finishClaims(services, { request, pending }, said);
}

/**
 * After a sign-in the browser continues with the pending request or the invitation that it wants to accept, or goes to the account: never
 * to an address from a request.
 */
async function continueSignedIn(services: PageServices, visit: SignInVisit, signedIn: SignedIn): Promise<FastifyReply> {
  const { request, reply, browser, pending } = visit;
  const { created } = signedIn;
  await keepSession(services, visit, signedIn);
  const { invitationSecret } = browser;
  if (pending === undefined && invitationSecret !== undefined && visit.hasAccepted !== true) {
    services.browsers.setInvitation(reply, undefined);
    return redirect(request, reply, services.site.path(`/invitation?link=${invitationSecret}`));
  }
  if (pending === undefined) {
    const draft = readDraft(services, browser);
    const isTheirs = draft?.accountId === undefined || draft.accountId === created.session.accountId;
    // What was typed waits for its page. There is nothing else to keep.
    if (draft !== undefined && draft.fields === undefined) services.browsers.setNote(reply, 'draft', undefined, 0);
    return redirect(request, reply, services.site.path(isTheirs ? (draft?.page ?? '/account') : '/account'));
  }
  const found = await readPending(services, request, reply, pending.handle, created.session.hash);
  return advance(services, request, reply, found);
}

/**
 * After a sign-in whose request has expired meanwhile: the person is signed in, and is told to start again at the app. With a second factor
 * to come nobody is signed in, and the app asks for both when it starts again.
 */
async function continueWithoutRequest(
  services: PageServices,
  visit: SignInVisit,
  result: Proof,
  client: Client,
): Promise<FastifyReply> {
  if (result.kind === 'deletion pending') return continueSignIn(services, visit, result);
  const { request, reply } = visit;
  const expired = { client, cause: 'expired' } as const;
  if (result.kind === 'second factor') return sendExpired(request, reply, services.site, expired);
  await keepSession(services, visit, result);
  return sendExpired(request, reply, services.site, { ...expired, account: result.account });
}

/** Shows the sign-in page with a refusal. */
export function showRefusal(
  services: PageServices,
  visit: SignInVisit,
  refusal: AuthenticationRefusal,
  identifier: string,
): Promise<FastifyReply> {
  if (refusal.kind === 'limited') visit.reply.header('retry-after', String(refusal.seconds));
  const { status, text } = refusalText(refusal, services);
  visit.request.refusal = SIGN_IN_REFUSALS[refusal.kind];
  return showSignIn(services, visit, status, generalProblem(text), identifier);
}
