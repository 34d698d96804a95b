import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { actingDatabase } from '../account-actions/admission/acting-database.ts';
import { type Asked, admit, personIn, type RouteObjects } from '../account-actions/admission/admission.ts';
import { heldBy } from '../account-actions/admission/held.ts';
import { heldInSession, roleNamesOf } from '../account-actions/admission/operator-session.ts';
import { countPolicyWrite } from '../account-actions/admission/policy-limit.ts';
import { makersDatabase } from '../account-actions/makers/tell-maker.ts';
import { deviceFacts } from '../account-actions/notices/rules/notice-text.ts';
import type { ActingOperator } from '../account-actions/operators/grants.ts';
import type { SecondFactorSetting } from '../accounts/second-factor-setting.ts';
import type { Account } from '../accounts/store.ts';
import type { RecordThrottled } from '../audit/throttle.ts';
import type { DeveloperSettings } from '../clients/developer-settings.ts';
import type { TestResult } from '../mail/test-message.ts';
import { handsOut, type Permission } from '../operators/permissions.ts';
import { InsufficientPermission } from '../operators/refusal.ts';
import { holdsSomewhere, isOperator, type Operator, type OperatorRights } from '../operators/rights.ts';
import { sendPage } from '../pages/layout.ts';
import { unusedFormPage } from '../pages/unused-form.ts';
import type { ToldSetting } from '../platform/config/told-settings.ts';
import type { Database, Work } from '../platform/database/database.ts';
import { Failure, limited } from '../platform/failure.ts';
import { formOf } from '../platform/http/bodies.ts';
import { refusalOf, toOAuthError } from '../platform/http/errors.ts';
import { redirect } from '../platform/http/server.ts';
import { type Origin, originOf } from '../platform/validation/origin.ts';
import { findVisitor, SessionEnded } from '../sessions/sessions.ts';
import type { Session } from '../sessions/store.ts';
import type { TraceRecorder } from '../traces/recorder.ts';
import type { Browser } from '../web/browser/browser.ts';
import { logoutContext } from '../web/browser/signed-in.ts';
import { countAccountForm } from '../web/sign-in/account-form.ts';
import { keepDraft } from '../web/sign-in/draft.ts';
import { freshPage } from '../web/sign-in/fresh-page.ts';
import type { PageServices } from '../web/sign-in/routes.ts';
import { CONFIRM, factorAsked } from './factor.ts';
import { againPage, noRolePage, notFoundPage, refusedPage, setUpPage } from './gate-pages.ts';
import { type NamedObjects, namedIn, requireIds } from './named.ts';

/** What the console needs. */
export interface ConsoleServices extends PageServices {
  readonly secondFactor: SecondFactorSetting;
  /** Whether operators need a second factor here. */
  readonly consoleSecondFactor: boolean;
  readonly developers: DeveloperSettings;
  readonly recordThrottled: RecordThrottled;
  readonly traces: TraceRecorder;
  readonly traceRetention: number | null;
  /** Every setting, without the values of those that are secret. */
  readonly settings: readonly ToldSetting[];
  /** What the server finds about itself. */
  readonly examine: () => Promise<readonly ServiceFinding[]>;
  /** What tokens would say of a person in an app. */
  readonly previewTokens: (database: Database, asked: AskedPreview, origin: Origin) => Promise<TokenPreview>;
  /** Whether the process is about to stop. */
  readonly isDraining: () => boolean;
  /** Sends a message right away, and tells what the mail server answers. */
  readonly sendTestMail: (database: Database, to: string, origin: Origin) => Promise<TestResult>;
}

interface AskedPreview {
  readonly clientId: string;
  readonly accountId: string;
  readonly scope: string;
}

/** What the tokens of one set of endpoints would say. */
export interface ShownEndpoint {
  readonly endpointSet: 'v2' | 'oidc';
  readonly error: { readonly error: string; readonly description: string } | null;
  readonly scope: string;
  readonly ignoredScopes: readonly string[];
  readonly idToken: object | null;
  readonly userinfo: object | null;
  readonly introspection: object | null;
  readonly leftOut: readonly { readonly message: string }[];
}

export interface TokenPreview {
  readonly access: { readonly roles: readonly string[]; readonly obstacles: readonly unknown[] };
  readonly endpoints: readonly ShownEndpoint[];
}

