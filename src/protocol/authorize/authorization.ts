import { type AccessPath, listAccessPaths } from '../../access/store.ts';
import { takeAccountLock } from '../../accounts/store.ts';
import { record } from '../../audit/audit.ts';
import type { RecordThrottled } from '../../audit/throttle.ts';
import { ENDPOINT_RULES, endpointRulesOf } from '../../claims/endpoint-set.ts';
import { coveredClaims, formatScopes, isApiScopeId, isRegisteredScope } from '../../claims/permissions.ts';
import { type ApiScope, namedScopes } from '../../claims/rules/api-scopes.ts';
import { isRegisteredUri } from '../../clients/rules/redirect-uri.ts';
import { type Client, findClient, holdClient, listApiScopes } from '../../clients/store.ts';
import { type ConsentDecision, ConsentOutdated, rememberedConsent, writeDecision } from '../../consent/decision.ts';
import { grantedScopes } from '../../consent/rules/consent.ts';
import { findGrant, lockGrant, lockGrants } from '../../consent/store.ts';
import { CODE_LIFETIME, insertCode } from '../../credentials/code-store.ts';
import { takeTogether } from '../../limits/limits.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Limits } from '../../platform/config/limits.ts';
import { digest, keyedDigest, randomSecret } from '../../platform/crypto/secrets.ts';
import type { Database, Work } from '../../platform/database/database.ts';
import type { Ids } from '../../platform/ids/ids.ts';
import type { Origin } from '../../platform/validation/origin.ts';
import { readVisitor, recordUse, type Visitor } from '../../sessions/sessions.ts';
import { lockSession } from '../../sessions/store.ts';
import type { TraceRecorder } from '../../traces/recorder.ts';
import { DENIALS } from './denial.ts';
import { findInteraction, finishInteraction, type InteractionOutcome } from './interaction-store.ts';
import { findApprovedConsent } from './operator-consent.ts';
import { type AuthorizationStep, isAnswered, nextStep } from './rules/next-step.ts';
import { refuseByRedirect } from './rules/refusals.ts';
import {
  type AuthorizationRequest,
  type ClientResponse,
  consentScopes,
  describeRequest,
  type RedirectedError,
  restoredRequest,
  successResponse,
} from './rules/request.ts';
import { findStepUp, MET, type SecondFactorServices } from './step-up.ts';

/** What the next step is computed with, beside what is stored. */
type EvaluationServices = SecondFactorServices & { readonly issuer: string };

export interface AuthorizationServices extends SecondFactorServices {
  readonly database: Database;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly issuer: string;
  readonly limits: Limits;
  /** Derives the code of a pending request from its handle: see {@link codeOf}. */
  readonly codeKey: Buffer;
  readonly recordThrottled: RecordThrottled;
  readonly traces: Pick<TraceRecorder, 'completed'>;
}

/** The session of a browser, and those that a pending request knows. All are hashes. */
export interface RequestSessions {
  readonly current: string | undefined;
  /** The session that the person started for the request. */
  readonly signedIn: string | null;
  /** The session that the person chose for the request. */
  readonly chosen: string | null;
}

/** The next step of a request, with what it was computed from. */
interface EvaluatedRequest {
  readonly kind: 'current';
  readonly client: Client;
  readonly visitor: Visitor;
  readonly step: AuthorizationStep;
  /** By which the person may use the app, where it is open to assigned people only. */
  readonly path: AccessPath | undefined;
  /** The scopes of APIs that the client may request; empty where the request has none. */
  readonly apiScopes: readonly ApiScope[];
}

/** A request that is not answered yet, and whose client is registered for it. */
export interface CurrentRequest extends EvaluatedRequest {
  readonly request: AuthorizationRequest;
  /** Undefined while the request is not stored. */
  readonly handle: string | undefined;
  readonly sessions: RequestSessions;
}

/** A stored request that is not answered yet. */
export interface PendingRequest extends CurrentRequest {
  readonly handle: string;
}

/** A stored request that was answered before. */
export interface FinishedRequest {
  readonly kind: 'finished';
  readonly request: AuthorizationRequest;
  readonly handle: string;
  readonly outcome: InteractionOutcome;
  readonly sessions: RequestSessions;
}

/** The client was disabled, deleted or changed since the request. */
export interface ClientGone {
  readonly kind: 'client gone';
}

