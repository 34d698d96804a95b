import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { endSession } from '../../account-actions/sign-in/end-sessions.ts';
import { explainUnregisteredUri } from '../../clients/rules/unregistered-uri.ts';
import { type Client, findClientOnWire, wireId } from '../../clients/store.ts';
import type { Keys } from '../../keys/keys.ts';
import { sendErrorPage } from '../../pages/error-page.ts';
import { type Site, sendPage } from '../../pages/layout.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Database } from '../../platform/database/database.ts';
import { formOf } from '../../platform/http/bodies.ts';
import { queryOf, type RepeatableParameters } from '../../platform/http/parameters.ts';
import { redirect } from '../../platform/http/server.ts';
import { invalidRequest } from '../../platform/oauth-error.ts';
import { originOf } from '../../platform/validation/origin.ts';
import { formActionSources, withQuery } from '../../protocol/authorize/rules/request.ts';
import { readLogoutHint } from '../../protocol/logout/id-token-hint.ts';
import {
  END_SESSION_PATH,
  type EndSessionStep,
  endSessionStep,
  type LogoutHint,
  requestingClientId,
} from '../../protocol/logout/rules/end-session.ts';
import { describeHint } from '../../protocol/logout/rules/hint-form.ts';
import { explainObstacle, type LogoutObstacle } from '../../protocol/logout/rules/refusals.ts';
import { findVisitor, type SignedInVisitor, type Visitor } from '../../sessions/sessions.ts';
import type { TraceRecorder } from '../../traces/recorder.ts';
import { refuseScripts } from '../authorize/routes.ts';
import type { Browser, Browsers } from '../browser/browser.ts';
import { forgetPerson } from '../browser/forget-person.ts';
import { CONFIRM_PATH, confirmationPage, type LogoutFault, signedOutPage } from './pages.ts';
import { END_SESSION_NAMES, endSessionByGetSchema, endSessionByPostSchema } from './route-schemas.ts';

export interface LogoutServices {
  readonly database: Database;
  readonly clock: Clock;
  readonly keys: Keys;
  readonly issuer: string;
  readonly site: Site;
  /** Whether the service runs on a developer's own machine. */
  readonly local: boolean;
  readonly browsers: Browsers;
  readonly traces: TraceRecorder;
}

/** The end session endpoint: OpenID Connect RP-Initiated Logout 1.0. */
export function logoutRoutes(app: FastifyInstance, services: LogoutServices): void {
  const { browsers, site } = services;

  /** A hook that rejects parameters that are repeated or malformed. */
  const requireSingleParameters = async (request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
    const parameters = parametersOf(request);
    const wrong = END_SESSION_NAMES.find((name) => parameters.repeated.has(name) || parameters.malformed.has(name));
    if (wrong === undefined) return undefined;
    const text = site.messages.signOut;
    const page = { title: text.unreadableTitle, text: text.unreadableText, onward: 'account' } as const;
    return sendErrorPage(request, reply, site, invalidRequest(text.repeated(wrong)), page);
  };
  const requireOwnForm = async (request: FastifyRequest): Promise<void> => browsers.rejectCrossSiteForm(request);

  app.get(
    END_SESSION_PATH,
    { schema: endSessionByGetSchema, preHandler: [refuseScripts, requireSingleParameters] },
    async (request, reply) => {
      const browser = browsers.of(request, reply);
      const visitor = await findVisitor(services, browser.sessionSecret);
      return handleRequest(services, request, reply, browser, visitor);
    },
  );

  app.post(
    END_SESSION_PATH,
    { schema: endSessionByPostSchema, preHandler: requireSingleParameters },
    async (request, reply) => {
      // A POST from another site brings no cookies (SameSite=Lax); the GET of a redirect to this endpoint does.
      if (!browsers.hasSessionCookie(request)) return repeatByGet(services, request, reply);
      const browser = browsers.of(request, reply);
      const visitor = await findVisitor(services, browser.sessionSecret);
      if (visitor.kind !== 'signed in') return repeatByGet(services, request, reply);
      return handleRequest(services, request, reply, browser, visitor);
    },
  );

  app.post(CONFIRM_PATH, { preHandler: [requireOwnForm, requireSingleParameters] }, async (request, reply) => {
    const form = formOf(request);
    const browser = browsers.of(request, reply);
    const visitor = await findVisitor(services, browser.sessionSecret);
    const { client, step } = await readStep(services, form, { kind: 'none' }, visitor);
    const isOwn = browser.owns(form, formContext(form));
    // A second submission is by an anonymous visitor, and gets the same response as the first.
    const isShownAccount = visitor.kind !== 'signed in' || visitor.account.id === form.get('account');
    if (!isOwn || !isShownAccount) return repeatByGet(services, request, reply);
    if (visitor.kind === 'signed in') await endVisit(services, request, browser, visitor, client);
    return sendSignedOut(services, request, reply, step.returnTo, form.get('state'));
  });
}

