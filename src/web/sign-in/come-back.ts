import type { FastifyInstance, FastifyReply } from 'fastify';
import { canComeBack, comeBack, readPendingSignIn, type WaitingSignIn } from '../../account-actions/sign-in/sign-in.ts';
import {
  generalProblem,
  hidden,
  isolate,
  moment,
  NO_PROBLEMS,
  type Problems,
  problemSummary,
} from '../../pages/components.ts';
import { html } from '../../pages/html.ts';
import { sendPage } from '../../pages/layout.ts';
import { formOf } from '../../platform/http/bodies.ts';
import { redirect } from '../../platform/http/server.ts';
import { loadPendingRequest } from '../authorize/pending-request.ts';
import { HANDLE, requestFields } from '../authorize/request-fields.ts';
import type { PageServices } from './routes.ts';
import { saveSaid } from './said.ts';
import { continueSignIn, formTargets, type SignInVisit, signInBrowser, signInVisit } from './sign-in.ts';

/** The only page that a person gets whose account waits for its deletion. */
export function comeBackRoutes(app: FastifyInstance, services: PageServices): void {
  const { site, browsers, database, clock } = services;
  const { messages, path } = site;
  const preHandler = loadPendingRequest(services, { optional: true });

  async function readWaiting(visit: SignInVisit): Promise<WaitingSignIn | undefined> {
    const { signInSecret } = visit.browser;
    const browser = signInBrowser(services, visit);
    const waiting = await database.read(() => readPendingSignIn(signInSecret, browser, clock()));
    return waiting !== undefined && canComeBack(waiting) ? waiting : undefined;
  }

  function signInAgain({ request, reply, pending }: SignInVisit): FastifyReply {
    browsers.setSignIn(reply, undefined, 0);
    const query = pending === undefined ? '' : `?${HANDLE}=${encodeURIComponent(pending.handle)}`;
    return redirect(request, reply, path(`/login${query}`));
  }

  const contextOf = ({ pending }: WaitingSignIn): string => `come back ${pending.hash}`;

  function show(visit: SignInVisit, waiting: WaitingSignIn, status: number, problems: Problems): FastifyReply {
    const { comeBack: text } = messages.data;
    const { profile, deletionDueAt } = waiting.account;
    const body = html`<section class="card"><header><h1>${text.title}</h1><p>${text.text(isolate(profile.username), moment(deletionDueAt ?? 0))}</p></header>
${problemSummary(messages, problems)}
<p class="muted small">${text.lead}</p>
<form method="post" action="${path('/login/come-back')}">${hidden(visit.browser.formToken(contextOf(waiting)), requestFields(visit.pending))}
<div class="actions"><button class="primary" type="submit">${text.keep}</button><a class="button" href="${path('/')}">${text.leave}</a></div></form></section>`;
    return sendPage(
      visit.reply,
      status,
      site,
      { title: text.title, layout: 'narrow', problems, body },
      formTargets(visit),
    );
  }

  app.get('/login/come-back', { preHandler }, async (request, reply) => {
    const visit = signInVisit(services, request, reply);
    const waiting = await readWaiting(visit);
    return waiting === undefined ? signInAgain(visit) : show(visit, waiting, 200, NO_PROBLEMS);
  });

  app.post('/login/come-back', { preHandler }, async (request, reply) => {
    const visit = signInVisit(services, request, reply);
    const waiting = await readWaiting(visit);
    if (waiting === undefined) return signInAgain(visit);
    if (!visit.browser.owns(formOf(request), contextOf(waiting))) {
      const username = isolate(waiting.account.profile.username);
      return show(visit, waiting, 400, generalProblem(messages.unusedForm.otherSignIn(username)));
    }
    const result = await comeBack(services, visit.browser.signInSecret, signInBrowser(services, visit));
    if (result.kind !== 'signed in') return signInAgain(visit);
    saveSaid(browsers, reply, 'kept');
    return continueSignIn(services, visit, result);
  });
}