export const CLIENT_GONE: ClientGone = { kind: 'client gone' };

/** Reads what else the next step of a request depends on, and computes it, inside a unit of work. */
function* evaluate(
  request: AuthorizationRequest,
  sessions: RequestSessions,
  visitor: Visitor,
  client: Client | undefined,
  now: number,
  services: EvaluationServices,
): Work<EvaluatedRequest | ClientGone> {
  if (client === undefined) return CLIENT_GONE;
  const apiScopes = request.scopes.some(isApiScopeId) ? yield* listApiScopes({ clientId: client.id }) : [];
  if (!isStillRegistered(client, request, apiScopes)) return CLIENT_GONE;
  const signedIn = visitor.kind === 'signed in' ? visitor : undefined;
  const grant =
    signedIn &&
    (yield* findGrant({ accountId: signedIn.account.id, clientId: client.id, endpointSet: request.endpointSet }));
  const isOpen = client.access === 'everyone';
  const [path] =
    signedIn === undefined || isOpen
      ? []
      : yield* listAccessPaths({ accountId: signedIn.account.id, clientId: client.id });
  const isRequired =
    signedIn?.organizationRequires || client.requireSecondFactor || services.secondFactor === 'required';
  const asksForMore = isRequired || request.acrs !== undefined;
  const step = nextStep({
    request,
    clientType: client.type,
    access: client.access,
    visitor: visitor.kind,
    accountId: signedIn?.account.id ?? null,
    age: signedIn === undefined ? 0 : now - signedIn.session.authTime,
    stepUp: signedIn && asksForMore ? yield* findStepUp(request, client, services, signedIn, now) : MET,
    signedInForThis: sessions.current !== undefined && sessions.current === sessions.signedIn,
    chosenForThis: sessions.current !== undefined && sessions.current === sessions.chosen,
    hasAccess: isOpen || path !== undefined,
    remembered: rememberedConsent(grant, client),
    approved:
      signedIn && client.consent === 'operator'
        ? yield* findApprovedConsent(
            client,
            apiScopes,
            signedIn.account.id,
            services.issuer + ENDPOINT_RULES.oidc.userinfoPath,
          )
        : null,
  });
  return { kind: 'current', client, visitor, step, path, apiScopes };
}

/** A request stays valid while its client is active without interruption, and registered for everything requested. */
const isStillRegistered = (client: Client, request: AuthorizationRequest, apiScopes: readonly ApiScope[]): boolean =>
  client.status === 'active' &&
  client.generation === request.clientGeneration &&
  client.endpoints.includes(request.endpointSet) &&
  isRegisteredUri(request.redirectUri, client.redirectUris, client.type) &&
  consentScopes(request).every((scope) =>
    isApiScopeId(scope) ? apiScopes.some(({ id }) => id === scope) : isRegisteredScope(scope, client.scopes),
  ) &&
  (request.codeChallenge !== null || !client.requirePkce);

/** Evaluates a request that is not stored, and whose client may have been read just now. */
export function* readNewRequest(
  request: AuthorizationRequest,
  currentSession: string | undefined,
  now: number,
  services: EvaluationServices,
  known?: Client,
): Work<CurrentRequest | ClientGone> {
  const sessions = { current: currentSession, signedIn: null, chosen: null };
  const visitor = yield* readVisitor(currentSession, now);
  const client = known ?? (yield* findClient({ id: request.clientId }));
  const evaluated = yield* evaluate(request, sessions, visitor, client, now, services);
  return evaluated.kind === 'client gone' ? evaluated : { ...evaluated, request, handle: undefined, sessions };
}

/**
 * Reads a stored request; undefined where this browser did not start it, or it has expired.
 * @param browserHashes the identities under which the browser may have started it
 */
export function* readStoredRequest(
  handle: string,
  browserHashes: readonly string[],
  currentSession: string | undefined,
  now: number,
  services: EvaluationServices,
): Work<PendingRequest | FinishedRequest | ClientGone | undefined> {
  const interaction = yield* findInteraction({ hash: digest(handle) });
  if (interaction === undefined || interaction.expiresAt <= now) return undefined;
  if (!browserHashes.includes(interaction.browserHash)) return undefined;
  const { outcome } = interaction;
  const request = restoredRequest(interaction.json, interaction.state);
  const sessions = {
    current: currentSession,
    signedIn: interaction.signedInSession,
    chosen: interaction.chosenSession,
  };
  if (outcome !== null) return { kind: 'finished', request, handle, outcome, sessions };
  const visitor = yield* readVisitor(currentSession, now);
  const client = yield* findClient({ id: request.clientId });
  const evaluated = yield* evaluate(request, sessions, visitor, client, now, services);
  return evaluated.kind === 'client gone' ? evaluated : { ...evaluated, request, handle, sessions };
}