/** Something that was looked at. What is not in order has a remedy. */
export interface ServiceFinding {
  readonly check: string;
  readonly level: 'ok' | 'warning' | 'problem';
  readonly found: string;
  readonly remedy: string | null;
}

/** The services of an operator: each unit of work on their database checks first that the operator still may. */
export type OperatorServices = ConsoleServices & ActingOperator & { readonly operator: Operator };

/** An operator at a page of the console. */
export interface ConsoleVisit {
  readonly browser: Browser;
  readonly account: Account;
  readonly session: Session;
  /** Whether the operator may do what the page is for to a person whom it has found. @throws {Failure} as for its form */
  readonly admitFor: (accountId: string) => Work<void>;
  /** What the operator holds, as the newest unit of work found it. */
  readonly operator: Operator;
  readonly named: NamedObjects;
  readonly origin: Origin;
  readonly services: OperatorServices;
  /** Of every form of the page. */
  readonly token: string;
  readonly logoutToken: string;
}

declare module 'fastify' {
  interface FastifyRequest {
    consoleVisit: ConsoleVisit | undefined;
  }
  interface FastifyContextConfig {
    /** The permission that a page of the console requires. */
    permission?: Permission;
    objects?: RouteObjects;
    /** Whether the page is the first step of an act: it is shown to those who may act alone. */
    acts?: boolean;
    /** Whether its form is answered with what is read, as a file. */
    isExport?: true;
    /** Whether it is a stream of a page, and no page. */
    isStream?: true;
  }
}

/** The visit of a request that the hooks have let through. */
export function consoleVisitOf({ consoleVisit }: FastifyRequest): ConsoleVisit {
  if (consoleVisit === undefined) throw new Error('a page of the console was reached without its hook');
  return consoleVisit;
}

function askedOf(request: FastifyRequest, named: NamedObjects, permission: Permission): Asked {
  const { objects = {}, acts = false } = request.routeOptions.config;
  const { organizationId } = named;
  const body = organizationId === undefined ? {} : { organizationId };
  return { permission, objects, acts: acts || request.method === 'POST', params: { ...named }, query: {}, body };
}

/** The person on whom a form acts. */
function actedOnIn({ method, routeOptions }: FastifyRequest, named: NamedObjects): string | undefined {
  const { objects = {} } = routeOptions.config;
  return method === 'POST' ? personIn({ objects, params: { ...named } }) : undefined;
}

/**
 * Lets only operators reach the routes of this scope, each with the permission of its route, and only with forms that were shown in their
 * session. A hook that refuses a request answers it, and its route does not run.
 */
