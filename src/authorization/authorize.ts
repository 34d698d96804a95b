import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type Client, findClient } from '../clients/store.ts';
import { sendError, toOAuthError } from '../http/errors.ts';
import { originOf } from '../http/origin.ts';
import type { RepeatableParameters } from '../http/parameters.ts';
import { isSnowflake } from '../identifiers/snowflake.ts';
import { OAuthError } from '../oauth-error.ts';
import { sendErrorPage, wantsHtml } from '../pages/error-page.ts';
import { begin, INTERACTION_LIFETIME, issueCode, progressOf, refusalLocation } from './progress.ts';
import { errorRedirect } from './rules/redirect.ts';
import {
  type AuthorizationRequest,
  checkRequest,
  checkTarget,
  type DisplayedError,
  type RedirectedError,
  type RedirectTarget,
  requestedClient,
} from './rules/request.ts';
import { type FlowParts, HANDLE, redirect, sessionOf } from './steps.ts';

/** The authorization endpoint: contract §4.1. */
export function authorizationRoutes(app: FastifyInstance, parts: FlowParts): void {
  app.get('/api/v2/oauth/authorize', async (request, reply) => {
    const parameters = request.query as RepeatableParameters;
    // 1. Who asks, and where the answer goes. Until both are certain nothing is redirected.
    const clientId = requestedClient(parameters);
    if (typeof clientId !== 'string') return showError(parts, request, reply, clientId);
    const client = isSnowflake(clientId) ? await parts.database.read(() => findClient(clientId)) : undefined;
    const target = checkTarget(parameters, client);
    if (target.kind === 'display') return showError(parts, request, reply, target);
    try {
      // 2. What is asked for.
      const checked = checkRequest(parameters, client as Client, target);
      if (checked.kind === 'redirect') return sendBack(parts, request, reply, target, checked);
      // 3. What comes next: a page, or the answer at once.
      return await answer(parts, request, reply, checked.request);
    } catch (error) {
      return sendBack(parts, request, reply, target, asRedirectedError(error, request));
    }
  });
}

/** It was registered a moment ago, so nothing is redirected to it any more. */
const CLIENT_GONE: DisplayedError = {
  kind: 'display',
  problem: 'client',
  description: 'The client is no longer registered and active.',
};

async function answer(
  parts: FlowParts,
  request: FastifyRequest,
  reply: FastifyReply,
  asked: AuthorizationRequest,
): Promise<FastifyReply> {
  const browser = parts.browsers.of(request, reply);
  const session = sessionOf(browser, undefined);
  const origin = originOf(request);
  for (let attempt = 0; attempt < 5; attempt++) {
    const progress = await parts.database.read(() => progressOf(asked, session, parts.clock()));
    if (progress.kind === 'client gone') return showError(parts, request, reply, CLIENT_GONE);
    const { step, signedIn } = progress;
    if (step.kind === 'refuse') {
      request.refusal = { code: step.refusal.error };
      const location = await refusalLocation(parts, asked, step.refusal, { signedIn, origin });
      return redirect(request, reply, location);
    }
    if (step.kind === 'issue') {
      const outcome = await issueCode(parts, { request: asked, session, origin });
      if (outcome.kind === 'redirect') return redirect(request, reply, outcome.location);
      continue;
    }
    const begun = await begin(parts, asked, browser.hash, origin);
    if (begun.kind === 'client gone') return showError(parts, request, reply, CLIENT_GONE);
    if (begun.kind === 'too many') {
      const description = 'too many sign-ins were begun from this address; try again in a minute';
      const error = { error: 'temporarily_unavailable', description } as const;
      request.refusal = { code: error.error };
      return redirect(request, reply, errorRedirect(asked, error, parts.issuer));
    }
    const { handle } = begun;
    browser.keepFor(handle, INTERACTION_LIFETIME);
    const page = step.kind === 'login' ? '/login' : '/consent';
    return redirect(request, reply, parts.site.path(`${page}?${HANDLE}=${handle}`));
  }
  throw new OAuthError(503, 'temporarily_unavailable', 'The request could not be completed. Try again.');
}

function sendBack(
  parts: FlowParts,
  request: FastifyRequest,
  reply: FastifyReply,
  target: RedirectTarget,
  error: RedirectedError,
): FastifyReply {
  request.refusal = { code: error.error };
  return redirect(request, reply, errorRedirect(target, error, parts.issuer));
}

/** A fault after the target is certain goes to the client, as the contract's list of codes has it. */
function asRedirectedError(error: unknown, request: FastifyRequest): RedirectedError {
  const away = error instanceof OAuthError ? error.status === 503 : (error as Error)?.name === 'StoreUnavailable';
  request.log.error({ err: error }, 'an authorization request failed');
  return away
    ? { kind: 'redirect', error: 'temporarily_unavailable', description: 'try again in a moment' }
    : { kind: 'redirect', error: 'server_error', description: `correlation id ${request.id}` };
}

function showError(
  { site }: FlowParts,
  request: FastifyRequest,
  reply: FastifyReply,
  error: DisplayedError,
): FastifyReply {
  const { messages } = site;
  const refusal = toOAuthError(new OAuthError(400, 'invalid_request', error.description), request);
  if (!wantsHtml(request)) {
    sendError(request, reply, refusal);
    return reply;
  }
  return sendErrorPage(reply, 400, site, {
    title: messages.error.clientTitle,
    text: messages.error.clientText,
    technical: { code: 'invalid_request', description: error.description, correlationId: request.id },
  });
}
