import { record } from '../../audit/audit.ts';
import type { RecordThrottled } from '../../audit/throttle.ts';
import { coveredClaims, formatClaims } from '../../claims/claims.ts';
import { formatScopes } from '../../claims/scopes.ts';
import { isRegisteredUri } from '../../clients/rules/redirect-uri.ts';
import { formatResources } from '../../clients/rules/resources.ts';
import type { Client } from '../../clients/store.ts';
import { findClient } from '../../clients/store.ts';
import { type ConsentDecision, ConsentOutdated, rememberedConsent, writeDecision } from '../../consent/decision.ts';
import { grantedScopes } from '../../consent/rules/consent.ts';
import { findGrant, lockGrant } from '../../consent/store.ts';
import { CODE_LIFETIME, insertCode, openCodeOwner } from '../../credentials/code-store.ts';
import { take, takeRolling } from '../../limits/limits.ts';
import type { Clock } from '../../platform/clock.ts';
import { HOUR } from '../../platform/clock.ts';
import type { Limits } from '../../platform/config/limits.ts';
import { digest, keyedDigest, randomSecret } from '../../platform/crypto/secrets.ts';
import type { Database, Work } from '../../platform/database/database.ts';
import type { Origin } from '../../platform/http/origin.ts';
import type { Ids } from '../../platform/ids/ids.ts';
import { addressBucket, networkBucket } from '../../platform/validation/ip-address.ts';
import { readVisitor, recordUse, type Visitor } from '../../sessions/sessions.ts';
import { findSession, lockSession } from '../../sessions/store.ts';
import {
  findInteraction,
  finishInteraction,
  type Interaction,
  insertInteraction,
  type NewInteraction,
} from './interaction-store.ts';
import { type AuthorizationStep, nextStep } from './rules/next-step.ts';
import {
  type AuthorizationRequest,
  type ClientResponse,
  consentScopes,
  errorResponse,
  type RedirectedError,
  storedRequest,
  successResponse,
} from './rules/request.ts';

export interface AuthorizationParts {
  readonly database: Database;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly issuer: string;
  readonly limits: Limits;
  /** Makes the code of a pending request out of its handle: see {@link codeOf}. */
  readonly codeKey: Buffer;
  readonly recordThrottled: RecordThrottled;
}

export const INTERACTION_LIFETIME = HOUR;

/** Where a request stands, with whom and what it is about. */
export type Progress =
  | { readonly kind: 'client gone' }
  | { readonly kind: 'step'; readonly step: AuthorizationStep; readonly client: Client; readonly signedIn: Visitor };

/** The session of a browser, and those that a pending request knows. All are hashes. */
export interface PresentSession {
  readonly hash: string | undefined;
  /** The session that was begun for the request. */
  readonly signedInFor: string | null;
  /** The session that the person chose for the request. */
  readonly chosenFor: string | null;
}

/** Computes where a request stands from what is on record, inside a unit of work. */
export function* progressOf(
  request: AuthorizationRequest,
  session: PresentSession,
  now: number,
  readSession = findSession,
): Work<Progress> {
  const client = yield* findClient({ id: request.clientId });
  if (client === undefined || !stillFits(client, request)) return { kind: 'client gone' };
  const signedIn = yield* readVisitor(session.hash, now, readSession);
  const present = signedIn.kind === 'signed in' ? signedIn : undefined;
  const grant = present && (yield* findGrant({ accountId: present.account.id, clientId: client.id }));
  const step = nextStep({
    request,
    clientType: client.type,
    signedIn: signedIn.kind,
    accountId: present?.account.id ?? null,
    age: present === undefined ? 0 : now - present.session.authTime,
    signedInForThis: session.hash !== undefined && session.hash === session.signedInFor,
    chosenForThis: session.hash !== undefined && session.hash === session.chosenFor,
    remembered: rememberedConsent(grant, client),
  });
  return { kind: 'step', step, client, signedIn };
}

