import type { FastifyInstance, FastifyReply } from 'fastify';
import { authenticators } from '../../account-actions/authentication/authenticators.ts';
import { requestMail } from '../../account-actions/recovery/requests.ts';
import { signIn } from '../../account-actions/sign-in/sign-in.ts';
import { NO_PROBLEMS, type Problems, unownedForm } from '../../pages/components.ts';
import { sendPage } from '../../pages/layout.ts';
import { endOfStep } from '../../platform/event-loop.ts';
import { formOf } from '../../platform/http/bodies.ts';
import { redirect } from '../../platform/http/server.ts';
import { deviceIn } from '../../platform/validation/origin.ts';
import { trimTyped } from '../../platform/validation/typed-text.ts';
import { loadPendingRequest } from '../authorize/pending-request.ts';
import { askCodePage, typeCodePage } from './code-pages.ts';
import { mailHint } from './mail-hint.ts';
import { askedFor, keepNamed, readNamed, secondsLeft } from './named.ts';
import { requestQuery } from './pages.ts';
import type { PageServices } from './routes.ts';
import {
  continueSignIn,
  formTargets,
  isProof,
  type SignInVisit,
  showRefusal,
  signInBrowser,
  signInVisit,
} from './sign-in.ts';

const ASK = '/login/code';
const ENTER = '/login/code/enter';

/** Signing in with a code by mail instead of a password. Every answer to a name is the same. */
export function codeRoutes(app: FastifyInstance, services: PageServices): void {
  const { site, clock } = services;
  const { messages } = site;
  const preHandler = loadPendingRequest(services, { optional: true });

  async function show(visit: SignInVisit, address: typeof ASK | typeof ENTER, status: number, problems: Problems) {
    const { browser, reply } = visit;
    const form = { token: browser.formToken(address), app: visit.pending, problems };
    const named = readNamed(services, browser);
    if (address === ASK) {
      const page = askCodePage(site, { ...form, identifier: named?.identifier ?? '' });
      return sendPage(reply, status, site, page, formTargets(visit));
    }
    const resend =
      named === undefined || named.askedAt === null
        ? undefined
        : { token: browser.formToken(ASK), seconds: secondsLeft(named.askedAt, clock()) };
    const page = typeCodePage(site, { ...form, hint: await mailHint(services), resend });
    return sendPage(reply, status, site, page, formTargets(visit));
  }

  for (const address of [ASK, ENTER] as const) {
    app.get(address, { preHandler }, async (request, reply) =>
      show(signInVisit(services, request, reply), address, 200, NO_PROBLEMS),
    );
  }

  app.post(ASK, { preHandler }, async (request, reply) => {
    const visit = signInVisit(services, request, reply);
    const form = formOf(request);
    const identifier = askedFor(services, visit.browser, form);
    if (!visit.browser.owns(form, ASK)) return show(visit, ASK, 400, unownedForm(messages, visit.request));
    if (identifier === '') {
      return show(visit, ASK, 400, { fields: { identifier: messages.signIn.identifierMissing }, general: [] });
    }
    const { mark, origin } = signInBrowser(services, visit);
    const { hash: browserHash, knownHashes } = mark;
    const asked = {
      purpose: 'sign in',
      identifier,
      browserHash,
      knownHashes,
      request: undefined,
      origin,
      device: deviceIn(request),
    } as const;
    await requestMail(services, asked);
    keepNamed(services, visit.browser, reply, identifier, true);
    return redirect(request, reply, site.path(`${ENTER}${requestQuery(visit.pending)}`));
  });

  app.post(ENTER, { preHandler }, async (request, reply): Promise<FastifyReply> => {
    const began = performance.now();
    const visit = signInVisit(services, request, reply);
    const form = formOf(request);
    const code = trimTyped(form.get('sent_code'));
    if (!visit.browser.owns(form, ENTER)) return show(visit, ENTER, 400, unownedForm(messages, visit.request));
    const refuse = (status: number, problem: string) =>
      show(visit, ENTER, status, { fields: { sent_code: problem }, general: [] });
    if (code === '') return refuse(400, messages.recovery.codeMissing);
    const browser = signInBrowser(services, visit);
    const { mark, origin } = browser;
    const checked = await authenticators['mail code'](services, { code, browser: mark, origin }, clock());
    const result = await signIn(services, checked, browser);
    if (isProof(result)) return continueSignIn(services, visit, result);
    await endOfStep(began);
    if (result.kind !== 'wrong')
      return showRefusal(services, visit, result, readNamed(services, visit.browser)?.identifier ?? '');
    request.refusal = { code: 'access_denied', reason: 'wrong code', description: 'wrong code' };
    return refuse(401, messages.recovery.codeWrong(services.limits.codeAccount));
  });
}
