import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { noPasskeysHere } from '../../account-actions/authentication/passkey.ts';
import {
  completeRecovery,
  continueWithCode,
  type FoundRecovery,
  findRecovery,
  type RecoveryResult,
  type RecoveryServices,
} from '../../account-actions/recovery/complete.ts';
import { requestRecoveryPasskey } from '../../account-actions/recovery/passkey.ts';
import { requestMail } from '../../account-actions/recovery/requests.ts';
import { password as passwordSchema } from '../../accounts/schema.ts';
import {
  fieldProblem,
  formatMoment,
  generalProblem,
  NO_PROBLEMS,
  operator,
  type Problems,
  unownedForm,
} from '../../pages/components.ts';
import { sendGone } from '../../pages/error-page.ts';
import { type Page, type Site, sendPage } from '../../pages/layout.ts';
import { PASSKEY_FIELD, passkeyProblemText } from '../../pages/passkey.ts';
import { digest } from '../../platform/crypto/secrets.ts';
import type { Work } from '../../platform/database/database.ts';
import { endOfStep } from '../../platform/event-loop.ts';
import { formOf } from '../../platform/http/bodies.ts';
import { queryOf } from '../../platform/http/parameters.ts';
import { redirect } from '../../platform/http/server.ts';
import { deviceIn, originOf } from '../../platform/validation/origin.ts';
import { trimTyped } from '../../platform/validation/typed-text.ts';
import { findProblem } from '../../platform/validation/validate.ts';
import { findVisitor, SESSION_LIFETIME } from '../../sessions/sessions.ts';
import { listIdentities } from '../../upstreams/identity-store.ts';
import { HANDLE } from '../authorize/request-fields.ts';
import type { Browser } from '../browser/browser.ts';
import { mailHint } from '../sign-in/mail-hint.ts';
import { askedFor, keepNamed, readNamed, secondsLeft } from '../sign-in/named.ts';
import { showNewCodes } from '../sign-in/new-codes.ts';
import type { PageServices } from '../sign-in/routes.ts';
import { saveSaid } from '../sign-in/said.ts';
import {
  askPage,
  codePage,
  donePage,
  gonePage,
  noMailPage,
  passkeyDonePage,
  passkeyPage,
  passwordPage,
  type ShownRecovery,
} from './pages.ts';

const ASK = 'recover';
const CODE = 'recover code';
/** The context of a link's form. */
const linkContext = (link: string): string => `recover ${digest(link)}`;

/** A handle as it comes from a query or form; the sign-in page checks whose it is. */
const handleIn = (parameters: ReturnType<typeof queryOf>): string | undefined => {
  const handle = parameters.get(HANDLE);
  return handle === undefined || handle.length > 200 ? undefined : handle;
};
const queryFor = (request: string | undefined): string =>
  request === undefined ? '' : `?${HANDLE}=${encodeURIComponent(request)}`;

/** The pages of people who cannot sign in. */
export function recoveryRoutes(app: FastifyInstance, services: PageServices & RecoveryServices): void {
  askRoutes(app, services);
  linkRoutes(app, services);
}

