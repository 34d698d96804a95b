import type { FastifyReply, FastifyRequest } from 'fastify';
import { adviceLine } from '../../clients/rules/unregistered-uri.ts';
import { digest } from '../../platform/crypto/secrets.ts';
import type { Browser, Browsers } from '../../platform/http/browser.ts';
import { originOf } from '../../platform/http/origin.ts';
import { OAuthError } from '../../platform/oauth-error.ts';
import { adviceFacts, sendErrorPage } from '../../web/kit/error-page.ts';
import type { Site } from '../../web/kit/layout.ts';
import { sendFormPost } from './form-post-page.ts';
import type { Interaction } from './interaction-store.ts';
import {
  type AuthorizationParts,
  finishedResponse,
  issueCode,
  type PresentSession,
  type Progress,
  progressOf,
  refusalRedirect,
  resume,
} from './progress.ts';
import type { DisplayedError } from './rules/check-target.ts';
import type { AuthorizationRequest, RedirectedError } from './rules/request.ts';
import { type ClientResponse, errorResponse, locationOf } from './rules/request.ts';

/** What the pages of a sign-in work with. */
export interface FlowParts extends AuthorizationParts {
  readonly browsers: Browsers;
  readonly site: Site;
  /** Whether the service runs on a developer's own machine: its base URL is a loopback address. */
  readonly local: boolean;
}

/** The name of the field and parameter that carries the handle of a pending request. */
export const HANDLE = 'request';

/** RFC 9700 §4.12: 303 in answer to a POST, so that no browser sends the form on. */
const redirectStatus = (request: FastifyRequest): 302 | 303 => (request.method === 'POST' ? 303 : 302);

export function redirect(request: FastifyRequest, reply: FastifyReply, location: string): FastifyReply {
  return reply.header('cache-control', 'no-store').redirect(location, redirectStatus(request));
}

/** Sends the browser to the client with an answer. */
export function respond(
  { site }: Pick<FlowParts, 'site'>,
  request: FastifyRequest,
  reply: FastifyReply,
  response: ClientResponse,
): FastifyReply {
  return response.mode === 'form_post'
    ? sendFormPost(reply, site, response)
    : redirect(request, reply, locationOf(response));
}

/** Sends the browser to the client with an error, which the log and the metrics have too. */
export function refuse(
  parts: Pick<FlowParts, 'site' | 'issuer'>,
  request: FastifyRequest,
  reply: FastifyReply,
  asked: AuthorizationRequest,
  refusal: Pick<RedirectedError, 'error' | 'description'>,
): FastifyReply {
  request.refusal = { code: refusal.error, reason: refusal.description };
  return respond(parts, request, reply, errorResponse(asked, refusal, parts.issuer));
}

const CLIENT_GONE: DisplayedError = {
  kind: 'display',
  problem: 'client',
  reason: 'client gone',
  advice: {
    description: 'The client is no longer registered and active, or was changed since the request began.',
    remedy: 'Look at its registration, then begin anew at the authorization endpoint. This lists all:',
    command: 'npx tessera client list',
  },
};

/** A pending request that this browser may go on with. */
export interface Pending {
  readonly handle: string;
  readonly interaction: Interaction;
}

/**
 * The pending request behind a handle. Where there is none to go on with, the answer is sent: a page that says so, or
 * for a request that was answered before, wherever that answer led.
 */
export async function pendingOrAnswer(
  parts: FlowParts,
  request: FastifyRequest,
  reply: FastifyReply,
  handle: string,
): Promise<Pending | undefined> {
  const { site } = parts;
  const browser = parts.browsers.of(request, reply);
  const interaction = await parts.database.read(() => resume(handle, browser.hashesFor(handle), parts.clock()));
  const { messages } = site;
  if (interaction === undefined) {
    const { handleTitle: title, handleText: text } = messages.error;
    const refusal = new OAuthError(400, 'invalid_request', noPending(request), {}, 'no such pending request');
    sendErrorPage(request, reply, site, refusal, { title, text, onward: 'account' });
    return undefined;
  }
  if (interaction.outcome === null) return { handle, interaction };
  await answerFinished(parts, request, reply, { handle, interaction }, browser);
  return undefined;
}

/** Why there is no pending request behind a handle, for the developer: what is not told apart must not be. */
const noPending = ({ headers }: FastifyRequest): string =>
  headers.cookie === undefined
    ? 'The browser sent no cookie, and a pending sign-in belongs to the browser that began it. Let it keep cookies of this host, and begin at the authorization endpoint.'
    : 'This browser has no pending sign-in with this handle. One lasts an hour, in the browser that began it: begin at the authorization endpoint.';

