import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { areResources } from '../../clients/resources.ts';
import { type Client, findClient } from '../../clients/store.ts';
import type { Keys } from '../../keys/keys.ts';
import { formOf } from '../../platform/http/bodies.ts';
import type { Browser } from '../../platform/http/browser.ts';
import { toOAuthError } from '../../platform/http/errors.ts';
import { originOf } from '../../platform/http/origin.ts';
import type { RepeatableParameters } from '../../platform/http/parameters.ts';
import { isSnowflake } from '../../platform/ids/ids.ts';
import { OAuthError } from '../../platform/oauth-error.ts';
import { readIdTokenHint } from '../token/id-token-hint.ts';
import { audience } from '../token/rules/claims.ts';
import { continueRoutes } from './continue.ts';
import { begin, INTERACTION_LIFETIME, issueCode, progressOf, refusalRedirect } from './progress.ts';
import { authorizeByGetSchema, authorizeByPostSchema } from './route-schemas.ts';
import { checkRequest } from './rules/check-request.ts';
import { checkQueryOfPost, checkTarget, type RedirectTarget, requestedClient } from './rules/check-target.ts';
import { intersection } from './rules/claims-parameter.ts';
import type { AuthorizationRequest, RedirectedError } from './rules/request.ts';
import { checkSize, errorResponse } from './rules/request.ts';
import {
  type FlowParts,
  HANDLE,
  pageOf,
  redirect,
  refuse,
  respond,
  sendClientGone,
  sessionOf,
  showError,
} from './steps.ts';

const PATH = '/api/v2/oauth/authorize';

interface AuthorizationParts extends FlowParts {
  readonly keys: Keys;
}

/** The authorization endpoint: contract §4.1; by POST too (OpenID Connect Core 1.0 §3.1.2.1). */
export function authorizationRoutes(app: FastifyInstance, parts: AuthorizationParts): void {
  app.get(PATH, { schema: authorizeByGetSchema }, (request, reply) =>
    authorize(request, reply, request.query as RepeatableParameters),
  );
  app.post(PATH, { schema: authorizeByPostSchema }, async (request, reply) => {
    const error = checkQueryOfPost(request.query as RepeatableParameters);
    return error === undefined ? authorize(request, reply, formOf(request)) : showError(parts, request, reply, error);
  });
  continueRoutes(app, parts);

  async function authorize(
    request: FastifyRequest,
    reply: FastifyReply,
    parameters: RepeatableParameters,
  ): Promise<FastifyReply> {
    // 1. Who asks, and where the answer goes. Until both are certain nothing is redirected.
    const clientId = requestedClient(parameters);
    if (typeof clientId !== 'string') return showError(parts, request, reply, clientId);
    const client = isSnowflake(clientId) ? await parts.database.read(() => findClient({ id: clientId })) : undefined;
    const target = checkTarget(parameters, client, parts.local);
    if (target.kind === 'display') return showError(parts, request, reply, target);
    try {
      // 2. What is asked for.
      const checked = checkRequest(parameters, client as Client, target);
      if (checked.kind === 'redirect') return sendBack(parts, request, reply, target, checked);
      if (!(await knowsResources(parts, checked.request))) {
        return sendBack(parts, request, reply, target, UNKNOWN_RESOURCE);
      }
      const asked = await hinted(parts, checked.request, parameters.get('id_token_hint'));
      const tooLarge = checkSize(asked);
      if (tooLarge !== undefined) return sendBack(parts, request, reply, target, tooLarge);
      // 3. What comes next: a page, or the answer at once.
      return request.method === 'POST'
        ? await keep(parts, request, reply, asked)
        : await answer(parts, request, reply, asked);
    } catch (error) {
      return sendBack(parts, request, reply, target, asRedirectedError(error, request));
    }
  }
}

/** OpenID Connect Core 1.0 §3.1.2.1: a hint limits the answer to the person whom it names, and proves nothing else. */
async function hinted(
  parts: AuthorizationParts,
  asked: AuthorizationRequest,
  hint: string | undefined,
): Promise<AuthorizationRequest> {
  const named = hint === undefined ? undefined : await readIdTokenHint(parts, hint);
  if (named === undefined || named.clientId !== asked.clientId) return asked;
  const subjects = intersection(asked.subjects, [named.accountId]);
  return { ...asked, subjects, hinted: named.accountId };
}