export function consoleHooks(app: FastifyInstance, services: ConsoleServices): void {
  const { browsers, site, database, clock, developers } = services;

  /** The page comes back once the person has signed in, or has proved who they are. */
  function sendAway(request: FastifyRequest, reply: FastifyReply, to: string): FastifyReply {
    // A stream is no page to come back to.
    if (request.routeOptions.config.isStream !== true) keepDraft(services, request, reply);
    return redirect(request, reply, site.path(to));
  }

  async function requireOperator(request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
    if (request.method === 'POST') browsers.rejectCrossSiteForm(request);
    const browser = browsers.of(request, reply);
    const visitor = await findVisitor(services, browser.sessionSecret);
    if (visitor.kind !== 'signed in') {
      const answer = sendAway(request, reply, '/login');
      if (browsers.hasSessionCookie(request)) browsers.clearSession(reply);
      return answer;
    }
    const { account, session } = visitor;
    const held = await database.read(() => heldBy(account.id, { ...developers, now: clock(), locks: false }));
    const visit = visitFor(request, { browser, account, session, held });
    request.consoleVisit = visit;
    if (!isOperator(held)) return sendPage(reply, 403, site, noRolePage(site, visit));
    const asked = await factorAsked(services, account, session);
    if (asked === 'proof') return sendAway(request, reply, CONFIRM);
    if (asked === 'set up') return sendPage(reply, 403, site, setUpPage(site, visit));
    if (asked === 'again') {
      keepDraft(services, request, reply);
      return sendPage(reply, 403, site, againPage(site, visit));
    }
    const { permission } = request.routeOptions.config;
    // Named before the object is looked up, as the admin API does.
    if (permission !== undefined && !holdsSomewhere(visit.operator, permission)) {
      await visit.services.database.read(nothing);
    }
    requireIds(request.routeOptions.config.objects ?? {}, visit.named);
    return undefined;
  }

  function visitFor(
    request: FastifyRequest,
    found: Pick<ConsoleVisit, 'browser' | 'account' | 'session'> & { readonly held: OperatorRights },
  ): ConsoleVisit {
    const { browser, account, session, held } = found;
    const [now, named] = [clock(), namedIn(request)];
    const operator = { id: account.id, ...held };
    const origin = { ...originOf(request, { type: 'user', id: account.id }), roles: roleNamesOf(held) } as const;
    const { permission } = request.routeOptions.config;
    const isMaking = request.method === 'POST' && handsOut(permission);
    const maker = { accountId: account.id, facts: deviceFacts(session) };
    const acting = actingDatabase(isMaking ? makersDatabase(services, maker) : database, {
      acts: request.method === 'POST' && request.routeOptions.config.isExport !== true,
      *verify(locks) {
        const actedOn = actedOnIn(request, named);
        const current = yield* heldInSession(session, { ...developers, now: clock(), locks, actedOn });
        if (current !== undefined) Object.assign(operator, current);
        return current !== undefined;
      },
      ended: async () => new SessionEnded(),
      *admit(locks, places) {
        if (permission === undefined) return;
        yield* admit(operator, askedOf(request, named, permission), { now, locks, places });
      },
      refused: (refusal) =>
        services.recordThrottled({
          ...{ at: now, type: 'operator.refused', outcome: 'failure', origin },
          details: { permission: refusal.permission, reason: refusal.permission },
        }),
    });
    return {
      ...{ browser, account, session, operator, named, origin },
      *admitFor(userId) {
        if (permission === undefined || request.method === 'POST') return;
        const { objects, ...asked } = askedOf(request, { ...named, userId }, permission);
        yield* admit(operator, { ...asked, objects: { ...objects, person: 'userId' } }, { now, locks: false });
      },
      services: { ...services, database: acting, operator },
      token: consoleFormToken(browser, { account, session }),
      logoutToken: browser.formToken(logoutContext(account.id), { account, session }),
    };
  }

  app.decorateRequest('consoleVisit', undefined);
  app.addHook('preHandler', requireOperator);
  app.addHook('preHandler', (request, reply) => requireOwnForm(services, request, reply));
  app.setErrorHandler((error, request, reply) => {
    const visit = request.consoleVisit;
    if (error instanceof SessionEnded) return sendAway(request, reply, '/login');
    if (visit === undefined || !(error instanceof Failure)) throw error;
    if (error instanceof InsufficientPermission) {
      request.refusal = refusalOf(toOAuthError(error, request));
      const { permission } = request.routeOptions.config;
      return sendPage(reply, 403, site, refusedPage(site, visit, error, permission));
    }
    if (error.kind !== 'not found') throw error;
    request.refusal = refusalOf(toOAuthError(error, request));
    return sendPage(reply, 404, site, notFoundPage(site, visit, error.message));
  });
}

/** Where a form was shown in another session, nothing of it is stored or shown. */
async function requireOwnForm(
  services: ConsoleServices,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<unknown> {
  const { site } = services;
  if (request.method !== 'POST') return undefined;
  const visit = consoleVisitOf(request);
  const form = formOf(request);
  if (visit.browser.owns(form, contextOf(visit))) {
    const { permission } = request.routeOptions.config;
    const wait = permission ? await countPolicyWrite(services, visit.operator, permission, visit.origin) : 0;
    if (wait > 0) throw limited(wait);
    await countAccountForm(services, visit);
    return undefined;
  }
  const isEarlier = visit.browser.audienceOf(form).accountId === visit.account.id;
  const isKept = isEarlier && keepDraft(services, request, reply);
  const mismatch = isEarlier ? 'earlier session' : 'expired';
  return sendPage(reply, 400, site, unusedFormPage(site, visit.account, mismatch, freshPage(request, site), isKept));
}

function* nothing(): Work<void> {}

const contextOf = ({ session }: Pick<ConsoleVisit, 'session'>): string => `console ${session.hash}`;

const consoleFormToken = (browser: Browser, viewer: Pick<ConsoleVisit, 'account' | 'session'>): string =>
  browser.formToken(contextOf(viewer), viewer);
