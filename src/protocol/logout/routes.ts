import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { explainUnregistered } from '../../clients/rules/unregistered-uri.ts';
import { type Client, findClient } from '../../clients/store.ts';
import type { Keys } from '../../keys/keys.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Database } from '../../platform/database/database.ts';
import { formOf } from '../../platform/http/bodies.ts';
import type { Browser, Browsers } from '../../platform/http/browser.ts';
import { originOf } from '../../platform/http/origin.ts';
import type { RepeatableParameters } from '../../platform/http/parameters.ts';
import { isSnowflake } from '../../platform/ids/ids.ts';
import { invalidRequest } from '../../platform/oauth-error.ts';
import { endSession, findVisitor, type SignedInVisitor, type Visitor } from '../../sessions/sessions.ts';
import { sendErrorPage } from '../../web/kit/error-page.ts';
import { type Site, sendPage } from '../../web/kit/layout.ts';
import { redirect } from '../authorize/pending-request.ts';
import { formActionSources, withQuery } from '../authorize/rules/request.ts';
import { readHint } from './id-token-hint.ts';
import { askPage, CONFIRM_PATH, type LogoutFault, signedOutPage } from './pages.ts';
import { END_SESSION_NAMES, endSessionByGetSchema, endSessionByPostSchema } from './route-schemas.ts';
import { endSessionStep, type IdTokenHint, type RedirectObstacle, requestingClientId } from './rules/end-session.ts';

export interface LogoutParts {
  readonly database: Database;
  readonly clock: Clock;
  readonly keys: Keys;
  readonly issuer: string;
  readonly site: Site;
  /** Whether the service runs on a developer's own machine. */
  readonly local: boolean;
  readonly browsers: Browsers;
}

/** Where clients send a browser to sign its person out, below the base URL. */
export const END_SESSION_PATH = '/oidc/logout';

