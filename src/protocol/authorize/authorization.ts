import { type AccessPath, listAccessPaths } from '../../access/store.ts';
import type { RecordThrottled } from '../../audit/throttle.ts';
import { ENDPOINT_RULES } from '../../claims/endpoint-set.ts';
import { isApiScopeId, isRegisteredScope, nameOfResource } from '../../claims/permissions.ts';
import type { ApiScope } from '../../claims/rules/api-scopes.ts';
import { markResources } from '../../clients/resources.ts';
import { NOT_ON_RECORD } from '../../clients/rules/metadata-document.ts';
import { isRegisteredUri } from '../../clients/rules/redirect-uri.ts';
import { DEVICE_GRANT } from '../../clients/rules/registration.ts';
import { isUnregistered } from '../../clients/rules/unregistered.ts';
import { type Client, findClient, listApiScopes } from '../../clients/store.ts';
import { rememberedConsent } from '../../consent/decision.ts';
import { findGrant } from '../../consent/store.ts';
import type { Limits } from '../../limits/settings.ts';
import type { Clock } from '../../platform/clock.ts';
import { digest } from '../../platform/crypto/secrets.ts';
import type { Database, Work } from '../../platform/database/database.ts';
import type { Ids } from '../../platform/ids/ids.ts';
import { findInteraction, type InteractionOutcome } from '../../sessions/interaction-store.ts';
import { readVisitor, type Visitor } from '../../sessions/sessions.ts';
import type { TraceRecorder } from '../../traces/recorder.ts';
import type { MetadataClients } from '../client-metadata/metadata-clients.ts';
import { findMissingUpstream, NOTHING_MISSING } from './only-upstream.ts';
import { findApprovedConsent } from './operator-consent.ts';
import { type AuthorizationStep, nextStep } from './rules/next-step.ts';
import { type AuthorizationRequest, consentScopes, restoredRequest } from './rules/request.ts';
import { findStepUp, MET, type SecondFactorServices } from './step-up.ts';

/** What the next step is computed with, beside what is stored. */
export type EvaluationServices = SecondFactorServices & {
  readonly issuer: string;
  readonly metadataClients: Pick<MetadataClients, 'find'>;
};

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
  readonly metadataClients: MetadataClients;
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
  /** The resources of the request as they are granted. */
  readonly resources: readonly string[];
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

/** The metadata document of the client has to be fetched, before the request is read again. */
export interface MetadataNeeded {
  readonly kind: 'metadata needed';
  readonly url: string;
}

/** A request with its client. */
interface RequestOfClient {
  readonly kind: 'client';
  readonly client: Client;
  readonly request: AuthorizationRequest;
}

/**
 * Reads the client of a request. One that is not on record is described by its metadata document; if a person has consented since the
 * request came, the request continues as one of the client that is on record now.
 */
export function* readClientOf(
  request: AuthorizationRequest,
  now: number,
  { metadataClients }: EvaluationServices,
): Work<RequestOfClient | MetadataNeeded | ClientGone> {
  if (request.metadataUrl === undefined) {
    const client = yield* findClient({ id: request.clientId });
    return client === undefined ? CLIENT_GONE : { kind: 'client', client, request };
  }
  const found = yield* metadataClients.find(request.metadataUrl, now);
  if (found.kind === 'fetch') return { kind: 'metadata needed', url: found.url };
  if (found.kind === 'refused') return CLIENT_GONE;
  const { client } = found;
  const isNewOnRecord = request.clientId === NOT_ON_RECORD && client.id !== NOT_ON_RECORD;
  const known = { clientId: client.id, clientGeneration: client.generation };
  return { kind: 'client', client, request: isNewOnRecord ? { ...request, ...known } : request };
}

