import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ENDPOINT_RULES, type EndpointRules } from '../../claims/endpoint-set.ts';
import { isUrlForm } from '../../clients/rules/metadata-document.ts';
import { type Client, findClientOnWire } from '../../clients/store.ts';
import type { Keys } from '../../keys/keys.ts';
import { digest } from '../../platform/crypto/secrets.ts';
import { Failure } from '../../platform/failure.ts';
import { formOf } from '../../platform/http/bodies.ts';
import { NO_SCRIPTS } from '../../platform/http/cors.ts';
import { refusalOf, sendError, toOAuthError } from '../../platform/http/errors.ts';
import { queryOf, type RepeatableParameters } from '../../platform/http/parameters.ts';
import { requestIds } from '../../platform/http/request-tracing.ts';
import { logLine } from '../../platform/log.ts';
import { nearestText } from '../../platform/nearest-text.ts';
import { OAuthError } from '../../platform/oauth-error.ts';
import { originOf } from '../../platform/validation/origin.ts';
import { findUnknownResource, readApiScopes } from '../../protocol/authorize/registered-apis.ts';
import { checkRequest } from '../../protocol/authorize/rules/check-request.ts';
import {
  checkQueryOfPost,
  checkTarget,
  type DisplayedError,
  requestedClient,
  unusableMetadata,
} from '../../protocol/authorize/rules/check-target.ts';
import { intersection } from '../../protocol/authorize/rules/claims-parameter.ts';
import { refuseByRedirect } from '../../protocol/authorize/rules/refusals.ts';
import { type AuthorizationRequest, findExcess, type RedirectedError } from '../../protocol/authorize/rules/request.ts';
import { readIdTokenHint } from '../../protocol/token/id-token-hint.ts';
import { rebindInteraction, setChosenSession } from '../../sessions/interaction-store.ts';
import { sentParameters } from '../../traces/rules/sent-parameters.ts';
import type { Upstreams } from '../../upstreams/directory.ts';
import {
  type AuthorizationPageServices,
  advance,
  continueContext,
  IN_FLOW,
  loadPendingRequest,
  pendingRequestOf,
  readNew,
  readPending,
  showError,
  storeAndRedirect,
} from './pending-request.ts';
import { HANDLE } from './request-fields.ts';
import { authorizeByGetSchemas, authorizeByPostSchemas } from './route-schemas.ts';
import { sendEarlyError } from './send-response.ts';

interface AuthorizationEndpointServices extends AuthorizationPageServices {
  readonly keys: Keys;
  readonly upstreams: Pick<Upstreams, 'shown'>;
}

/** The authorization endpoint (contract §4.1), by GET and by POST (OpenID Connect Core 1.0 §3.1.2.1). */
export function authorizationRoutes(app: FastifyInstance, services: AuthorizationEndpointServices): void {
  app.decorateRequest('pendingRequest', undefined);
  app.decorateRequest('expiredFor', undefined);

  for (const rules of Object.values(ENDPOINT_RULES)) {
    const { authorizationPath: path, endpointSet } = rules;
    const opened = { config: OPENED, preHandler: refuseScripts };
    app.get(path, { ...opened, schema: authorizeByGetSchemas[endpointSet] }, (request, reply) =>
      authorize(services, rules, request, reply, queryOf(request)),
    );
    app.post(path, { ...opened, schema: authorizeByPostSchemas[endpointSet] }, async (request, reply) => {
      const misplaced = checkQueryOfPost(queryOf(request));
      if (misplaced !== undefined) return showError(services, request, reply, misplaced);
      return authorize(services, rules, request, reply, formOf(request));
    });
  }
  continueRoutes(app, services);
}

/** The authorization endpoint is opened by the browser itself. */
const OPENED = { ...IN_FLOW, opened: true } as const;