/** The end session endpoint. */
export function logoutRoutes(app: FastifyInstance, parts: LogoutParts): void {
  const { site, browsers, database } = parts;

  const clientOf = async (id: string | undefined): Promise<Client | undefined> =>
    id === undefined || !isSnowflake(id) ? undefined : database.read(() => findClient({ id: id }));

  async function decide(parameters: RepeatableParameters, hint: IdTokenHint, signedIn: Visitor) {
    const clientId = parameters.get('client_id');
    const client = await clientOf(requestingClientId(hint, clientId));
    const session =
      signedIn.kind === 'signed in' ? { accountId: signedIn.account.id, sid: signedIn.session.sid } : undefined;
    const redirectUri = parameters.get('post_logout_redirect_uri');
    return { client, step: endSessionStep({ hint, clientId, client, redirectUri, session }) };
  }

  /** §3: the state comes back as it was sent. */
  const addressBack = (returnTo: string, state: string | undefined): string =>
    withQuery(returnTo, state === undefined ? {} : { state });

  /** Notes why there is no way back, and says what its developer needs. */
  function faultOf(
    request: FastifyRequest,
    obstacle: RedirectObstacle | undefined,
    client: Client | undefined,
    sent: string | undefined,
  ): LogoutFault | undefined {
    if (obstacle === undefined) return undefined;
    const advice =
      obstacle === 'address' && client !== undefined && sent !== undefined
        ? explainUnregistered(client, {
            name: 'post_logout_redirect_uri',
            sent,
            registered: client.postLogoutRedirectUris,
            local: parts.local,
          })
        : undefined;
    request.refusal = {
      code: 'invalid_request',
      reason: `no way back: ${obstacle}`,
      differs: advice?.differences,
    };
    return { obstacle, advice, correlationId: request.id };
  }

  function forgetBrowser(reply: FastifyReply): void {
    browsers.clearSession(reply);
    reply.header('clear-site-data', '"cache", "storage"');
  }

  async function end(request: FastifyRequest, browser: Browser, accountId: string, clientId: string | null) {
    const origin = originOf(request, { type: 'user', id: accountId });
    await endSession(parts, browser.sessionSecret ?? '', origin, clientId);
  }

  function leave(request: FastifyRequest, reply: FastifyReply, returnTo: string | undefined, state?: string) {
    forgetBrowser(reply);
    if (returnTo !== undefined) return redirect(request, reply, addressBack(returnTo, state));
    // What a form led to is a page of its own, which can be loaded again.
    if (request.method === 'POST') return redirect(request, reply, site.path(END_SESSION_PATH));
    return sendPage(reply, 200, site, signedOutPage(site, { app: undefined, wayBack: undefined, fault: undefined }));
  }

  async function answer(request: FastifyRequest, reply: FastifyReply, parameters: RepeatableParameters) {
    const browser = browsers.of(request, reply);
    const signedIn = await findVisitor(parts, browser.sessionSecret);
    const hint = await readHint(parts, parameters.get('id_token_hint'));
    const { client, step } = await decide(parameters, hint, signedIn);
    const state = parameters.get('state');
    if (signedIn.kind === 'signed in' && step.kind === 'end') {
      await end(request, browser, signedIn.account.id, client?.id ?? null);
      return leave(request, reply, step.returnTo, state);
    }
    if (step.kind === 'return') return leave(request, reply, step.returnTo, state);
    const obstacle = 'obstacle' in step ? step.obstacle : undefined;
    const fault = faultOf(request, obstacle, client, parameters.get('post_logout_redirect_uri'));
    if (signedIn.kind === 'signed in' && step.kind === 'ask') {
      const known = obstacle === undefined ? client : undefined;
      return ask(reply, { browser, signedIn, client: known, state, returnTo: step.returnTo, fault });
    }
    const wayBack = step.returnTo === undefined ? undefined : addressBack(step.returnTo, state);
    return sendPage(reply, 200, site, signedOutPage(site, { app: client?.name, wayBack, fault }));
  }

  interface Question {
    readonly browser: Browser;
    readonly signedIn: SignedInVisitor;
    /** The app that asks, where nothing speaks against it. */
    readonly client: Client | undefined;
    readonly state: string | undefined;
    readonly returnTo: string | undefined;
    readonly fault: LogoutFault | undefined;
  }

  function ask(reply: FastifyReply, question: Question): FastifyReply {
    const { browser, client, state, returnTo, fault } = question;
    const { account } = question.signedIn;
    const carried = {
      account: account.id,
      ...(client !== undefined && { client_id: client.id }),
      ...(returnTo !== undefined && { post_logout_redirect_uri: returnTo, ...(state !== undefined && { state }) }),
    };
    const token = browser.formToken(contextOf((name) => (carried as Record<string, string>)[name]));
    const page = askPage(site, { account, app: client?.name, returnTo, fault, token, carried });
    return sendPage(reply, 200, site, page, returnTo === undefined ? [] : formActionSources(returnTo));
  }

  /** A form answers what its page showed: whom it would sign out, and where it would lead. */
  const contextOf = (get: (name: string) => string | undefined): string =>
    `end session ${JSON.stringify(['account', 'client_id', 'post_logout_redirect_uri', 'state'].map((name) => get(name) ?? ''))}`;

  /** The parameters, each of them once; undefined where the answer was sent. */
  function readable(
    request: FastifyRequest,
    reply: FastifyReply,
    parameters: RepeatableParameters,
  ): RepeatableParameters | undefined {
    const wrong = END_SESSION_NAMES.find((name) => parameters.repeated.has(name) || parameters.malformed.has(name));
    if (wrong === undefined) return parameters;
    const text = site.messages.signOut;
    const page = { title: text.unreadableTitle, text: text.unreadableText };
    sendErrorPage(request, reply, site, invalidRequest(text.repeated(wrong)), page);
    return undefined;
  }

  app.get(END_SESSION_PATH, { schema: endSessionByGetSchema }, async (request, reply) => {
    const parameters = readable(request, reply, request.query as RepeatableParameters);
    return parameters === undefined ? reply : answer(request, reply, parameters);
  });

  app.post(END_SESSION_PATH, { schema: endSessionByPostSchema }, async (request, reply) => {
    const parameters = readable(request, reply, formOf(request));
    if (parameters === undefined) return reply;
    // A form from another site brings no cookies of SameSite=Lax; the redirect to ourselves does.
    if (!browsers.bringsSession(request)) return startAgain(request, reply, parameters);
    const signedIn = await findVisitor(parts, browsers.of(request, reply).sessionSecret);
    return signedIn.kind === 'signed in' ? answer(request, reply, parameters) : startAgain(request, reply, parameters);
  });

  /** Asks the same by GET. */
  function startAgain(request: FastifyRequest, reply: FastifyReply, parameters: RepeatableParameters): FastifyReply {
    const carried = END_SESSION_NAMES.flatMap((name) => {
      const value = parameters.get(name);
      return value === undefined ? [] : [[name, value] as const];
    });
    return redirect(request, reply, withQuery(site.path(END_SESSION_PATH), Object.fromEntries(carried)));
  }

  app.post(CONFIRM_PATH, async (request, reply) => {
    browsers.refuseForeignForm(request);
    const form = readable(request, reply, formOf(request));
    if (form === undefined) return reply;
    const browser = browsers.of(request, reply);
    const signedIn = await findVisitor(parts, browser.sessionSecret);
    const { client, step } = await decide(form, { kind: 'none' }, signedIn);
    const state = form.get('state');
    const shownTo = form.get('account');
    const fits = browser.owns(
      form,
      contextOf((name) => form.get(name)),
    );
    // A second press finds nobody signed in, and ends where the first did.
    const same = signedIn.kind !== 'signed in' || signedIn.account.id === shownTo;
    if (!fits || !same) return startAgain(request, reply, form);
    if (signedIn.kind === 'signed in') await end(request, browser, signedIn.account.id, client?.id ?? null);
    return leave(request, reply, step.returnTo, state);
  });
}
