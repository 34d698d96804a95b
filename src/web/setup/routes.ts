import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { findOwner } from '../../access/operator-grant-store.ts';
import { completeSetup, problemOfSetupLink } from '../../account-actions/setup/setup.ts';
import { fieldProblem, NO_PROBLEMS, type Problems, unownedForm } from '../../pages/components.ts';
import { sendGone } from '../../pages/error-page.ts';
import { sendPage } from '../../pages/layout.ts';
import { formOf } from '../../platform/http/bodies.ts';
import { isFromThisMachine } from '../../platform/http/local-peer.ts';
import { queryOf } from '../../platform/http/parameters.ts';
import { redirect } from '../../platform/http/server.ts';
import { findVisitor } from '../../sessions/sessions.ts';
import type { SignUpValues } from '../sign-in/pages.ts';
import type { PageServices } from '../sign-in/routes.ts';
import { keepSession, signInBrowser, signInVisit, typedHere } from '../sign-in/sign-in.ts';
import { signUpProblems, typedInSignUp } from '../sign-in/sign-up.ts';
import { setupMessages as text } from './messages.ts';
import { deadLinkPage, farPage, ownedPage, setupDonePage, setupPage } from './pages.ts';

/** Why there is no form: asked for from elsewhere, a link that does not work, or an installation that has an owner. */
type SetupProblem = 'far' | 'dead' | 'owned';

/** What the form token is bound to. */
const CONTEXT = 'setup';
const NOTHING_TYPED: SignUpValues = { displayName: '', username: '', email: '' };

interface SetupServices extends PageServices {
  /** Whether the page answers to this machine alone: the operator has not said at which address people reach the server. */
  readonly localSetup: boolean;
  readonly playground: boolean;
}

/** The page on which the first owner makes their account: decisions §13. Opening it changes nothing. */
export function setupRoutes(app: FastifyInstance, services: SetupServices): void {
  const { site, browsers, localSetup } = services;

  /** Why the form is not shown. */
  const problemOf = async (request: FastifyRequest, link: string): Promise<SetupProblem | undefined> =>
    localSetup && !isFromThisMachine(request) ? 'far' : problemOfSetupLink(services, link);

  function sendProblem(reply: FastifyReply, problem: SetupProblem): FastifyReply {
    switch (problem) {
      case 'far':
        return sendPage(reply, 403, site, farPage());
      case 'dead':
        return sendGone(reply, site, text.dead, deadLinkPage(site));
      case 'owned':
        return sendGone(reply, site, text.owned, ownedPage(site));
    }
  }

  const show = (
    request: FastifyRequest,
    reply: FastifyReply,
    status: number,
    link: string,
    values: SignUpValues,
    problems: Problems,
  ): FastifyReply => {
    const token = browsers.of(request, reply).formToken(CONTEXT);
    return sendPage(reply, status, site, setupPage(site, { token, link, values, problems }));
  };

  app.get('/setup', async (request, reply) => {
    const link = queryOf(request).get('link') ?? '';
    const problem = await problemOf(request, link);
    if (problem !== undefined) return sendProblem(reply, problem);
    return show(request, reply, 200, link, NOTHING_TYPED, NO_PROBLEMS);
  });

  app.post('/setup', async (request, reply) => {
    browsers.rejectCrossSiteForm(request);
    const form = formOf(request);
    const link = form.get('link') ?? '';
    const problem = await problemOf(request, link);
    if (problem !== undefined) return sendProblem(reply, problem);
    const visit = signInVisit(services, request, reply);
    if (!visit.browser.owns(form, CONTEXT)) {
      return show(request, reply, 400, link, NOTHING_TYPED, unownedForm(site.messages, visit.request));
    }
    const { messages } = site;
    const { password, ...typed } = typedInSignUp(form);
    const values = typedHere(visit, typed, NOTHING_TYPED);
    const fields = await signUpProblems({ ...typed, password }, messages);
    if (Object.keys(fields).length > 0) return show(request, reply, 400, link, values, { fields, general: [] });
    if (await services.breaches.includes(password)) {
      return show(request, reply, 400, link, values, fieldProblem('password', messages.password.problems.breached));
    }
    const result = await completeSetup(services, link, { ...typed, password }, signInBrowser(services, visit));
    if (result.kind === 'taken') {
      const taken = result.field === 'email' ? messages.signUp.emailTaken : messages.signUp.usernameTaken;
      return show(request, reply, 409, link, values, fieldProblem(result.field, taken));
    }
    if (result.kind !== 'signed in') return sendProblem(reply, result.kind);
    await keepSession(services, visit, result);
    return redirect(request, reply, site.path('/setup/done'));
  });

  app.get('/setup/done', async (request, reply) => {
    const visitor = await findVisitor(services, browsers.of(request, reply).sessionSecret);
    const account = visitor.kind === 'signed in' ? visitor.account : undefined;
    const owner = account && (await services.database.read(() => findOwner({ accountId: account.id })));
    if (account === undefined || owner === undefined) return redirect(request, reply, site.path('/account'));
    const { playground } = services;
    return sendPage(reply, 200, site, setupDonePage(site, { username: account.profile.username, playground }));
  });
}