/**
 * The code of a pending request: 256 bits that cannot be predicted without the server's key. A second submission of the same form
 * gets the same code, although only its hash is stored.
 */
export const codeOf = (services: AuthorizationServices, handle: string): string =>
  keyedDigest(services.codeKey, handle);

/** The outcome of issuing a code. */
export type IssueResult =
  | { readonly kind: 'response'; readonly response: ClientResponse; readonly accountId: string }
  /** Too many codes: nothing was written, and a pending request stays pending. Or every scope was declined. */
  | { readonly kind: 'refused'; readonly refusal: RedirectedError }
  /** What the caller read has changed, or the request was answered meanwhile: read it again. */
  | { readonly kind: 'changed' };

const CHANGED: IssueResult = { kind: 'changed' };

interface CodeInput extends Pick<CurrentRequest, 'request' | 'handle' | 'sessions' | 'apiScopes'> {
  /** Absent where a remembered consent is enough. */
  readonly decision?: ConsentDecision;
  readonly origin: Origin;
}

/** What is prepared before the unit of work. */
interface PreparedCode {
  readonly code: string;
  readonly newGrantId: string;
  readonly now: number;
  readonly response: ClientResponse;
  readonly limits: Limits;
  readonly services: EvaluationServices;
}

/**
 * Issues a code. One commit judges the session again, writes or finds the consent, ends the pending request, and records the code
 * and its event.
 */
export async function issueCode(services: AuthorizationServices, input: CodeInput): Promise<IssueResult> {
  const now = services.clock();
  const code = input.handle === undefined ? randomSecret() : codeOf(services, input.handle);
  const newGrantId = await services.ids.next();
  const response = successResponse(input.request, code, services.issuer);
  const prepared = { code, newGrantId, now, response, limits: services.limits, services };
  try {
    const result = await services.database.commit(() => issue(input, prepared));
    if (result.kind === 'response') traceCode(services, input, { code, at: now, accountId: result.accountId });
    return result;
  } catch (error) {
    if (error instanceof ConsentOutdated) return CHANGED;
    throw error;
  }
}

/** Records the steps that a commit completed: those of the authorization endpoint, the consent and the code. */
function traceCode(
  { traces }: AuthorizationServices,
  { request, handle, decision, origin, apiScopes }: CodeInput,
  { code, at, accountId }: { readonly code: string; readonly at: number; readonly accountId: string },
): void {
  const { clientId, redirectUri } = request;
  const leadsTo = digest(code);
  const step = { at, requestId: origin.requestId, clientId, accountId };
  const description = `A code was issued for ${redirectUri}.`;
  if (handle === undefined) {
    const sent = describeRequest(request, apiScopes);
    const { ignored } = request;
    const facts = { description: `The request is valid, and needs no page. ${description}`, sent, ignored };
    traces.completed.push({ ...step, step: 'authorize', leadsTo, facts });
    return;
  }
  const flow = digest(handle);
  if (decision !== undefined) {
    const named = (scopes: readonly string[]) => namedScopes(scopes, apiScopes).join(' ') || 'nothing optional';
    const asked = named(decision.asked);
    const allowed = named(decision.asked.filter((scope) => decision.allowed.has(scope)));
    const facts = { description: `The user was asked for ${asked}, and allowed ${allowed}.` };
    traces.completed.push({ ...step, step: 'consent', flow, facts });
  }
  traces.completed.push({ ...step, step: 'code', flow, leadsTo, facts: { description } });
}

/** A client that redirects in a loop needs no person: without a limit, each round would write a code and an event. */
const TOO_MANY_CODES = refuseByRedirect('too many codes');