/** A request holds while its client is active without a break, and registered for all that was asked for. */
const stillFits = (client: Client, request: AuthorizationRequest): boolean =>
  client.status === 'active' &&
  client.generation === request.clientGeneration &&
  isRegisteredUri(request.redirectUri, client.redirectUris, client.type) &&
  (client.scopes === null ||
    consentScopes(request).every((scope) => scope === 'openid' || client.scopes?.includes(scope))) &&
  (request.codeChallenge !== null || !client.requirePkce);

export type Begun =
  | { readonly kind: 'begun'; readonly handle: string }
  /** More requests, or more bytes of them, than one address may have. */
  | { readonly kind: 'too many' | 'too much' }
  | { readonly kind: 'client gone' };

/**
 * Keeps a request until the person has answered, and gives the handle that its pages carry. Anybody may begin one, and each is
 * kept for an hour: so one address may begin so many in a minute, and hold so many bytes of them at a time.
 */
export async function begin(
  { database, clock, limits }: AuthorizationParts,
  request: AuthorizationRequest,
  browserHash: string,
  origin: Origin,
): Promise<Begun> {
  const handle = randomSecret();
  const now = clock();
  const { clientId } = request;
  const stored = storedRequest(request);
  const expiresAt = now + INTERACTION_LIFETIME;
  const interaction = { hash: digest(handle), browserHash, clientId, stored, now, expiresAt };
  const kind = await database.commit(() => keep(interaction, limits, origin));
  return kind === 'begun' ? { kind, handle } : { kind };
}

/** What a whole IPv6 network may hold, as a multiple of what one address of it may: one home has thousands of those. */
const NETWORK_SHARE = 8;

function* keep(interaction: NewInteraction, limits: Limits, origin: Origin): Work<Begun['kind']> {
  const { clientId, stored, now } = interaction;
  const address = addressBucket(origin.address);
  const about = { origin, clientId };
  const count = { name: 'pendingAddress', ...about } as const;
  if ((yield* take(`pending ${address}`, limits.pendingAddress, now, count)) > 0) return 'too many';
  // Deleted since the request was checked: nothing can hang on it, and nobody is left to answer to.
  if ((yield* findClient({ id: clientId })) === undefined) return 'client gone';
  const bytes = { name: 'pendingBytesAddress', ...about } as const;
  const bucket = `pending-bytes ${address}`;
  if ((yield* takeRolling(bucket, limits.pendingBytesAddress, stored.size, now, bytes)) > 0) return 'too much';
  const network = networkBucket(origin.address);
  const ofNetwork = limits.pendingBytesAddress && {
    ...limits.pendingBytesAddress,
    count: limits.pendingBytesAddress.count * NETWORK_SHARE,
  };
  if (network !== undefined) {
    const waiting = yield* takeRolling(`pending-bytes ${network}`, ofNetwork, stored.size, now, bytes);
    if (waiting > 0) return 'too much';
  }
  yield* insertInteraction(interaction);
  return 'begun';
}

/** The pending request behind a handle, if this browser began it and it has not expired. */
export function* resume(handle: string, browsers: readonly string[], now: number): Work<Interaction | undefined> {
  const interaction = yield* findInteraction(digest(handle));
  if (interaction === undefined || !browsers.includes(interaction.browserHash) || interaction.expiresAt <= now) {
    return undefined;
  }
  return interaction;
}

/**
 * The one code of a pending request: 256 bits that nobody can foresee without the server's key, and that a second submit
 * of the same form gives again, although only its hash is stored.
 */
const codeOf = (parts: AuthorizationParts, handle: string): string => keyedDigest(parts.codeKey, handle);

export type IssueOutcome =
  | { readonly kind: 'answer'; readonly response: ClientResponse }
  /** Too many codes; nothing was written, and a pending request stays as it is. */
  | { readonly kind: 'refused'; readonly refusal: RedirectedError }
  /** What the decision rested on has changed: compute the step again. */
  | { readonly kind: 'changed' }
  /** Another submit of the same form was faster. */
  | { readonly kind: 'finished' };

