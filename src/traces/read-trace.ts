import { eventTypes } from '../audit/audit.ts';
import type { RecordedEvent } from '../audit/event-store.ts';
import { listEvents } from '../audit/search-store.ts';
import { DAY, iso, MINUTE } from '../platform/clock.ts';
import type { Database, Work } from '../platform/database/database.ts';
import { notFound } from '../platform/failure.ts';
import { explainEnding, FAMILY_ENDED, type FamilyEnding } from './rules/ended-family.ts';
import { isFamily, type StepFacts, type StepName } from './step.ts';
import {
  RING_SIZES,
  type StoredStep,
  stepsAbout,
  stepsInOrder,
  stepsLeadingTo,
  stepsOfRequest,
} from './trace-store.ts';

/** A step as operators see it. */
export interface TraceStep extends StepFacts {
  readonly at: string;
  readonly requestId: string | null;
  readonly step: StepName;
  readonly outcome: string;
  readonly clientId: string | null;
  readonly userId: string | null;
}

/** The steps of one authorization. */
export interface Trace {
  readonly requestId: string;
  readonly clientId: string | null;
  readonly userId: string | null;
  readonly steps: readonly TraceStep[];
}

/** How far a trace is followed: a flow has a pending request, a code and a family. */
const MAX_FLOWS = 8;
/** How many of its audit events a trace shows, the newest ones. */
const MAX_EVENTS = 50;

/**
 * The steps of the flows that a request took part in. Those of another app do not belong to it: both may have sent one code, such as one
 * from an example.
 */
function* connectedSteps(start: readonly StoredStep[], families: readonly string[]): Work<readonly StoredStep[]> {
  const steps = new Map(start.map((step) => [step.id, step]));
  const app = firstOf(start.map(({ clientId }) => clientId));
  const isOfApp = ({ clientId }: StoredStep): boolean => app === null || clientId === null || clientId === app;
  const known = new Set<string>();
  const open = [...families, ...start.flatMap(flowsOf)];
  for (let flow = open.pop(); flow !== undefined && known.size < MAX_FLOWS; flow = open.pop()) {
    if (known.has(flow)) continue;
    known.add(flow);
    const found = [...(yield* stepsAbout({ flow })), ...(yield* stepsLeadingTo({ flow }))];
    for (const step of found.filter(isOfApp)) {
      steps.set(step.id, step);
      open.push(...flowsOf(step));
    }
  }
  return [...steps.values()];
}

const flowsOf = ({ flow, leadsTo }: StoredStep): readonly string[] =>
  [flow, leadsTo].filter((name): name is string => name !== null);

/** The steps of one app, of those in the flows that a request took part in, in the order of recording. */
export function* stepsOfFlow(of: {
  readonly requestId: string;
  readonly clientId: string;
}): Work<readonly ListedStep[]> {
  const isOwn = ({ clientId }: StoredStep): boolean => clientId === of.clientId;
  const own = (yield* stepsOfRequest(of)).filter(isOwn);
  const found = own.length === 0 ? [] : (yield* connectedSteps(own, [])).filter(isOwn);
  return found.toSorted((a, b) => Number(BigInt(a.id) - BigInt(b.id))).map(listed);
}

interface TraceSearch {
  readonly now: number;
  /** For how long traces are kept, in milliseconds; null if none are recorded. */
  readonly retention: number | null;
}

/**
 * The trace of the flow that a request belongs to: the recorded steps, and from the audit trail what succeeds often.
 * @throws {Failure} `not found`, with how long traces are kept and where else to look
 */
export async function getTrace(database: Database, requestId: string, { now, retention }: TraceSearch): Promise<Trace> {
  const trace = await readTrace(database, requestId, now, retention ?? DAY);
  if (trace !== undefined) return trace;
  const kept =
    retention === null
      ? 'No traces are recorded: TESSERA_TRACE_RETENTION is off.'
      : `Traces are kept for ${retention === DAY ? 'a day' : `${retention / DAY} days`}, the newest ${RING_SIZES.proved} refusals and ${RING_SIZES.progress} completed steps of each app.`;
  throw notFound(
    `There is no trace of the request ${requestId}. ${kept} A new one takes up to a second to appear. ` +
      `Look in the log for this reqId, and in the audit trail with: tessera events --request ${requestId}`,
  );
}

