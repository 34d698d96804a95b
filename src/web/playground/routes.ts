import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ENDPOINT_SETS } from '../../claims/endpoint-set.ts';
import { generalProblem, NO_PROBLEMS, type Problems } from '../../pages/components.ts';
import { sendErrorPage } from '../../pages/error-page.ts';
import { type Site, sendPage } from '../../pages/layout.ts';
import { formOf } from '../../platform/http/bodies.ts';
import { queryOf, type RepeatableParameters } from '../../platform/http/parameters.ts';
import { redirect } from '../../platform/http/server.ts';
import { invalidRequest } from '../../platform/oauth-error.ts';
import { originOf } from '../../platform/validation/origin.ts';
import { findVisitor, type Visitor } from '../../sessions/sessions.ts';
import { accountFormToken } from '../account/visit.ts';
import type { Browser, Browsers } from '../browser/browser.ts';
import type { SendRequest } from './exchange.ts';
import { introPage, stepPage } from './pages.ts';
import {
  isResponseTo,
  nextAction,
  type PlaygroundCallback,
  type PlaygroundSession,
  reachedSteps,
  tokensIn,
} from './rules/progress.ts';
import { CALLBACK } from './rules/requests.ts';
import {
  findOpenSession,
  type OpenPlaygroundSession,
  type PlaygroundContext,
  performAction,
  runOnce,
  startPlaygroundSession,
} from './session.ts';
import { verifiesIdToken } from './verify-id-token.ts';

interface PlaygroundRoutesContext extends PlaygroundContext {
  readonly browsers: Browsers;
  readonly site: Site;
  readonly sendRequest: SendRequest;
}

/** What the form tokens of the playground are bound to. */
const FORM_CONTEXT = 'playground';

/** Pages that take a developer through the flow, with an app that is registered for the session. */
export function playgroundRoutes(app: FastifyInstance, context: PlaygroundRoutesContext): void {
  const { site, browsers, issuer } = context;
  const text = site.messages.playground;

  interface PlaygroundRequest {
    readonly browser: Browser;
    readonly signedIn: Visitor;
    /** The session of this browser. */
    readonly found: OpenPlaygroundSession | undefined;
    /** The same, if the account that is signed in may see it. */
    readonly open: OpenPlaygroundSession | undefined;
  }

  async function readRequest(request: FastifyRequest, reply: FastifyReply): Promise<PlaygroundRequest> {
    const browser = browsers.of(request, reply);
    const [found, signedIn] = await Promise.all([
      findOpenSession(context, browser.hash),
      findVisitor(context, browser.sessionSecret),
    ]);
    const open = found !== undefined && maySee(found.session, signedIn) ? found : undefined;
    return { browser, signedIn, found, open };
  }

  async function sendCurrentPage(
    request: FastifyRequest,
    reply: FastifyReply,
    { browser, signedIn, found, open }: PlaygroundRequest,
    status = 200,
    problems: Problems = NO_PROBLEMS,
  ) {
    const viewer = signedIn.kind === 'signed in' ? signedIn : undefined;
    const theme = viewer?.account.profile.theme ?? null;
    const page = { token: browser.formToken(FORM_CONTEXT, viewer), problems, theme };
    if (open === undefined) {
      return sendPage(reply, status, site, introPage(site, { ...page, otherAccount: found !== undefined }));
    }
    const steps = reachedSteps(open.session);
    const requested = queryOf(request).get('step');
    const step = steps.find((name) => name === requested) ?? steps.at(-1) ?? 'authorize';
    const shown = step === 'tokens' || step === 'refresh' ? tokensIn(open.session[step]) : undefined;
    const verified = shown !== undefined && (await verifiesIdToken(open.session, shown.id_token));
    return sendPage(reply, status, site, stepPage(site, { ...page, ...open, step, verified, baseUrl: issuer }));
  }

  app.get('/playground', async (request, reply) => sendCurrentPage(request, reply, await readRequest(request, reply)));

  app.post('/playground', async (request, reply) => {
    browsers.rejectCrossSiteForm(request);
    const current = await readRequest(request, reply);
    const form = formOf(request);
    const { open, signedIn, browser } = current;
    if (!browser.owns(form, FORM_CONTEXT)) {
      return sendCurrentPage(request, reply, current, 400, generalProblem(text.formExpired));
    }
    if (form.get('action') === 'start') {
      const endpoints = ENDPOINT_SETS.find((set) => set === form.get('endpoints'));
      if (endpoints === undefined) return sendCurrentPage(request, reply, current, 400, generalProblem(text.choose));
      const wait = await startPlaygroundSession(context, browser.hash, endpoints, originOf(request));
      if (wait === 0) return redirect(request, reply, site.path('/playground'));
      reply.header('retry-after', String(wait));
      return sendCurrentPage(request, reply, current, 429, generalProblem(text.limited(wait)));
    }
    // The button of an outdated page does nothing: the redirect shows the current step.
    const action = open === undefined ? null : nextAction(open.session);
    if (
      open !== undefined &&
      action !== null &&
      action === form.get('action') &&
      form.get('turn') === String(open.turn)
    ) {
      const accountToken = signedIn.kind === 'signed in' ? accountFormToken(browser, signedIn) : '';
      const cookies = request.headers.cookie ?? '';
      const actionContext = { send: context.sendRequest, issuer, cookies, accountToken };
      await runOnce(context, open, () => performAction(open.session, action, actionContext));
    }
    return redirect(request, reply, site.path('/playground'));
  });

  app.get(CALLBACK, async (request, reply) => {
    // The account may have changed since the request. The response decides whose session it is, so `open` is not asked for.
    const { signedIn, found } = await readRequest(request, reply);
    const query = queryOf(request);
    const [state, iss] = [query.get('state') ?? '', query.get('iss') ?? ''];
    if (found === undefined || query.repeated.size > 0 || !isResponseTo(found.session, { state, iss }, issuer)) {
      const refusal = invalidRequest('state or iss does not match a playground session in this browser.');
      return sendErrorPage(request, reply, site, refusal, {
        ...text.wrongResponse,
        onward: 'playground',
      });
    }
    if (found.session.tokens === null) {
      const callback = callbackOf(request, query);
      const accountId = signedIn.kind === 'signed in' ? signedIn.account.id : null;
      await runOnce(context, found, async () => ({ ...found.session, callback, accountId }));
    }
    // The redirect removes the code from the address bar and the history.
    return redirect(request, reply, site.path('/playground'));
  });
}

/** Once the authorization response has arrived, a session contains personal data: only the account's own browser session shows it. */
function maySee({ callback, accountId }: PlaygroundSession, signedIn: Visitor): boolean {
  return callback === null || (signedIn.kind === 'signed in' && signedIn.account.id === accountId);
}

function callbackOf({ raw, headers }: FastifyRequest, query: RepeatableParameters): PlaygroundCallback {
  return {
    request: `${raw.method} ${raw.url} HTTP/${raw.httpVersion}\r\nHost: ${headers.host}\r\n`,
    iss: query.get('iss') ?? '',
    code: query.get('code') ?? null,
    error: query.get('error') ?? null,
    description: query.get('error_description') ?? null,
  };
}
