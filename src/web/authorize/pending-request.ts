import type { FastifyReply, FastifyRequest } from 'fastify';
import { type DeveloperAdvice, formatAdvice } from '../../clients/rules/developer-advice.ts';
import type { Client } from '../../clients/store.ts';
import { adviceFacts, sendErrorPage } from '../../pages/error-page.ts';
import type { Site } from '../../pages/layout.ts';
import { digest, isSecretForm } from '../../platform/crypto/secrets.ts';
import { formOf } from '../../platform/http/bodies.ts';
import { type RequestSubject, refusalOf } from '../../platform/http/errors.ts';
import { queryOf } from '../../platform/http/parameters.ts';
import { keepOpener, redirect } from '../../platform/http/server.ts';
import { OAuthError, type RefusalDetail } from '../../platform/oauth-error.ts';
import { type Origin, originOf } from '../../platform/validation/origin.ts';
import {
  type AuthorizationServices,
  CLIENT_GONE,
  type ClientGone,
  type CurrentRequest,
  type FinishedRequest,
  type MetadataNeeded,
  type PendingRequest,
  readNewRequest,
  readStoredRequest,
} from '../../protocol/authorize/authorization.ts';
import { finishedResponse } from '../../protocol/authorize/finished-response.ts';
import { issueCode } from '../../protocol/authorize/issue-code.ts';
import { operatorDecision } from '../../protocol/authorize/operator-consent.ts';
import type { DisplayedError } from '../../protocol/authorize/rules/check-target.ts';
import { recommendedParts } from '../../protocol/authorize/rules/ignored-parts.ts';
import type { AuthorizationStep } from '../../protocol/authorize/rules/next-step.ts';
import { refuseByRedirect } from '../../protocol/authorize/rules/refusals.ts';
import { type AuthorizationRequest, type RedirectedError, recordedId } from '../../protocol/authorize/rules/request.ts';
import { INTERACTION_LIFETIME, storeRequest } from '../../protocol/authorize/store-request.ts';
import type { Browser, Browsers } from '../browser/browser.ts';
import { HANDLE } from './request-fields.ts';
import { hashOf, type Sent, sendEarlyError, sendIssued, sendResponse } from './send-response.ts';
import { readExpiredClient, sendExpired, sendUnknown } from './unknown-request.ts';

/** What the pages of an authorization request need. */
export interface AuthorizationPageServices extends AuthorizationServices {
  readonly browsers: Browsers;
  readonly site: Site;
  /** Whether the service runs on a developer's own machine: its base URL is a loopback address. */
  readonly local: boolean;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The pending request of a page: see {@link loadPendingRequest}. */
    pendingRequest: PendingRequest | undefined;
    /** The app whose request has expired, where the form of a page goes on without it: see {@link loadPendingRequest}. */
    expiredFor: Client | undefined;
  }
}

/** The configuration of routes that belong to authorization flows alone. */
export const IN_FLOW = { keepsOpener: true } as const;

const handleOf = (request: FastifyRequest): string | undefined =>
  (request.method === 'POST' ? formOf(request) : queryOf(request)).get(HANDLE);

/** The context of the form that continues as the signed-in account. */
export const continueContext = (handle: string, accountId: string): string => `continue ${handle} ${accountId}`;

/**
 * The hook of the pages of a pending request. It rejects forms from other sites, and puts the request that `request` names on the
 * Fastify request. Where that is not pending, it sends the response, and the route does not run: an error page, or the response
 * of a request that was answered before.
 * @param options.optional whether the page can be used without a request
 * @param options.outlivesRequest whether its form is of use when the request has expired; the route then finds `expiredFor`
 */
export const loadPendingRequest =
  (services: AuthorizationPageServices, { optional = false, outlivesRequest = false } = {}) =>
  async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> => {
    if (request.method === 'POST') services.browsers.rejectCrossSiteForm(request);
    const handle = handleOf(request);
    if (handle === undefined && optional) return undefined;
    keepOpener(reply);
    const found = await readPending(services, request, reply, handle ?? '');
    request.subject = subjectOf(handle ?? '', found);
    if (found === undefined && request.method === 'POST') {
      const client = await readExpiredClient(services, formOf(request));
      if (client !== undefined && outlivesRequest) {
        request.expiredFor = client;
        return undefined;
      }
      if (client !== undefined) return sendExpired(request, reply, services.site, { client, cause: 'unknown' });
    }
    if (found?.kind !== 'current') return advance(services, request, reply, found);
    request.pendingRequest = found;
    return undefined;
  };

/** Whom the request of a page is about, also where the handle belongs to another browser. */
function subjectOf(handle: string, found: PendingRequest | FinishedRequest | ClientGone | undefined): RequestSubject {
  const flow = isSecretForm(handle) ? digest(handle) : undefined;
  if (found === undefined || found.kind === 'client gone') return { flow };
  const accountId =
    found.kind === 'current' && found.visitor.kind !== 'anonymous' ? found.visitor.account.id : undefined;
  return { flow, clientId: found.request.clientId, accountId };
}