/** @returns undefined if nothing is known of the request */
async function readTrace(
  database: Database,
  requestId: string,
  now: number,
  retention: number,
): Promise<Trace | undefined> {
  const since = iso(now - retention);
  const search = { order: 'desc', after: '0' } as const;
  const own = await database.read(() => stepsOfRequest({ requestId }));
  const events =
    own.length > 0 ? [] : await listEvents(database, { ...search, filter: { requestId, since }, limit: 10 });
  if (own.length === 0 && events.length === 0) return undefined;
  const stored = await database.read(() => connectedSteps(own, events.map(familyOfEvent).filter(isString)));

  const userId = firstOf([...stored.map(({ accountId }) => accountId), ...events.map((event) => event.userId)]);
  const families = new Set([
    ...stored.flatMap(flowsOf).filter(isFamily),
    ...events.map(familyOfEvent).filter(isString),
  ]);
  const hasEnded = own.some(({ facts }) => facts.reason === FAMILY_ENDED);
  const began = Math.min(now, ...stored.map(({ at }) => at)) - MINUTE;
  const ofFamilies =
    userId === null || families.size === 0
      ? []
      : await listEvents(database, {
          ...search,
          // What ended a family may have happened long after the steps of its flow, and long before this one.
          filter: { userId, type: 'token', since: stored.length === 0 || hasEnded ? since : iso(began) },
          limit: MAX_EVENTS,
        });
  const traced = new Set(stored.map((step) => step.requestId));
  const audited = [...ofFamilies.filter((event) => families.has(familyOfEvent(event) ?? '')), ...events].filter(
    (event) => event.requestId === null || !traced.has(event.requestId),
  );
  const steps = [
    ...stored.toSorted((a, b) => Number(BigInt(a.id) - BigInt(b.id))).map((step) => withEnding(step, ofFamilies)),
    ...new Map(audited.toReversed().map((event) => [event.id, fromEvent(event, stored)])).values(),
  ].sort((a, b) => a.at.localeCompare(b.at));
  const clientId = firstOf([
    ...steps.filter((step) => step.requestId === requestId).map((step) => step.clientId),
    ...steps.map((step) => step.clientId),
  ]);
  return { requestId, clientId, userId, steps };
}

const isString = (value: string | undefined): value is string => value !== undefined;
const firstOf = (ids: readonly (string | null)[]): string | null => ids.find((id) => id !== null) ?? null;

const detailOf = ({ details }: RecordedEvent, name: string): string | undefined => {
  const detail: unknown = typeof details === 'object' && details !== null && Reflect.get(details, name);
  return typeof detail === 'string' ? detail : undefined;
};
const familyOfEvent = (event: RecordedEvent): string | undefined => detailOf(event, 'familyId');

/** The events with which a token family ends, and the reason that is on its record then. */
const ENDINGS: Partial<Readonly<Record<RecordedEvent['type'], FamilyEnding>>> = {
  'token.revoked': 'token revoked',
  'token.code_replayed': 'code replayed',
  'token.refresh_reused': 'refresh token reused',
};

/** A step, with what ended its token family: the first of the events that did. */
function withEnding(step: StoredStep, events: readonly RecordedEvent[]): TraceStep {
  const shown = fromStored(step);
  if (shown.reason !== FAMILY_ENDED) return shown;
  const ending = events
    .filter((event) => event.at <= shown.at && familyOfEvent(event) === step.flow)
    .map((event) => ({ event, reason: ENDINGS[event.type] }))
    .findLast(({ reason }) => reason !== undefined);
  return { ...shown, ...(ending && explainEnding(ending.reason ?? null, ending.event)) };
}

/** A stored step as operators see it. */
const fromStored = ({ at, requestId, step, outcome, clientId, accountId, facts }: StoredStep): TraceStep => ({
  at: iso(at),
  requestId,
  step,
  outcome,
  clientId,
  userId: accountId,
  ...facts,
});

const listed = (step: StoredStep): ListedStep => ({ id: step.id, ...fromStored(step) });

/** A step in a list. */
export interface ListedStep extends TraceStep {
  readonly id: string;
}

/** Steps of all apps or of one, in the order of recording or reversed. */
export function* listSteps(search: Parameters<typeof stepsInOrder>[0]): Work<readonly ListedStep[]> {
  return (yield* stepsInOrder(search)).map(listed);
}

const STEPS: Partial<Readonly<Record<RecordedEvent['type'], StepName>>> = {
  'sign_in.succeeded': 'sign-in',
  'sign_in.failed': 'sign-in',
  'consent.granted': 'consent',
  'consent.denied': 'consent',
  'authorization.issued': 'code',
  'authorization.refused': 'authorize',
  'token.issued': 'token',
  'token.code_replayed': 'token',
  'token.refreshed': 'refresh',
  'token.repeated': 'refresh',
  'token.refresh_reused': 'refresh',
  'token.revoked': 'revocation',
};

/** An event of the audit trail as a step. What was said of the first tokens of a family is true of those of a refresh. */
function fromEvent(event: RecordedEvent, stored: readonly StoredStep[]): TraceStep {
  const familyId = familyOfEvent(event);
  const first =
    event.type === 'token.refreshed' && familyId !== undefined
      ? stored.find(({ step, outcome, leadsTo }) => step === 'token' && outcome === 'success' && leadsTo === familyId)
      : undefined;
  return {
    at: event.at,
    requestId: event.requestId,
    step: STEPS[event.type] ?? 'other',
    outcome: event.outcome,
    clientId: event.clientId,
    userId: event.userId,
    description: eventTypes[event.type],
    reason: detailOf(event, 'reason') ?? first?.facts.reason,
    remedy: first?.facts.remedy,
  };
}
