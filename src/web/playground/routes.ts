import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { formOf } from '../../platform/http/bodies.ts';
import type { Browser, Browsers } from '../../platform/http/browser.ts';
import { originOf } from '../../platform/http/origin.ts';
import type { RepeatableParameters } from '../../platform/http/parameters.ts';
import { invalidRequest } from '../../platform/oauth-error.ts';
import { redirect } from '../../protocol/authorize/steps.ts';
import { findVisitor, type Visitor } from '../../sessions/sessions.ts';
import { accountFormContext } from '../account/visit.ts';
import { generalProblem, NO_PROBLEMS, type Problems } from '../kit/components.ts';
import { sendErrorPage } from '../kit/error-page.ts';
import { type Site, sendPage } from '../kit/layout.ts';
import { perform } from './acts.ts';
import { introPage, visitPage } from './pages.ts';
import { type Callback, isAnswerTo, nextAction, type PlaygroundVisit, reached } from './rules/progress.ts';
import { CALLBACK } from './rules/requests.ts';
import { beginVisit, inTurn, type OpenVisit, openVisit, type VisitParts } from './visits.ts';
import type { Wire } from './wire.ts';

export interface PlaygroundParts extends VisitParts {
  readonly browsers: Browsers;
  readonly site: Site;
  readonly wire: Wire;
}

/** What the playground's forms belong to. */
const CONTEXT = 'playground';

/** Walks a developer through the flow against this very server, with an app made for the visit. */
export function playgroundRoutes(app: FastifyInstance, parts: PlaygroundParts): void {
  const { site, browsers, issuer } = parts;
  const { messages } = site;
  const text = messages.playground;

  interface At {
    readonly request: FastifyRequest;
    readonly reply: FastifyReply;
    readonly browser: Browser;
    readonly signedIn: Visitor;
    /** The visit of this browser, whoever is signed in. */
    readonly found: OpenVisit | undefined;
    /** The same, where the person who is signed in may see it. */
    readonly open: OpenVisit | undefined;
  }

  async function visit(request: FastifyRequest, reply: FastifyReply): Promise<At> {
    const browser = browsers.of(request, reply);
    const [found, signedIn] = await Promise.all([
      openVisit(parts, browser.hash),
      findVisitor(parts, browser.sessionSecret),
    ]);
    const open = found !== undefined && maySee(found.visit, signedIn) ? found : undefined;
    return { request, reply, browser, signedIn, found, open };
  }

  function show({ reply, browser, signedIn, found, open, request }: At, status: number, problems: Problems) {
    const theme = signedIn.kind === 'signed in' ? signedIn.account.profile.theme : null;
    const standing = { token: browser.formToken(CONTEXT), problems, theme };
    if (open === undefined)
      return sendPage(reply, status, site, introPage(site, { ...standing, others: found !== undefined }));
    const steps = reached(open.visit);
    const asked = (request.query as RepeatableParameters).get('step');
    const step = steps.find((name) => name === asked) ?? steps.at(-1) ?? 'authorize';
    return sendPage(reply, status, site, visitPage(site, { ...standing, ...open, step, baseUrl: issuer }));
  }

  app.get('/playground', async (request, reply) => show(await visit(request, reply), 200, NO_PROBLEMS));

  app.post('/playground', async (request, reply) => {
    browsers.refuseForeignForm(request);
    const at = await visit(request, reply);
    const form = formOf(request);
    if (!at.browser.owns(form, CONTEXT)) return show(at, 400, generalProblem(text.formExpired));
    const { open, signedIn, browser } = at;
    const act = form.get('act');
    if (act === 'begin') {
      const wait = await beginVisit(parts, browser.hash, originOf(request));
      if (wait === 0) return redirect(request, reply, site.path('/playground'));
      reply.header('retry-after', String(wait));
      return show(at, 429, generalProblem(text.limited(wait)));
    }
    // A button of an older page, pressed once more, shows where the visit stands now.
    const action = open === undefined ? null : nextAction(open.visit);
    if (open !== undefined && action !== null && action === act && form.get('turn') === String(open.turn)) {
      const accountToken = signedIn.kind === 'signed in' ? browser.formToken(accountFormContext(signedIn)) : '';
      const means = { wire: parts.wire, issuer, cookies: request.headers.cookie ?? '', accountToken };
      await inTurn(parts, open, () => perform(open.visit, action, means));
    }
    return redirect(request, reply, site.path('/playground'));
  });

  app.get(CALLBACK, async (request, reply) => {
    // Whoever is signed in now may be somebody else than before: the answer decides whose visit it is from here on.
    const { signedIn, found } = await visit(request, reply);
    const query = request.query as RepeatableParameters;
    const [state, iss] = [query.get('state') ?? '', query.get('iss') ?? ''];
    if (found === undefined || query.repeated.size > 0 || !isAnswerTo(found.visit, { state, iss }, issuer)) {
      const { title, text: what } = text.wrongAnswer;
      const refusal = invalidRequest('state or iss is not the one of a visit in this browser.');
      return sendErrorPage(request, reply, site, refusal, { title, text: what, onward: 'playground' });
    }
    if (found.visit.tokens === null) {
      const callback = callbackOf(request, query);
      const accountId = signedIn.kind === 'signed in' ? signedIn.account.id : null;
      await inTurn(parts, found, async () => ({ ...found.visit, callback, accountId }));
    }
    // The code leaves the address, and with it the history.
    return redirect(request, reply, site.path('/playground'));
  });
}

/** From the answer on, a visit holds what is one person's: it shows as their account does, and to nobody else. */
function maySee({ callback, accountId }: PlaygroundVisit, signedIn: Visitor): boolean {
  return callback === null || (signedIn.kind === 'signed in' && signedIn.account.id === accountId);
}

function callbackOf({ raw, headers }: FastifyRequest, query: RepeatableParameters): Callback {
  return {
    request: `${raw.method} ${raw.url} HTTP/${raw.httpVersion}\r\nHost: ${headers.host}\r\n`,
    iss: query.get('iss') ?? '',
    code: query.get('code') ?? null,
    error: query.get('error') ?? null,
    description: query.get('error_description') ?? null,
  };
}