/** Reads what else the next step of a request depends on, and computes it, inside a unit of work. */
export function* evaluate(
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
  const resources = request.resources === undefined ? [] : yield* markResources(request.resources, services.issuer);
  const isOpen = client.access === 'everyone';
  const paths =
    signedIn === undefined || isOpen
      ? []
      : yield* listAccessPaths({ accountId: signedIn.account.id, clientId: client.id });
  const { path, missing } = signedIn ? yield* findMissingUpstream(client, signedIn, paths) : NOTHING_MISSING;
  const isRequired =
    signedIn?.organizationRequires || client.requireSecondFactor || services.secondFactor === 'required';
  const asksForMore = isRequired || request.acrs !== undefined;
  const remembered = rememberedConsent(grant, client);
  const step = nextStep({
    request,
    clientType: client.type,
    isUnregistered: isUnregistered(client),
    access: client.access,
    visitor: visitor.kind,
    accountId: signedIn?.account.id ?? null,
    age: signedIn === undefined ? 0 : now - signedIn.session.authTime,
    stepUp: signedIn && asksForMore ? yield* findStepUp(request, client, services, signedIn, now) : MET,
    signedInForThis: sessions.current !== undefined && sessions.current === sessions.signedIn,
    chosenForThis: sessions.current !== undefined && sessions.current === sessions.chosen,
    hasAccess: isOpen || path !== undefined,
    missingUpstream: missing,
    // What was granted to an earlier registration of the same resource is not for this one.
    remembered: remembered && {
      ...remembered,
      resources: new Set(resources.filter((one) => remembered.resources?.has(one)).map(nameOfResource)),
    },
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
  return { kind: 'current', client, visitor, step, path, apiScopes, resources };
}

/** A request stays valid while its client is active without interruption, and registered for everything requested. */
const isStillRegistered = (client: Client, request: AuthorizationRequest, apiScopes: readonly ApiScope[]): boolean =>
  client.status === 'active' &&
  client.generation === request.clientGeneration &&
  client.endpoints.includes(request.endpointSet) &&
  mayReceive(client, request) &&
  consentScopes(request).every((scope) =>
    isApiScopeId(scope) ? apiScopes.some(({ id }) => id === scope) : isRegisteredScope(scope, client.scopes),
  );

/** Whether the client may still have the response where it goes: at a redirect URI, or on a device. */
const mayReceive = (client: Client, { device, redirectUri, codeChallenge }: AuthorizationRequest): boolean =>
  device === undefined
    ? isRegisteredUri(redirectUri, client.redirectUris, client.type) && (codeChallenge !== null || !client.requirePkce)
    : client.grantTypes.includes(DEVICE_GRANT);

/** Evaluates a request that is not stored, and whose client may have been read just now. */
export function* readNewRequest(
  given: AuthorizationRequest,
  currentSession: string | undefined,
  now: number,
  services: EvaluationServices,
  known?: Client,
): Work<CurrentRequest | ClientGone | MetadataNeeded> {
  const sessions = { current: currentSession, signedIn: null, chosen: null };
  const visitor = yield* readVisitor(currentSession, now);
  const found =
    known === undefined
      ? yield* readClientOf(given, now, services)
      : ({ kind: 'client', client: known, request: given } as const);
  if (found.kind !== 'client') return found;
  const { client, request } = found;
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
): Work<PendingRequest | FinishedRequest | ClientGone | MetadataNeeded | undefined> {
  const interaction = yield* findInteraction({ hash: digest(handle) });
  if (interaction === undefined || interaction.expiresAt <= now) return undefined;
  if (!browserHashes.includes(interaction.browserHash)) return undefined;
  const { outcome } = interaction;
  const restored = restoredRequest(interaction.json, interaction.state);
  const sessions = {
    current: currentSession,
    signedIn: interaction.signedInSession,
    chosen: interaction.chosenSession,
  };
  if (outcome !== null) return { kind: 'finished', request: restored, handle, outcome, sessions };
  const visitor = yield* readVisitor(currentSession, now);
  const found = yield* readClientOf(restored, now, services);
  if (found.kind !== 'client') return found;
  const { client, request } = found;
  const evaluated = yield* evaluate(request, sessions, visitor, client, now, services);
  return evaluated.kind === 'client gone' ? evaluated : { ...evaluated, request, handle, sessions };
}