/** A script gets no page and no redirect: it could follow neither, and the browser would say no more than that. */
export async function refuseScripts(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> {
  // Browsers send it with each request of a script, and programs that are no browser do not.
  if (request.headers['sec-fetch-dest'] !== 'empty') return undefined;
  request.unreadable = NO_SCRIPTS;
  const { cause, remedy } = NO_SCRIPTS;
  const refusal = new OAuthError(400, 'invalid_request', 'This address is not for scripts.', {}, cause, { remedy });
  request.refusal = refusalOf(refusal);
  return sendError(reply, refusal);
}

async function authorize(
  services: AuthorizationEndpointServices,
  rules: EndpointRules,
  request: FastifyRequest,
  reply: FastifyReply,
  parameters: RepeatableParameters,
): Promise<FastifyReply> {
  // 1. The client and its redirect URI. Nothing is redirected until both are valid.
  const clientId = requestedClient(parameters);
  if (typeof clientId !== 'string') return showError(services, request, reply, clientId);
  request.subject = { clientId };
  const client = await readClient(services, rules, request, clientId);
  if (client?.kind === 'display') return showError(services, request, reply, client);
  const target = checkTarget(parameters, client?.client, services.local);
  if (target.kind === 'display') return showError(services, request, reply, target);
  const sent = { client: target.client, isSilent: parameters.get('prompt') === 'none' };
  try {
    // 2. The other parameters.
    const apis = await readApiScopes(services, parameters, target.client, rules);
    const checked = checkRequest(parameters, target, rules, apis);
    if (checked.kind === 'redirect') return await sendEarlyError(services, request, reply, target, checked, sent);
    const unknown = await findUnknownResource(services, checked.request.resources);
    if (unknown !== undefined) {
      const error = refuseByRedirect('resource unknown', unknown);
      return await sendEarlyError(services, request, reply, target, error, sent);
    }
    const known = withIgnored(checked.request, await findIgnored(services, request, checked.request));
    const hinted = await applyHint(services, known, parameters.get('id_token_hint'));
    const recorded = sentParameters(parameters);
    const authorization = recorded === undefined ? hinted : { ...hinted, sent: recorded };
    const excess = findExcess(authorization);
    if (excess !== undefined) {
      const error = refuseByRedirect('request too large', excess);
      return await sendEarlyError(services, request, reply, target, error, sent);
    }
    // 3. The next step: a page, or the response.
    if (request.method === 'POST') {
      // A POST from another site brings no cookies (SameSite=Lax), and the GET of the redirect does. So the request is stored for a
      // temporary browser identity, which that GET brings together with the lasting one.
      return await storeAndRedirect(
        services,
        request,
        reply,
        authorization,
        services.browsers.forOne(reply),
        '/continue',
        sent,
      );
    }
    return await advance(
      services,
      request,
      reply,
      await readNew(services, request, reply, authorization, client?.client),
    );
  } catch (error) {
    const known = { ...sent, visitor: 'anonymous' } as const;
    return sendEarlyError(services, request, reply, target, internalError(error, request), known);
  }
}

/** The client with a `client_id`. One that is a URL is known at the OIDC endpoints alone: decisions §15. */
async function readClient(
  { database, clock, metadataClients }: AuthorizationEndpointServices,
  { endpointSet }: EndpointRules,
  request: FastifyRequest,
  clientId: string,
): Promise<{ readonly kind: 'client'; readonly client: Client } | DisplayedError | undefined> {
  if (!isUrlForm(clientId)) {
    const client = await database.read(() => findClientOnWire(clientId));
    return client && { kind: 'client', client };
  }
  if (endpointSet !== 'oidc') return undefined;
  const find = () => database.read(() => metadataClients.find(clientId, clock()));
  let found = await find();
  if (found.kind === 'fetch') {
    const failure = await metadataClients.fetch(clientId, originOf(request));
    found = failure === undefined ? await find() : { kind: 'refused', failure };
  }
  if (found.kind === 'found') return { kind: 'client', client: found.client };
  return found.kind === 'refused' ? unusableMetadata(clientId, found.failure) : undefined;
}

/** What of a request that is valid changes nothing, beside what {@link checkRequest} found. */
async function findIgnored(
  services: AuthorizationEndpointServices,
  request: FastifyRequest,
  { upstream, prompt }: AuthorizationRequest,
): Promise<readonly string[]> {
  const found: string[] = [];
  if (!prompt.none && /^(iframe|frame|embed|object)$/.test(String(request.headers['sec-fetch-dest'] ?? ''))) {
    found.push('the frame (pages of this service do not show in frames: use the top-level window or a popup)');
  }
  if (upstream !== undefined) {
    const offered = (await services.upstreams.shown()).map(({ name }) => name);
    if (!offered.includes(upstream)) {
      found.push(`upstream ${upstream} (${describeOffered(upstream, offered)})`);
    }
  }
  return found;
}

function describeOffered(upstream: string, offered: readonly string[]): string {
  const nearest = nearestText(upstream, offered);
  if (nearest !== undefined) return `not offered: did you mean ${nearest}?`;
  return offered.length === 0
    ? 'no other provider is offered: tessera upstream create'
    : `not offered: those are ${offered.slice(0, MOST_OFFERED).join(', ')}`;
}

/** How many other providers a trace names. */
const MOST_OFFERED = 5;

const withIgnored = (authorization: AuthorizationRequest, more: readonly string[]): AuthorizationRequest =>
  more.length === 0
    ? authorization
    : { ...authorization, ignored: [authorization.ignored, ...more].filter((part) => part !== undefined).join(', ') };

/** What a trace says of a hint that names nobody, as decisions §1 have it. */
const UNUSABLE_HINT =
  'parameter id_token_hint (not an ID token of this app, whole, whose authorization still stands: send the last one that the app received)';

/** OpenID Connect Core 1.0 §3.1.2.1: a hint limits the response to the account that it names, and authenticates no one. */
async function applyHint(
  services: AuthorizationEndpointServices,
  authorization: AuthorizationRequest,
  hint: string | undefined,
): Promise<AuthorizationRequest> {
  if (hint === undefined) return authorization;
  const named = await readIdTokenHint(services, hint);
  if (named?.clientId !== authorization.clientId) {
    return withIgnored(authorization, [UNUSABLE_HINT]);
  }
  const subjects = intersection(authorization.subjects, [named.accountId]);
  return { ...authorization, subjects, hinted: named.accountId };
}

/** An internal error, as a code of RFC 6749 §4.1.2.1 for the client: contract §7. */
function internalError(error: unknown, request: FastifyRequest): RedirectedError {
  const { status } = toOAuthError(error, request);
  const reason = request.refusal?.reason;
  if (status !== 503 && (error instanceof OAuthError || error instanceof Failure)) {
    logLine(request.log, 'error', 'an authorization request failed', { ...requestIds(request), err: error });
  }
  return status === 503
    ? refuseByRedirect('unavailable', { reason })
    : refuseByRedirect('internal error', { id: request.id });
}

/** Where a stored request continues: after the redirect of a POST, and with the account that the person chose. */
function continueRoutes(app: FastifyInstance, services: AuthorizationPageServices): void {
  const { database, browsers } = services;

  app.get('/continue', { config: IN_FLOW }, async (request, reply) => {
    const handle = queryOf(request).get(HANDLE) ?? '';
    const browser = browsers.of(request, reply);
    const from = browser.takeOver(handle);
    if (from !== undefined) {
      await database.commit(() => rebindInteraction({ hash: digest(handle), from, to: browser.hash }));
    }
    return advance(services, request, reply, await readPending(services, request, reply, handle));
  });

  app.post('/continue', { config: IN_FLOW, preHandler: loadPendingRequest(services) }, async (request, reply) => {
    const pending = pendingRequestOf(request);
    const { handle, step, visitor } = pending;
    // A form that is outdated, or was shown to another account, shows the page again.
    const chosen =
      step.kind === 'choose' &&
      visitor.kind === 'signed in' &&
      browsers.of(request, reply).owns(formOf(request), continueContext(handle, visitor.account.id));
    if (!chosen) return advance(services, request, reply, pending);
    const session = visitor.session.hash;
    await database.commit(() => setChosenSession({ hash: digest(handle), session }));
    return advance(services, request, reply, await readPending(services, request, reply, handle));
  });
}
