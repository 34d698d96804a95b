import { takeAccountLock } from '../../accounts/store.ts';
import { record } from '../../audit/audit.ts';
import { type EndpointRules, endpointRulesOf } from '../../claims/endpoint-set.ts';
import { coveredClaims, formatScopes } from '../../claims/permissions.ts';
import { type ApiScope, namedScopes } from '../../claims/rules/api-scopes.ts';
import { recordClient } from '../../clients/metadata-clients.ts';
import { NOT_ON_RECORD } from '../../clients/rules/metadata-document.ts';
import { markUsed } from '../../clients/self-registration-store.ts';
import { type Client, holdClient, listApiScopes } from '../../clients/store.ts';
import {
  allowsAnything,
  type ConsentDecision,
  ConsentOutdated,
  digestOfResources,
  writeDecision,
} from '../../consent/decision.ts';
import { grantedScopes } from '../../consent/rules/consent.ts';
import { type ConsentGrant, lockGrant, lockGrants } from '../../consent/store.ts';
import { CODE_LIFETIME, insertCode } from '../../credentials/code-store.ts';
import { answerDevice, lockDevice } from '../../credentials/device-store.ts';
import { takeTogether } from '../../limits/limits.ts';
import type { Limits } from '../../limits/settings.ts';
import { digest, keyedDigest, randomSecret } from '../../platform/crypto/secrets.ts';
import type { Work } from '../../platform/database/database.ts';
import type { Origin } from '../../platform/validation/origin.ts';
import { finishInteraction } from '../../sessions/interaction-store.ts';
import { readVisitor, recordUse } from '../../sessions/sessions.ts';
import { lockSession } from '../../sessions/store.ts';
import {
  type AuthorizationServices,
  type CurrentRequest,
  type EvaluationServices,
  evaluate,
  readClientOf,
} from './authorization.ts';
import { DENIALS } from './denial.ts';
import { recommendedParts } from './rules/ignored-parts.ts';
import { isAnswered } from './rules/next-step.ts';
import { refuseByRedirect } from './rules/refusals.ts';
import {
  type AuthorizationRequest,
  type ClientResponse,
  consentScopes,
  type RedirectedError,
  recordedId,
  successResponse,
} from './rules/request.ts';

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
  /** The device no longer waits: its code has expired, or was answered. Nothing was written. */
  | { readonly kind: 'device gone' }
  /** What the caller read has changed, or the request was answered meanwhile: read it again. */
  | { readonly kind: 'changed' };

const CHANGED: IssueResult = { kind: 'changed' };
const DEVICE_GONE: IssueResult = { kind: 'device gone' };

interface CodeInput extends Pick<CurrentRequest, 'request' | 'handle' | 'sessions' | 'apiScopes'> {
  /** Absent where a remembered consent is enough. */
  readonly decision?: ConsentDecision;
  readonly origin: Origin;
}