const parametersOf = (request: FastifyRequest): RepeatableParameters =>
  request.method === 'POST' ? formOf(request) : queryOf(request);

async function handleRequest(
  services: LogoutServices,
  request: FastifyRequest,
  reply: FastifyReply,
  browser: Browser,
  visitor: Visitor,
): Promise<FastifyReply> {
  const parameters = parametersOf(request);
  const state = parameters.get('state');
  const hint = await readLogoutHint(services, parameters.get('id_token_hint'));
  const { client, step } = await readStep(services, parameters, hint, visitor);
  if (step.kind === 'return') return sendSignedOut(services, request, reply, step.returnTo, state);
  if (step.kind === 'end' && visitor.kind === 'signed in') {
    await endVisit(services, request, browser, visitor, client);
    traceIgnored(services, request, client, hint, parameters);
    return sendSignedOut(services, request, reply, step.returnTo, state);
  }
  const found = 'obstacle' in step ? step.obstacle : undefined;
  const obstacle = found ?? (misnamedAddress(parameters) === undefined ? undefined : 'misnamed');
  const fault = reportObstacle(services, request, obstacle, client, parameters);
  if (step.kind === 'ask' && visitor.kind === 'signed in') {
    // Not of strangers: they would displace the steps of the app.
    if (obstacle === undefined) traceIgnored(services, request, client, hint, parameters);
    const known = found === undefined ? client : undefined;
    return askToSignOut(services, reply, browser, visitor, { client: known, state, returnTo: step.returnTo, fault });
  }
  const wayBack = step.returnTo === undefined ? undefined : withState(step.returnTo, state);
  return sendPage(reply, 200, services.site, signedOutPage(services.site, { app: client?.name, wayBack, fault }));
}

/** Reads the client of a request, and decides on the next step. */
async function readStep(
  { database }: LogoutServices,
  parameters: RepeatableParameters,
  hint: LogoutHint,
  visitor: Visitor,
): Promise<{ readonly client: Client | undefined; readonly step: EndSessionStep }> {
  const clientId = parameters.get('client_id');
  const id = requestingClientId(hint, clientId);
  const client = id === undefined ? undefined : await database.read(() => findClientOnWire(id));
  const session =
    visitor.kind === 'signed in' ? { accountId: visitor.account.id, sid: visitor.session.sid } : undefined;
  const redirectUri = parameters.get('post_logout_redirect_uri');
  return { client, step: endSessionStep({ hint, clientId, client, redirectUri, session }) };
}

/** §3: the state is returned unchanged. */
const withState = (uri: string, state: string | undefined): string =>
  withQuery(uri, state === undefined ? {} : { state });

/** Reports why there is no redirect to the client to the log and the metrics, and to the developer on the page. */
function reportObstacle(
  { local }: LogoutServices,
  request: FastifyRequest,
  obstacle: LogoutObstacle | undefined,
  client: Client | undefined,
  parameters: RepeatableParameters,
): LogoutFault | undefined {
  if (obstacle === undefined) return undefined;
  request.subject = { clientId: client?.id };
  const sent = parameters.get('post_logout_redirect_uri');
  const hint = parameters.get('id_token_hint');
  const advice =
    obstacle === 'address' && client !== undefined && sent !== undefined
      ? explainUnregisteredUri(client, {
          name: 'post_logout_redirect_uri',
          sent,
          registered: client.postLogoutRedirectUris,
          local,
        })
      : undefined;
  const refusal = explainObstacle(obstacle, {
    clientId: client?.id,
    remedy: advice && [advice.remedy, advice.command].filter((text) => text !== undefined).join(' '),
    registered: advice?.nearest?.registered,
    hint: hint && describeHint(hint),
    misnamed: misnamedAddress(parameters),
    sent,
  });
  request.refusal = { ...refusal, differs: advice?.differences };
  return { description: advice?.description ?? refusal.description, advice, correlationId: request.id };
}