/** Asking for a message, and typing its code. */
function askRoutes(app: FastifyInstance, services: PageServices & RecoveryServices): void {
  const { site, browsers, mail } = services;
  const text = site.messages.recovery;

  async function showCode(
    reply: FastifyReply,
    status: number,
    browser: Browser,
    handle: string | undefined,
    problems: Problems,
  ): Promise<FastifyReply> {
    const named = readNamed(services, browser);
    const resend =
      named === undefined || named.askedAt === null
        ? undefined
        : {
            token: browser.formToken(ASK),
            seconds: secondsLeft(named.askedAt, services.clock()),
          };
    const form = { token: browser.formToken(CODE), problems, request: handle, hint: await mailHint(services), resend };
    return sendPage(reply, status, site, codePage(site, form));
  }

  app.get('/recover', async (request, reply) => {
    const handle = handleIn(queryOf(request));
    if (!mail.available) return sendPage(reply, 200, site, noMailPage(site, handle));
    const browser = browsers.of(request, reply);
    const visitor = await findVisitor(services, browser.sessionSecret);
    const typed = readNamed(services, browser)?.identifier ?? '';
    const identifier = visitor.kind === 'signed in' ? visitor.account.profile.username : typed;
    const form = { token: browser.formToken(ASK), problems: NO_PROBLEMS, request: handle, identifier };
    return sendPage(reply, 200, site, askPage(site, form));
  });

  app.post('/recover', async (request, reply) => {
    browsers.rejectCrossSiteForm(request);
    const form = formOf(request);
    const handle = handleIn(form);
    if (!mail.available) return redirect(request, reply, site.path(`/recover${queryFor(handle)}`));
    const browser = browsers.of(request, reply);
    const identifier = askedFor(services, browser, form);
    const refuse = (problems: Problems): FastifyReply =>
      sendPage(
        reply,
        400,
        site,
        askPage(site, { token: browser.formToken(ASK), problems, request: handle, identifier: '' }),
      );
    if (!browser.owns(form, ASK)) return refuse(unownedForm(site.messages, request));
    if (identifier === '') return refuse({ fields: { identifier: text.identifierMissing }, general: [] });
    const origin = originOf(request);
    const { hash: browserHash, knownHashes } = browser;
    const asked = {
      purpose: 'recover',
      identifier,
      browserHash,
      knownHashes,
      request: handle,
      origin,
      device: deviceIn(request),
    } as const;
    await requestMail(services, asked);
    keepNamed(services, browser, reply, identifier, true);
    return redirect(request, reply, site.path(`/recover/code${queryFor(handle)}`));
  });

  app.get('/recover/code', async (request, reply) => {
    return showCode(reply, 200, browsers.of(request, reply), handleIn(queryOf(request)), NO_PROBLEMS);
  });

  app.post('/recover/code', async (request, reply) => {
    const began = performance.now();
    browsers.rejectCrossSiteForm(request);
    const form = formOf(request);
    const browser = browsers.of(request, reply);
    const code = trimTyped(form.get('sent_code'));
    const refuse = (problems: Problems) => showCode(reply, 400, browser, handleIn(form), problems);
    if (!browser.owns(form, CODE)) return refuse(unownedForm(site.messages, request));
    if (code === '') return refuse({ fields: { sent_code: text.codeMissing }, general: [] });
    const attempt = { browser, code, origin: originOf(request) };
    const link = await continueWithCode(services, attempt);
    await endOfStep(began);
    if (link === undefined)
      return refuse({ fields: { sent_code: text.codeWrong(services.limits.codeAccount) }, general: [] });
    return redirect(request, reply, site.path(`/recover/link?token=${link}`));
  });
}

/** The page of a link, which anyone may open without effect, and its form. */
function linkRoutes(app: FastifyInstance, services: LinkServices): void {
  const { site, browsers, database, clock } = services;
  const { messages } = site;
  const find = (link: string) =>
    database.read(function* read(): Work<ShownRecovery | undefined> {
      const found = yield* findRecovery(services, link, clock());
      if (found === undefined) return undefined;
      const identities = yield* listIdentities({ accountId: found.account.id });
      return { ...found, hasProviders: identities.length > 0 };
    });
  const gone = (reply: FastifyReply): FastifyReply => sendGone(reply, site, messages.recovery.gone, gonePage(site));

  app.get('/recover/link', async (request, reply) => {
    const query = queryOf(request);
    const link = query.get('token') ?? '';
    const found = await find(link);
    if (found === undefined) return gone(reply);
    const withPasskey = query.get('with') === 'passkey';
    const page = formPage(site, browsers.of(request, reply), link, found, withPasskey, NO_PROBLEMS);
    return sendPage(reply, 200, site, page);
  });

  app.get('/recover/passkey', async (request, reply) => {
    const link = queryOf(request).get('token') ?? '';
    const found = await find(link);
    if (found === undefined || !found.offersPasskey) return gone(reply);
    const { hash } = browsers.of(request, reply);
    const options = await requestRecoveryPasskey(services, link, found.account, hash, messages.product);
    if (options === undefined) throw noPasskeysHere();
    return reply.header('cache-control', 'no-store').send(options);
  });

  app.post('/recover/link', async (request, reply) => {
    browsers.rejectCrossSiteForm(request);
    const form = formOf(request);
    const browser = browsers.of(request, reply);
    const link = form.get('token') ?? '';
    const found = await find(link);
    if (found === undefined) return gone(reply);
    const passkey = form.get(PASSKEY_FIELD);
    const show = (status: number, problems: Problems): FastifyReply =>
      sendPage(reply, status, site, formPage(site, browser, link, found, passkey !== undefined, problems));
    if (found.isImpossible) return show(403, NO_PROBLEMS);
    if (!browser.owns(form, linkContext(link))) return show(400, unownedForm(messages, request));
    const replacement = passkey === undefined ? { password: form.get('password') ?? '' } : { passkey };
    const code = trimTyped(form.get('factor'));
    const fields = fieldProblems(site, found, replacement, code);
    if (Object.keys(fields).length > 0) return show(400, { fields, general: [] });
    const signInBrowser = {
      mark: browser,
      userAgent: request.headers['user-agent'],
      previousSecret: browser.sessionSecret,
      trustedSecret: undefined,
      interactionHash: null,
      origin: originOf(request),
    };
    const attempt = { token: link, replacement, code, browser: signInBrowser };
    const result = await completeRecovery(services, attempt);
    if (result.kind === 'gone' || result.kind === 'changed') return gone(reply);
    if (result.kind === 'recovered') {
      const how = { withPasskey: passkey !== undefined, hadProviders: found.hasProviders };
      return sendRecovered(services, request, reply, result, how);
    }
    if (result.kind === 'limited') reply.header('retry-after', String(result.seconds));
    const { status, problems } = refusalOf(site, result);
    return show(status, problems);
  });
}