interface Issue {
  readonly request: AuthorizationRequest;
  readonly session: PresentSession;
  /** Absent for a request that needed no page. */
  readonly handle?: string;
  /** Absent where a remembered consent is enough. */
  readonly decision?: ConsentDecision;
  readonly origin: Origin;
}

/**
 * Whether this is what the step asks for: nothing more, or a decision about the very client and scopes that it asks about.
 * Where another tab has answered all of it meanwhile, this answer is the later one.
 */
function isAnsweredBy(step: AuthorizationStep, client: Client, decision: ConsentDecision | undefined): boolean {
  if (decision === undefined) return step.kind === 'issue';
  if (decision.epoch !== client.consentEpoch) return false;
  return step.kind === 'issue' || (step.kind === 'consent' && step.asked.join() === decision.asked.join());
}

/**
 * Issues a code, once the verdict of this very commit allows it: the session is judged again, the consent is written or
 * found, the pending request is ended, and the code and its event are recorded, all together.
 */
export async function issueCode(parts: AuthorizationParts, issue: Issue): Promise<IssueOutcome> {
  const now = parts.clock();
  const code = issue.handle === undefined ? randomSecret() : codeOf(parts, issue.handle);
  const newGrantId = await parts.ids.next();
  const response = successResponse(issue.request, code, parts.issuer);
  const issuing = { code, newGrantId, now, response, limits: parts.limits };
  try {
    return await parts.database.commit(() => issueNow(issue, issuing));
  } catch (error) {
    if (error instanceof ConsentOutdated) return { kind: 'changed' };
    throw error;
  }
}

interface Issuing {
  readonly code: string;
  readonly newGrantId: string;
  readonly now: number;
  /** What tells the client, once all is on record. */
  readonly response: ClientResponse;
  readonly limits: Limits;
}

/** An app whose page begins anew in a loop needs no person: each round would be a code and an event. */
const TOO_MANY: RedirectedError = {
  kind: 'redirect',
  error: 'temporarily_unavailable',
  description: 'too many authorizations for this app in a short time; try again later',
};

function* issueNow(issue: Issue, { code, newGrantId, now, response, limits }: Issuing): Work<IssueOutcome> {
  const { request, session, handle, decision } = issue;
  // Whoever ends the session from elsewhere waits for this, and then finds the code.
  const progress = yield* progressOf(request, session, now, lockSession);
  if (progress.kind !== 'step' || progress.signedIn.kind !== 'signed in') return { kind: 'changed' };
  const { step, client } = progress;
  const { account, session: live } = progress.signedIn;
  if (!isAnsweredBy(step, client, decision)) return { kind: 'changed' };
  const origin: Origin = { ...issue.origin, actor: { type: 'user', id: account.id } };
  const whose = { origin, accountId: account.id, clientId: client.id };
  const bucket = `authorization ${account.id} ${client.id}`;
  if ((yield* take(bucket, limits.authorization, now, { name: 'authorization', ...whose })) > 0) {
    return { kind: 'refused', refusal: TOO_MANY };
  }
  // With a decision or without one, the grant is locked after the count: in two orders they would wait for each other.
  const held = yield* lockGrant({ accountId: account.id, clientId: client.id });
  // A remembered consent that was revoked since it was read, by another process, asks anew.
  const basis = decision ?? held;
  if (basis === undefined) return { kind: 'changed' };
  if (handle !== undefined && !(yield* finishInteraction(digest(handle), 'code'))) return { kind: 'finished' };

  const event = { at: now, ...whose };
  const { resources = [] } = request;
  const requested = consentScopes(request);
  const terms = { accountId: account.id, client, requested, resources, newGrantId, now };
  const grant = 'asked' in basis ? yield* writeDecision({ ...terms, held, decision: basis }) : basis;
  if (decision !== undefined) {
    const details = { scopes: [...grant.scopes], declined: [...grant.declined] };
    yield* record({ ...event, type: 'consent.granted', details });
  }

  yield* recordUse(live, now);
  const scopes = grantedScopes(request.scopes, grant.scopes);
  yield* insertCode({
    hash: digest(code),
    grantId: grant.id,
    accountId: account.id,
    clientId: client.id,
    accountGeneration: live.generation,
    clientGeneration: request.clientGeneration,
    redirectUri: request.redirectUri,
    scopes,
    // RFC 6749 §5.1: what differs from what was asked for is told to the client.
    narrowed: scopes === formatScopes(request.scopes) ? 0 : 1,
    // As JSON: a nonce may hold a NUL, which not every database keeps in a text.
    nonce: request.nonce === null ? null : JSON.stringify(request.nonce),
    codeChallenge: request.codeChallenge,
    claims: formatClaims(coveredClaims(request.claims, grant.scopes)),
    resources: formatResources(resources),
    sid: live.sid,
    authTime: live.authTime,
    amr: JSON.stringify(live.amr),
    acr: live.acr,
    expiresAt: now + CODE_LIFETIME,
  });
  yield* record({ ...event, type: 'authorization.issued', details: { scopes, grantId: grant.id } });
  return { kind: 'answer', response };
}