/** Names of other services for the address to return to. */
const RETURN_NAMES = ['redirect_uri', 'returnTo', 'return_to', 'post_logout_redirect_url', 'logout_uri'] as const;

/** The parameter that has the address to return to in place of `post_logout_redirect_uri`. */
const misnamedAddress = (parameters: RepeatableParameters): string | undefined =>
  parameters.has('post_logout_redirect_uri') ? undefined : RETURN_NAMES.find((name) => parameters.has(name));

/** Traces what of a request was ignored, for its developer: the page is the person's. */
function traceIgnored(
  { traces, clock }: LogoutServices,
  request: FastifyRequest,
  client: Client | undefined,
  hint: LogoutHint,
  parameters: RepeatableParameters,
): void {
  const misnamed = misnamedAddress(parameters);
  const ignored = [
    misnamed && `parameter ${misnamed}: the address to return to is post_logout_redirect_uri here`,
    hint.kind === 'unproven' &&
      `id_token_hint: it is signed with HS256, which only the app can verify, so the person is asked. tessera client update ${hint.clientId} --id-token-signed-response-alg RS256`,
  ].filter((part) => typeof part === 'string');
  if (ignored.length === 0 || request.method === 'HEAD') return;
  const { method, routeOptions } = request;
  const facts = { method, path: routeOptions.url, description: 'A request to sign out.', ignored: ignored.join('; ') };
  traces.completed.push({ at: clock(), requestId: request.id, step: 'sign-out', clientId: client?.id, facts });
}

/** What the confirmation page shows. */
interface ConfirmationContent {
  /** The client of the request, where it is identified without a problem. */
  readonly client: Client | undefined;
  readonly state: string | undefined;
  readonly returnTo: string | undefined;
  readonly fault: LogoutFault | undefined;
}

function askToSignOut(
  { site }: LogoutServices,
  reply: FastifyReply,
  browser: Browser,
  visitor: SignedInVisitor,
  { client, state, returnTo, fault }: ConfirmationContent,
): FastifyReply {
  const { account } = visitor;
  const carried: Readonly<Record<string, string>> = {
    account: account.id,
    ...(client !== undefined && { client_id: wireId(client) }),
    ...(returnTo !== undefined && { post_logout_redirect_uri: returnTo, ...(state !== undefined && { state }) }),
  };
  const token = browser.formToken(formContext({ get: (name) => carried[name] }), visitor);
  const page = confirmationPage(site, { account, app: client?.name, returnTo, fault, token, carried });
  return sendPage(reply, 200, site, page, returnTo === undefined ? [] : formActionSources(returnTo));
}

/** The context of the confirmation form: the account that it signs out, and where it leads. */
const formContext = (form: Pick<RepeatableParameters, 'get'>): string =>
  `end session ${JSON.stringify(['account', 'client_id', 'post_logout_redirect_uri', 'state'].map((name) => form.get(name) ?? ''))}`;

async function endVisit(
  services: LogoutServices,
  request: FastifyRequest,
  browser: Browser,
  { account }: SignedInVisitor,
  client: Client | undefined,
): Promise<void> {
  const origin = originOf(request, { type: 'user', id: account.id });
  await endSession(services, browser.sessionSecret, origin, client?.id ?? null);
}

/** Responds to a browser that is signed out: clears its session, and redirects to the client where it has a valid address. */
function sendSignedOut(
  { browsers, site }: LogoutServices,
  request: FastifyRequest,
  reply: FastifyReply,
  returnTo: string | undefined,
  state: string | undefined,
): FastifyReply {
  forgetPerson(browsers, reply);
  if (returnTo !== undefined) return redirect(request, reply, withState(returnTo, state));
  // After a form, the page is shown by a GET, which can be reloaded.
  if (request.method === 'POST') return redirect(request, reply, site.path(END_SESSION_PATH));
  return sendPage(reply, 200, site, signedOutPage(site, { app: undefined, wayBack: undefined, fault: undefined }));
}

/** Redirects to this endpoint with the same parameters in the query. */
function repeatByGet({ site }: LogoutServices, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const parameters = parametersOf(request);
  const carried = END_SESSION_NAMES.flatMap((name) => {
    const value = parameters.get(name);
    return value === undefined ? [] : [[name, value] as const];
  });
  return redirect(request, reply, withQuery(site.path(END_SESSION_PATH), Object.fromEntries(carried)));
}