type LinkServices = PageServices & RecoveryServices;

function formPage(
  site: Site,
  browser: Browser,
  link: string,
  found: ShownRecovery,
  withPasskey: boolean,
  problems: Problems,
): Page {
  const form = { token: browser.formToken(linkContext(link)), link, problems };
  return withPasskey && found.offersPasskey && !found.isImpossible
    ? passkeyPage(site, found, form)
    : passwordPage(site, found, form);
}

/** Signs the person in, where a second factor was proved or is not needed, and continues with what they were at. */
function sendRecovered(
  services: LinkServices,
  request: FastifyRequest,
  reply: FastifyReply,
  { account, created, codes, request: interrupted }: Extract<RecoveryResult, { kind: 'recovered' }>,
  { withPasskey, hadProviders }: { readonly withPasskey: boolean; readonly hadProviders: boolean },
): FastifyReply {
  const { site, browsers } = services;
  const isSignedIn = created !== undefined;
  if (isSignedIn) browsers.setSession(reply, created, SESSION_LIFETIME);
  const signedIn = interrupted === undefined ? '/account' : `/login${queryFor(interrupted)}`;
  const next = isSignedIn ? signedIn : '/login';
  if (codes !== undefined) {
    const done = withPasskey ? 'recovered' : 'password set';
    return showNewCodes(services, request, reply, { account, codes, done, hadProviders, isSignedIn, next });
  }
  if (withPasskey) return sendPage(reply, 200, site, passkeyDonePage(site, isSignedIn, next, hadProviders));
  if (!isSignedIn) return sendPage(reply, 200, site, donePage(site, hadProviders));
  saveSaid(browsers, reply, hadProviders ? 'disconnected' : 'recovered');
  return redirect(request, reply, site.path(next));
}

function fieldProblems(
  { messages }: Site,
  { asks }: FoundRecovery,
  replacement: { readonly password: string } | { readonly passkey: string },
  code: string,
): Record<string, string> {
  const isBad = 'password' in replacement && findProblem(passwordSchema, replacement.password) !== undefined;
  return {
    ...(asks.length > 0 && code === '' && { factor: messages.recovery.factorMissing }),
    ...(isBad && { password: messages.signUp.passwordBad }),
  };
}

function refusalOf(
  site: Site,
  result: Exclude<RecoveryResult, { kind: 'recovered' | 'gone' | 'changed' }>,
): { status: number; problems: Problems } {
  const { recovery, signIn, password } = site.messages;
  switch (result.kind) {
    case 'weak':
      return { status: 400, problems: fieldProblem('password', password.problems[result.problem]) };
    case 'wrong':
    // A passkey is created here, and none is asked for.
    case 'unknown passkey':
      return { status: 400, problems: fieldProblem('factor', recovery.factorWrong) };
    case 'wrong passkey':
      return { status: 400, problems: generalProblem(passkeyProblemText(site, result.problem)) };
    case 'limited':
      return { status: 429, problems: generalProblem(recovery.limited(result.seconds)) };
    case 'suspended':
      return { status: 403, problems: generalProblem(signIn.suspended(operator(site))) };
    case 'banned': {
      const until = result.account.bannedUntil;
      const banned =
        until === null ? signIn.banned(operator(site)) : signIn.bannedUntil(formatMoment(until), operator(site));
      return { status: 403, problems: generalProblem(banned) };
    }
  }
}