/**
 * Keeps a request that came by POST and lets the browser ask for its next step: the cookies that tell who is signed in are not
 * sent with a POST of another site (SameSite=Lax), and are with the GET that follows it.
 */
async function keep(
  parts: FlowParts,
  request: FastifyRequest,
  reply: FastifyReply,
  asked: AuthorizationRequest,
): Promise<FastifyReply> {
  const browser = parts.browsers.forOne(reply);
  const handle = await beginOrAnswer(parts, request, reply, asked, browser);
  if (handle === undefined) return reply;
  return redirect(request, reply, parts.site.path(`/continue?${HANDLE}=${handle}`));
}

const UNKNOWN_RESOURCE: RedirectedError = {
  kind: 'redirect',
  error: 'invalid_target',
  description: 'resource is not one that is registered here',
};

/** RFC 8707 §2: a token is only ever made for a place that is known. */
async function knowsResources({ database, issuer }: FlowParts, { resources = [] }: AuthorizationRequest) {
  if (resources.length === 0) return true;
  return database.read(() => areResources(resources, { issuer, own: audience(issuer, 'access') }));
}

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
    if (progress.kind === 'client gone') return sendClientGone(parts, request, reply);
    const { step, signedIn } = progress;
    if (step.kind === 'refuse') {
      request.refusal = { code: step.refusal.error, reason: step.refusal.description };
      const response = await refusalRedirect(parts, asked, step.refusal, { signedIn, origin });
      return respond(parts, request, reply, response);
    }
    if (step.kind === 'issue') {
      const outcome = await issueCode(parts, { request: asked, session, origin });
      if (outcome.kind === 'answer') return respond(parts, request, reply, outcome.response);
      if (outcome.kind === 'refused') return refuse(parts, request, reply, asked, outcome.refusal);
      continue;
    }
    const handle = await beginOrAnswer(parts, request, reply, asked, browser);
    if (handle === undefined) return reply;
    return redirect(request, reply, parts.site.path(`${pageOf(step)}?${HANDLE}=${handle}`));
  }
  throw new OAuthError(503, 'temporarily_unavailable', 'The request could not be completed. Try again.');
}

const OVER_LIMIT = {
  'too many': 'too many sign-ins were begun from this address; try again in a minute',
  'too much': 'the sign-ins that wait for an answer at this address take too much room; try again later',
} as const;

/** Keeps a request for a browser; undefined where it cannot be kept, and the answer was sent. */
async function beginOrAnswer(
  parts: FlowParts,
  request: FastifyRequest,
  reply: FastifyReply,
  asked: AuthorizationRequest,
  browser: Pick<Browser, 'hash' | 'keepFor'>,
): Promise<string | undefined> {
  const begun = await begin(parts, asked, browser.hash, originOf(request));
  if (begun.kind === 'begun') {
    browser.keepFor(begun.handle, INTERACTION_LIFETIME);
    return begun.handle;
  }
  if (begun.kind === 'client gone') {
    sendClientGone(parts, request, reply);
    return undefined;
  }
  const description = OVER_LIMIT[begun.kind];
  const error = { error: 'temporarily_unavailable', description } as const;
  refuse(parts, request, reply, asked, error);
  return undefined;
}

function sendBack(
  parts: FlowParts,
  request: FastifyRequest,
  reply: FastifyReply,
  target: RedirectTarget,
  error: RedirectedError,
): FastifyReply {
  // Reasons are counted, so they are few: that of a fault has the request's id in it, and is in the log already.
  const reason = error.error === 'server_error' ? undefined : (error.reason ?? error.description);
  request.refusal = { code: error.error, reason };
  return respond(parts, request, reply, errorResponse(target, error, parts.issuer));
}

/** A fault after the target is certain goes to the client, as the contract's list of codes has it. */
function asRedirectedError(error: unknown, request: FastifyRequest): RedirectedError {
  const { status } = toOAuthError(error, request);
  const reason = request.refusal?.reason ?? 'try again in a moment';
  if (status !== 503 && error instanceof OAuthError) {
    request.log.error({ reqId: request.id, err: error }, 'an authorization request failed');
  }
  return status === 503
    ? { kind: 'redirect', error: 'temporarily_unavailable', description: 'try again in a moment', reason }
    : { kind: 'redirect', error: 'server_error', description: `correlation id ${request.id}` };
}