/** What is prepared before the unit of work. */
interface PreparedCode {
  readonly code: string;
  readonly newGrantId: string;
  /** The id for a client that is put on record. */
  readonly newClientId: string;
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
  const newClientId = input.request.clientId === NOT_ON_RECORD ? await services.ids.next() : NOT_ON_RECORD;
  const response = successResponse(input.request, code, services.issuer);
  const prepared = { code, newGrantId, newClientId, now, response, limits: services.limits, services };
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
  const { clientId, redirectUri, device } = request;
  const leadsTo = digest(code);
  const step = { at, requestId: origin.requestId, clientId, accountId };
  const description =
    device === undefined
      ? `A code was issued for ${redirectUri}.`
      : 'The user allowed the device, which may get its tokens.';
  if (handle === undefined) {
    const { sent, ignored } = request;
    const remedy = recommendedParts(request);
    const facts = { description: `The request is valid, and needs no page. ${description}`, sent, ignored, remedy };
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

/** The client of a request, under a lock where it is on record. */
function* holdClientOf(
  request: AuthorizationRequest,
  now: number,
  services: EvaluationServices,
): Work<Client | undefined> {
  const found = request.metadataUrl === undefined ? undefined : yield* readClientOf(request, now, services);
  if (found !== undefined && (found.kind !== 'client' || found.client.id !== request.clientId)) return undefined;
  return found?.client.id === NOT_ON_RECORD ? found.client : yield* holdClient({ id: request.clientId });
}

/**
 * The client of a code: one that is not on record yet is recorded with the decision that allows it anything.
 * @returns undefined where it cannot be any more
 */
function* recordedClient(
  client: Client,
  { request, decision }: CodeInput,
  { newClientId, now }: PreparedCode,
  rules: EndpointRules,
  origin: Origin,
): Work<Client | undefined> {
  if (client.id !== NOT_ON_RECORD || decision === undefined) return client;
  if (!allowsAnything(decision, consentScopes(request), rules)) return client;
  return yield* recordClient(client, newClientId, now, origin);
}

/** What the event of a consent says. */
const consentDetails = (
  { by }: NonNullable<CodeInput['decision']>,
  { scopes, declined }: ConsentGrant,
  apiScopes: readonly ApiScope[],
) => ({
  ...(by !== undefined && { decidedBy: by }),
  scopes: namedScopes(scopes, apiScopes),
  declined: namedScopes(declined, apiScopes),
});

function* issue(input: CodeInput, prepared: PreparedCode): Work<IssueResult> {
  const { code, newGrantId, now, response, limits, services } = prepared;
  const { request, sessions, handle, decision } = input;
  // Before every other lock: decisions and revocations come one after the other.
  if (decision !== undefined) yield* takeAccountLock({ id: decision.accountId });
  // With their locks: what ends the session, or requires more of the people who use the app, waits for this commit, and then finds the code.
  const visitor = yield* readVisitor(sessions.current, now, lockSession);
  const held = yield* holdClientOf(request, now, services);
  const evaluated = yield* evaluate(request, sessions, visitor, held, now, services);
  if (evaluated.kind === 'client gone' || visitor.kind !== 'signed in') return CHANGED;
  const { step, path, apiScopes, resources, client: asking } = evaluated;
  const named = (scopes: Iterable<string>) => namedScopes(scopes, apiScopes);
  const rules = endpointRulesOf(request.endpointSet, asking);
  const { account, session } = visitor;
  if (!isAnswered(step, asking, account.id, decision)) return CHANGED;
  if (decision?.resources !== undefined && decision.resources !== digestOfResources(resources)) return CHANGED;
  const origin: Origin = { ...input.origin, actor: { type: 'user', id: account.id } };
  const ids = { origin, accountId: account.id, clientId: recordedId(asking.id) };
  const bucket = `authorization ${account.id} ${asking.id}`;
  if ((yield* takeTogether(bucket, limits.authorization, now, { name: 'authorization', ...ids })) > 0) {
    return { kind: 'refused', refusal: TOO_MANY_CODES };
  }
  const device = request.device && (yield* lockDevice({ hash: request.device.hash }));
  const expiresAt = request.device === undefined ? now + CODE_LIFETIME : (device?.expiresAt ?? 0);
  if (expiresAt <= now || (device?.outcome ?? null) !== null) return DEVICE_GONE;
  const client = yield* recordedClient(asking, input, prepared, rules, origin);
  if (client === undefined) return CHANGED;
  // Always after the count, with a decision or without: two orders of these locks could deadlock.
  const key = { accountId: account.id, clientId: client.id, endpointSet: request.endpointSet };
  const live = decision === undefined ? [] : yield* lockGrants(key);
  let grant =
    decision === undefined
      ? yield* lockGrant(key)
      : live.find(({ endpointSet }) => endpointSet === request.endpointSet);
  // A remembered consent may have been changed or revoked by another process since it was read.
  if (decision === undefined && (grant === undefined || grant.askAgain)) return CHANGED;

  const event = { at: now, ...ids, clientId: recordedId(client.id) };
  if (decision !== undefined) {
    const requested = consentScopes(request);
    const allApiScopes = yield* listApiScopes({ clientId: client.id });
    grant = yield* writeDecision({
      ...{ client, rules, requested, resources, decision, live, newGrantId, now },
      apiScopes: allApiScopes,
    });
    if (grant !== undefined) {
      if (client.unusedUntil !== null) yield* markUsed({ id: client.id });
      const details = consentDetails(decision, grant, allApiScopes);
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
    if (device !== undefined) yield* answerDevice({ hash: device.hash, outcome: 'denied', codeHash: null });
    yield* record({ ...event, type: 'consent.denied', ...(device !== undefined && { details: { device: true } }) });
    return { kind: 'refused', refusal: DENIALS.denied };
  }
  yield* insertCode({
    hash: digest(code),
    endpointSet: request.endpointSet,
    grantId: grant.id,
    accountId: account.id,
    clientId: client.id,
    inherited: { accountGeneration: session.generation, clientGeneration: client.generation },
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
    expiresAt,
    assignmentId: path?.assignmentId ?? null,
    memberId: path?.memberId ?? null,
    endsWithSession: rules.endsWithSession && !request.scopes.includes('offline_access'),
  });
  // The device finds the code there: it gets the tokens, and the browser gets nothing.
  if (device !== undefined) yield* answerDevice({ hash: device.hash, outcome: 'allowed', codeHash: digest(code) });
  yield* record({
    ...event,
    type: 'authorization.issued',
    details: {
      scopes: named(scopes.split(' ')).join(' '),
      grantId: grant.id,
      ...(device !== undefined && { device: true }),
    },
  });
  return { kind: 'response', response, accountId: account.id };
}