/** What tells the client of a refusal. One that rests on the state of the account is recorded, though not each time. */
export async function refusalRedirect(
  { clock, issuer, recordThrottled }: AuthorizationParts,
  request: AuthorizationRequest,
  refusal: RedirectedError,
  { signedIn, origin }: { readonly signedIn: Visitor; readonly origin: Origin },
): Promise<ClientResponse> {
  if (signedIn.kind === 'banned' || signedIn.kind === 'suspended') {
    const about = { accountId: signedIn.account.id, clientId: request.clientId, details: { reason: signedIn.kind } };
    await recordThrottled({ at: clock(), type: 'authorization.refused', outcome: 'failure', origin, ...about });
  }
  return errorResponse(request, refusal, issuer);
}

const DENIED: RedirectedError = {
  kind: 'redirect',
  error: 'access_denied',
  description: 'User denied the request',
};

/** Ends a pending request with the person's refusal. Whatever was granted before stays as it was. */
export async function deny(
  { database, clock, issuer }: AuthorizationParts,
  interaction: Interaction,
  origin: Origin,
): Promise<IssueOutcome> {
  const { request, hash } = interaction;
  return database.commit(function* denyNow(): Work<IssueOutcome> {
    if (!(yield* finishInteraction(hash, 'denied'))) return { kind: 'finished' };
    const accountId = origin.actor.type === 'user' ? origin.actor.id : null;
    yield* record({ at: clock(), type: 'consent.denied', origin, accountId, clientId: request.clientId });
    return { kind: 'answer', response: errorResponse(request, DENIED, issuer) };
  });
}

/**
 * Where a second submit of a finished form ends: where the first did. A code that was redeemed or has expired is not
 * sent again, for its second use would end the tokens of the first.
 */
export async function finishedResponse(
  parts: AuthorizationParts,
  { interaction, handle, sessionHash }: { interaction: Interaction; handle: string; sessionHash: string | undefined },
): Promise<ClientResponse | undefined> {
  if (interaction.outcome === 'denied') return errorResponse(interaction.request, DENIED, parts.issuer);
  const code = codeOf(parts, handle);
  const now = parts.clock();
  const fits = await parts.database.read(function* read(): Work<boolean> {
    const owner = yield* openCodeOwner(digest(code), now);
    if (owner === undefined) return false;
    // Two people in one browser are never mixed: once another one has signed in, the code is nothing to this browser.
    const signedIn = yield* readVisitor(sessionHash, now);
    return signedIn.kind === 'anonymous' || signedIn.account.id === owner;
  });
  return fits ? successResponse(interaction.request, code, parts.issuer) : undefined;
}