function* issue(input: CodeInput, prepared: PreparedCode): Work<IssueResult> {
  const { code, newGrantId, now, response, limits, services } = prepared;
  const { request, sessions, handle, decision } = input;
  // Before every other lock: decisions and revocations come one after the other.
  if (decision !== undefined) yield* takeAccountLock({ id: decision.accountId });
  // With their locks: what ends the session, or requires more of the people who use the app, waits for this commit, and then finds the code.
  const visitor = yield* readVisitor(sessions.current, now, lockSession);
  const held = yield* holdClient({ id: request.clientId });
  const evaluated = yield* evaluate(request, sessions, visitor, held, now, services);
  if (evaluated.kind === 'client gone' || visitor.kind !== 'signed in') return CHANGED;
  const { step, client, path, apiScopes } = evaluated;
  const named = (scopes: Iterable<string>) => namedScopes(scopes, apiScopes);
  const rules = endpointRulesOf(request.endpointSet, client);
  const { account, session } = visitor;
  if (!isAnswered(step, client, account.id, decision)) return CHANGED;
  const origin: Origin = { ...input.origin, actor: { type: 'user', id: account.id } };
  const ids = { origin, accountId: account.id, clientId: client.id };
  const bucket = `authorization ${account.id} ${client.id}`;
  if ((yield* takeTogether(bucket, limits.authorization, now, { name: 'authorization', ...ids })) > 0) {
    return { kind: 'refused', refusal: TOO_MANY_CODES };
  }
  // Always after the count, with a decision or without: two orders of these locks could deadlock.
  const key = { accountId: account.id, clientId: client.id, endpointSet: request.endpointSet };
  const live = decision === undefined ? [] : yield* lockGrants(key);
  let grant =
    decision === undefined
      ? yield* lockGrant(key)
      : live.find(({ endpointSet }) => endpointSet === request.endpointSet);
  // A remembered consent may have been changed or revoked by another process since it was read.
  if (decision === undefined && (grant === undefined || grant.askAgain)) return CHANGED;

  const event = { at: now, ...ids };
  const { resources = [] } = request;
  if (decision !== undefined) {
    const requested = consentScopes(request);
    const allApiScopes = yield* listApiScopes({ clientId: client.id });
    grant = yield* writeDecision({
      ...{ client, rules, requested, resources, decision, live, newGrantId, now },
      apiScopes: allApiScopes,
    });
    if (grant !== undefined) {
      const details = {
        ...(decision.by !== undefined && { decidedBy: decision.by }),
        scopes: namedScopes(grant.scopes, allApiScopes),
        declined: namedScopes(grant.declined, allApiScopes),
      };
      yield* record({ ...event, type: 'consent.granted', details });
    }
  }
  const scopes = grant === undefined ? '' : grantedScopes(request.scopes, grant.scopes, rules);
  const outcome = grant === undefined || scopes === '' ? 'denied' : 'code';
  if (decision === undefined && outcome === 'denied') return CHANGED;
  if (handle !== undefined && !(yield* finishInteraction({ hash: digest(handle), outcome }))) {
    throw new ConsentOutdated();
  }
  yield* recordUse(session, now);
  if (grant === undefined || scopes === '') {
    yield* record({ ...event, type: 'consent.denied' });
    return { kind: 'refused', refusal: DENIALS.denied };
  }
  yield* insertCode({
    hash: digest(code),
    endpointSet: request.endpointSet,
    grantId: grant.id,
    accountId: account.id,
    clientId: client.id,
    inherited: { accountGeneration: session.generation, clientGeneration: request.clientGeneration },
    redirectUri: request.redirectUri,
    scopes,
    // RFC 6749 §5.1: the token response names the scopes where they differ from those requested.
    narrowed: scopes !== formatScopes(request.scopes),
    nonce: request.nonce,
    codeChallenge: request.codeChallenge,
    claims: request.claims && coveredClaims(request.claims, rules.claimScopes, grant.scopes),
    resources,
    sid: session.sid,
    authTime: session.authTime,
    amr: session.amr,
    acr: session.acr,
    expiresAt: now + CODE_LIFETIME,
    assignmentId: path?.assignmentId ?? null,
    memberId: path?.memberId ?? null,
    endsWithSession: rules.endsWithSession && !request.scopes.includes('offline_access'),
  });
  yield* record({
    ...event,
    type: 'authorization.issued',
    details: { scopes: named(scopes.split(' ')).join(' '), grantId: grant.id },
  });
  return { kind: 'response', response, accountId: account.id };
}