async function answerFinished(
  parts: FlowParts,
  request: FastifyRequest,
  reply: FastifyReply,
  { handle, interaction }: Pending,
  browser: Pick<Browser, 'sessionSecret'>,
): Promise<FastifyReply> {
  const { hash: sessionHash } = sessionOf(browser, interaction);
  const response = await finishedResponse(parts, { interaction, handle, sessionHash });
  if (response !== undefined) return respond(parts, request, reply, response);
  const { finishedTitle: title, finishedText: text } = parts.site.messages.error;
  const description =
    'This request was answered before. Where that led is not repeated: its code was redeemed, has expired or is another person’s.';
  const refusal = new OAuthError(409, 'conflict', description, {}, 'finished before');
  return sendErrorPage(request, reply, parts.site, refusal, { title, text, onward: 'account' });
}

export const sessionOf = (
  browser: Pick<Browser, 'sessionSecret'>,
  interaction: Interaction | undefined,
): PresentSession => ({
  hash: browser.sessionSecret === undefined ? undefined : digest(browser.sessionSecret),
  signedInFor: interaction?.signedInSession ?? null,
  chosenFor: interaction?.chosenSession ?? null,
});

/** The page where a person goes on with a step. */
export const pageOf = (step: { readonly kind: 'login' | 'choose' | 'consent' }): '/login' | '/consent' =>
  step.kind === 'consent' ? '/consent' : '/login';

/** Where a pending request stands for the person in this browser. */
export const progressFor = (parts: FlowParts, { interaction }: Pending, browser: Browser): Promise<Progress> =>
  parts.database.read(() => progressOf(interaction.request, sessionOf(browser, interaction), parts.clock()));

/** Sends the browser wherever its pending request stands: to a page of ours, or back to the client. */
export async function follow(
  parts: FlowParts,
  request: FastifyRequest,
  reply: FastifyReply,
  pending: Pending,
  browser: Pick<Browser, 'sessionSecret'>,
): Promise<FastifyReply> {
  const { handle } = pending;
  // A few times at most: what is on record may change between the question and the answer.
  for (let attempt = 0; attempt < 5; attempt++) {
    const interaction = attempt === 0 ? pending.interaction : await reread(parts, request, reply, handle);
    if (interaction === undefined) break;
    const session = sessionOf(browser, interaction);
    const progress = await parts.database.read(() => progressOf(interaction.request, session, parts.clock()));
    if (progress.kind === 'client gone') return sendClientGone(parts, request, reply);
    const { step, signedIn } = progress;
    const origin = originOf(request);
    if (step.kind === 'refuse') {
      request.refusal = { code: step.refusal.error, reason: step.refusal.description };
      const response = await refusalRedirect(parts, interaction.request, step.refusal, { signedIn, origin });
      return respond(parts, request, reply, response);
    }
    if (step.kind !== 'issue') {
      const address = `${pageOf(step)}?${HANDLE}=${encodeURIComponent(handle)}`;
      return redirect(request, reply, parts.site.path(address));
    }
    const outcome = await issueCode(parts, { request: interaction.request, session, handle, origin });
    if (outcome.kind === 'answer') return respond(parts, request, reply, outcome.response);
    if (outcome.kind === 'refused') return refuse(parts, request, reply, interaction.request, outcome.refusal);
    if (outcome.kind === 'finished') break;
  }
  const interaction = (await reread(parts, request, reply, handle)) ?? pending.interaction;
  return answerFinished(parts, request, reply, { handle, interaction }, browser);
}

const reread = (parts: FlowParts, request: FastifyRequest, reply: FastifyReply, handle: string) =>
  parts.database.read(() => resume(handle, parts.browsers.of(request, reply).hashesFor(handle), parts.clock()));

/** The client was disabled, deleted or changed since the request began: there is nobody to answer to. */
export const sendClientGone = (parts: FlowParts, request: FastifyRequest, reply: FastifyReply): FastifyReply =>
  showError(parts, request, reply, CLIENT_GONE);

/** Shows what cannot be redirected: there is no address that it could safely be sent to. */
export function showError(
  { site }: FlowParts,
  request: FastifyRequest,
  reply: FastifyReply,
  { problem, reason, advice }: DisplayedError,
): FastifyReply {
  const { messages } = site;
  const refusal = new OAuthError(400, 'invalid_request', adviceLine(advice), {}, reason);
  const details = adviceFacts(messages, advice);
  const text = problem === 'disabled' ? messages.error.disabled : messages.error.client;
  sendErrorPage(request, reply, site, refusal, { ...text, reason: advice.description, details });
  request.refusal = { code: refusal.code, reason, differs: advice.differences };
  return reply;
}