/** The pending request of a page that requires one. */
export function pendingRequestOf({ pendingRequest }: FastifyRequest): PendingRequest {
  if (pendingRequest === undefined) throw new Error('the route has no loadPendingRequest hook');
  return pendingRequest;
}

/**
 * Reads a stored request for this browser; undefined where there is none.
 * @param session the hash of the session, if it is not that of the browser's cookie: one that started with this request
 */
export function readPending(
  services: AuthorizationPageServices,
  request: FastifyRequest,
  reply: FastifyReply,
  handle: string,
  session?: string,
): Promise<PendingRequest | FinishedRequest | ClientGone | undefined> {
  const { browsers, database, clock } = services;
  const browser = browsers.of(request, reply);
  const hashes = browser.hashesFor(handle);
  return withMetadata(services, request, () =>
    database.read(() => readStoredRequest(handle, hashes, session ?? hashOf(browser), clock(), services)),
  );
}

/** Reads a request, once more where the metadata document of its client had to be fetched first. */
async function withMetadata<Current extends CurrentRequest>(
  { metadataClients }: Pick<AuthorizationServices, 'metadataClients'>,
  request: FastifyRequest,
  read: () => Promise<Current | FinishedRequest | ClientGone | MetadataNeeded | undefined>,
): Promise<Current | FinishedRequest | ClientGone | undefined> {
  const found = await read();
  if (found?.kind !== 'metadata needed') return found;
  if ((await metadataClients.fetch(found.url, originOf(request))) !== undefined) return CLIENT_GONE;
  const again = await read();
  return again?.kind === 'metadata needed' ? CLIENT_GONE : again;
}

/**
 * Evaluates a request that is not stored, for this browser.
 * @param client its client, if that was read just now
 */
export function readNew(
  services: AuthorizationPageServices,
  request: FastifyRequest,
  reply: FastifyReply,
  authorization: AuthorizationRequest,
  client?: Client,
): Promise<CurrentRequest | FinishedRequest | ClientGone | undefined> {
  const { browsers, database, clock } = services;
  const session = hashOf(browsers.of(request, reply));
  return withMetadata(services, request, () =>
    database.read(() => readNewRequest(authorization, session, clock(), services, client)),
  );
}

/** How many times a code is attempted, while what it depends on changes. */
const MAX_ATTEMPTS = 5;

/**
 * Sends the browser to the next step of a request: a page of this service, or back to the client. Every page and endpoint ends
 * here; none decides on a step by itself.
 * @param found the request as it was read; undefined where there is none for this browser
 */
export async function advance(
  services: AuthorizationPageServices,
  request: FastifyRequest,
  reply: FastifyReply,
  found: CurrentRequest | FinishedRequest | ClientGone | undefined,
): Promise<FastifyReply> {
  let current = found;
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    if (current === undefined) return sendUnknown(services, request, reply);
    if (current.kind === 'client gone') return sendClientGone(services, request, reply);
    if (current.kind === 'finished') return sendFinished(services, request, reply, current);
    const { step, handle, sessions } = current;
    if (step.kind === 'refuse') {
      await recordRefusal(services, current, originOf(request));
      return sendEarlyError(
        services,
        request,
        reply,
        current.request,
        explainFrame(services, request, step.refusal),
        sentIn(current),
      );
    }
    // HEAD stores and issues nothing, and has no address of what GET would store or issue.
    if (request.method === 'HEAD' && (step.kind === 'issue' || handle === undefined)) {
      return reply.header('cache-control', 'no-store').send();
    }
    if (step.kind !== 'issue') {
      const page = PAGES[step.kind];
      if (handle === undefined) {
        const browser = services.browsers.of(request, reply);
        return storeAndRedirect(services, request, reply, current.request, browser, page, sentIn(current));
      }
      return redirect(request, reply, services.site.path(`${page}?${HANDLE}=${encodeURIComponent(handle)}`));
    }
    const decision = operatorDecision(step, current.client, accountOf(current));
    const result = await issueCode(services, { ...current, ...(decision && { decision }), origin: originOf(request) });
    if (result.kind !== 'changed') return sendIssued(services, request, reply, current.request, result);
    current =
      handle === undefined
        ? await readNew(services, request, reply, current.request)
        : await readPending(services, request, reply, handle, sessions.current);
  }
  throw new OAuthError(503, 'temporarily_unavailable', 'The request could not be completed. Try again.');
}

const sentIn = ({ client, request, visitor }: CurrentRequest): Sent => ({
  client,
  isSilent: request.prompt.none,
  visitor: visitor.kind,
});

const accountOf = ({ visitor }: CurrentRequest): string | undefined =>
  visitor.kind === 'signed in' ? visitor.account.id : undefined;

