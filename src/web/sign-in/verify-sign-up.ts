import type { FastifyInstance, FastifyReply } from 'fastify';
import {
  completeSignUp,
  pendingSignUp,
  resendSignUp,
  type SignUpFields,
} from '../../account-actions/invitations/sign-up.ts';
import { findChallenge, findChallengeOfBrowser } from '../../mail/challenges.ts';
import { generalProblem, NO_PROBLEMS, type Problems, unownedForm } from '../../pages/components.ts';
import { duration } from '../../pages/error-messages.ts';
import { sendPage } from '../../pages/layout.ts';
import { formOf } from '../../platform/http/bodies.ts';
import { queryOf } from '../../platform/http/parameters.ts';
import { keepOpener, redirect } from '../../platform/http/server.ts';
import { originOf } from '../../platform/validation/origin.ts';
import { trimTyped } from '../../platform/validation/typed-text.ts';
import { findVisitor } from '../../sessions/sessions.ts';
import { advance, loadPendingRequest, readPending } from '../authorize/pending-request.ts';
import { sendDeadInvitation } from './invitation-pages.ts';
import { mailHint } from './mail-hint.ts';
import { secondsLeft } from './named.ts';
import { requestQuery } from './pages.ts';
import type { PageServices } from './routes.ts';
import { saveSaid } from './said.ts';
import { continueSignIn, formTargets, needsSignIn, type SignInVisit, signInBrowser, signInVisit } from './sign-in.ts';
import { signUpTexts as text } from './sign-up-messages.ts';
import { signUpDeadLinkPage, signUpElsewherePage, signUpLinkPage, verifySignUpPage } from './sign-up-pages.ts';

const FORM = 'verify sign-up';

/**
 * The page where a person proves the address of a sign-up, by the code or by the link of the message. Opening the link changes
 * nothing, because programs that scan mail open it, too.
 */
export function verifySignUpRoutes(
  app: FastifyInstance,
  services: PageServices,
  showSignUp: (
    visit: SignInVisit,
    status: number,
    problems: Problems,
    values: SignUpFields,
    invitation: string | null,
  ) => Promise<FastifyReply>,
): void {
  const { site, sealer, database, clock } = services;
  const preHandler = loadPendingRequest(services, { optional: true });

  async function show(visit: SignInVisit, status: number, problems: Problems): Promise<FastifyReply> {
    const now = clock();
    const found = await database.read(() => findChallengeOfBrowser(sealer, visit.browser.hash, 'sign up', now));
    const page = verifySignUpPage(site, {
      token: visit.browser.formToken(FORM),
      app: visit.pending,
      problems,
      address: found && pendingSignUp(found).email,
      hint: await mailHint(services),
      seconds: found === undefined ? undefined : secondsLeft(found.createdAt, now),
    });
    return sendPage(visit.reply, status, site, page, formTargets(visit));
  }

  async function showLink(visit: SignInVisit, link: string): Promise<FastifyReply> {
    const { request, reply, browser } = visit;
    const now = clock();
    const found = await database.read(() => findChallenge(sealer, link, 'sign up', now));
    if (found === undefined) return sendPage(reply, 404, site, signUpDeadLinkPage(site));
    if (found.browserHash !== browser.hash) return sendPage(reply, 200, site, signUpElsewherePage(site));
    const { email, handle } = pendingSignUp(found);
    const waiting = handle === null ? undefined : await readPending(services, request, reply, handle);
    const pending = waiting?.kind === 'current' ? waiting : undefined;
    if (pending !== undefined) keepOpener(reply);
    const token = browser.formToken(FORM);
    const page = signUpLinkPage(site, { token, link, address: email, handle: pending?.handle });
    return sendPage(reply, 200, site, page, formTargets({ ...visit, pending }));
  }

  app.get('/signup/verify', { preHandler }, async (request, reply) => {
    const visit = signInVisit(services, request, reply);
    const link = queryOf(request).get('link');
    if (link !== undefined) return showLink(visit, link);
    if (visit.pending !== undefined && !needsSignIn(visit.pending)) {
      return advance(services, request, reply, visit.pending);
    }
    return show(visit, 200, NO_PROBLEMS);
  });

  app.post('/signup/verify', { preHandler }, async (request, reply) => {
    const visit = signInVisit(services, request, reply);
    const form = formOf(request);
    if (!visit.browser.owns(form, FORM)) return show(visit, 400, unownedForm(site.messages, visit.request));
    if (form.get('action') === 'resend') {
      await resendSignUp(services, visit.browser.hash, originOf(request));
      return redirect(request, reply, site.path(`/signup/verify${requestQuery(visit.pending)}`));
    }
    const link = form.get('link');
    const code = trimTyped(form.get('code'));
    if (link === undefined && code === '') {
      return show(visit, 400, { fields: { code: text.codeMissing }, general: [] });
    }
    const proof = link === undefined ? { code } : { link };
    const result = await completeSignUp(services, proof, signInBrowser(services, visit));
    switch (result.kind) {
      case 'signed in':
        // A person who joined with another provider is connected there.
        services.browsers.setNote(reply, 'upstream', undefined, 0);
        saveSaid(services.browsers, visit.reply, 'created');
        return continueSignIn(services, visit, result);
      case 'limited':
        reply.header('retry-after', String(result.seconds));
        return show(visit, 429, generalProblem(text.limited(duration(result.seconds))));
      case 'username taken': {
        const problems = { fields: { username: text.usernameTaken }, general: [] };
        return showSignUp(visit, 409, problems, result.fields, result.invitation);
      }
      case 'invitation refused':
        return sendDeadInvitation(request, reply, site);
      case 'begin again':
        return redirect(request, reply, site.path(`/login${requestQuery(visit.pending)}`));
      case 'address taken':
        return show(visit, 409, generalProblem(text.addressTaken));
      case 'wrong': {
        // The same form again, or another tab: the first one created the account.
        const visitor = await findVisitor(services, visit.browser.sessionSecret);
        if (visitor.kind === 'signed in' && visit.pending === undefined) {
          return redirect(request, reply, site.path('/account'));
        }
        if (link !== undefined) return sendPage(reply, 404, site, signUpDeadLinkPage(site));
        return show(visit, 400, { fields: { code: text.codeWrong }, general: [] });
      }
    }
  });
}