/** Records a refusal because of the account, throttled. */
async function recordRefusal(
  { clock, recordThrottled }: AuthorizationServices,
  { request, visitor }: Pick<CurrentRequest, 'request' | 'visitor'>,
  origin: Origin,
): Promise<void> {
  if (visitor.kind !== 'banned' && visitor.kind !== 'suspended') return;
  const event = {
    accountId: visitor.account.id,
    clientId: recordedId(request.clientId),
    details: { reason: visitor.kind },
  };
  await recordThrottled({ at: clock(), type: 'authorization.refused', outcome: 'failure', origin, ...event });
}

/** The page of each step. */
const PAGES: Readonly<Record<Exclude<AuthorizationStep['kind'], 'issue' | 'refuse'>, string>> = {
  login: '/login',
  choose: '/login',
  'second factor': '/login/verify',
  enroll: '/login/enroll',
  'no access': '/no-access',
  consent: '/consent',
};

/** Stores a request, and sends the browser to the page where it continues. */
export async function storeAndRedirect(
  services: AuthorizationPageServices,
  request: FastifyRequest,
  reply: FastifyReply,
  authorization: AuthorizationRequest,
  browser: Pick<Browser, 'hash' | 'keepFor'>,
  page: string,
  sent: Sent,
): Promise<FastifyReply> {
  const stored = await storeRequest(services, authorization, browser.hash, originOf(request));
  if (stored.kind === 'client gone') return sendClientGone(services, request, reply);
  if (stored.kind === 'redirect') return sendEarlyError(services, request, reply, authorization, stored, sent);
  browser.keepFor(stored.handle, INTERACTION_LIFETIME);
  services.traces.completed.push({
    at: services.clock(),
    requestId: request.id,
    step: 'authorize',
    clientId: authorization.clientId,
    flow: digest(stored.handle),
    // The device goes on with what it got, and the person with the handle.
    leadsTo: authorization.device?.hash,
    facts: {
      method: request.method,
      path: request.routeOptions.url,
      description: `The request is valid, and continues at ${page}.`,
      ...{ sent: authorization.sent, ignored: authorization.ignored },
      remedy: recommendedParts(authorization),
    },
  });
  return redirect(request, reply, services.site.path(`${page}?${HANDLE}=${stored.handle}`));
}

/** Shows an error that cannot be sent to the client: there is no address that it could safely be sent to. */
export function showError(
  { site }: AuthorizationPageServices,
  request: FastifyRequest,
  reply: FastifyReply,
  { problem, reason, advice }: DisplayedError,
): FastifyReply {
  const { messages } = site;
  const refusal = new OAuthError(400, 'invalid_request', formatAdvice(advice), {}, reason, detailOf(advice));
  const details = adviceFacts(messages, advice);
  const text = problem === 'disabled' ? messages.error.disabled : messages.error.client;
  const page = { ...text, reason: advice.description, details, onward: 'account' } as const;
  sendErrorPage(request, reply, site, refusal, page);
  request.refusal = { ...refusalOf(refusal), differs: advice.differences };
  return reply;
}

/** The operator may see the closest registered URI in any case, which the page shows only to some. */
const detailOf = ({ expected, came, nearest, remedy, call, command }: DeveloperAdvice): RefusalDetail => ({
  expected: nearest?.registered ?? expected,
  received: came && `${came.name} = ${came.value}`,
  remedy: [remedy, [call, command].filter((text) => text !== undefined).join(', or: ')].filter(Boolean).join(' '),
});

/** Shows that the client was disabled, deleted or changed since the request. */
const sendClientGone = (
  services: AuthorizationPageServices,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply =>
  showError(services, request, reply, {
    kind: 'display',
    problem: 'client',
    reason: 'client gone',
    advice: {
      description: 'The client is no longer registered and active, or was changed since the request began.',
      remedy: 'Look at its registration, then start again at the authorization endpoint. This lists all:',
      call: 'GET /api/v2/admin/clients',
      command: 'tessera client list',
    },
  });

/** To an app that asks in a hidden frame, a person always seems signed out. */
function explainFrame(
  { browsers }: AuthorizationPageServices,
  request: FastifyRequest,
  refusal: RedirectedError,
): RedirectedError {
  return refusal.error === 'login_required' && browsers.isFrameWithoutCookies(request)
    ? refuseByRedirect('not signed in, in a frame')
    : refusal;
}

/** Sends the response of a request that was answered before, or shows that it cannot be sent again. */
async function sendFinished(
  services: AuthorizationPageServices,
  request: FastifyRequest,
  reply: FastifyReply,
  finished: FinishedRequest,
): Promise<FastifyReply> {
  const response = await finishedResponse(services, finished);
  if (response !== undefined) return sendResponse(services, request, reply, response);
  const { finishedTitle: title, finishedText: text } = services.site.messages.error;
  const description =
    'This request was answered before. Where that led is not repeated: its code was redeemed, has expired or is another person’s.';
  const refusal = new OAuthError(409, 'conflict', description, {}, 'finished before');
  return sendErrorPage(request, reply, services.site, refusal, { title, text, onward: 'account' });
}
