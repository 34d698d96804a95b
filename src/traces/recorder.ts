import { type Clock, MINUTE, SECOND } from '../platform/clock.ts';
import { type Database, StoreUnavailable } from '../platform/database/database.ts';
import { masked } from '../platform/masking.ts';
import { addressBucket } from '../platform/validation/origin.ts';
import { type CompletedStep, type RefusedStep, type StepFacts, storedFlow } from './step.ts';
import { insertSteps, type QueuedStep, type TraceShare } from './trace-store.ts';

/** How many refusals wait at most. */
const MAX_WAITING = 1000;
/** How many of these may come from callers that are no authenticated client: with a token, with neither; and from one address. */
const MAX_WITH_TOKEN = 250;
const MAX_UNPROVED = 500;
const MAX_OF_ADDRESS = 200;
/** How many completed steps are stored at a time, which is once a second: a ring would soon be replaced by more. */
const MAX_COMPLETED = 200;
/** How many steps one commit stores, so that requests are handled in between. */
const BATCH = 100;
/** How many families are remembered, and how many of them are recorded in a second. */
const MAX_READ = 10_000;
const MAX_FIRST_ANSWERS = 50;
/** How many first refusals of a kind are stored in a second, and for how long a kind is remembered. */
const MAX_FIRST_REFUSALS = 100;
const KIND_REMEMBERED = 10 * MINUTE;

export interface TraceRecorder {
  /**
   * Takes the steps that were completed. Each follows a commit of its request, or {@link isFirstAnswer}, which bounds them; a plain
   * array costs the request next to nothing.
   */
  readonly completed: Pick<CompletedStep[], 'push'>;
  /**
   * Whether an answer of UserInfo is the first one of a family, as far as this node remembers, and is to be recorded. Later answers
   * tell nothing new, and are many; once there were enough first ones in a second, none is recorded until the next.
   */
  isFirstAnswer(familyId: string): boolean;
  /** Queues a refusal. */
  readonly refused: (step: RefusedStep) => void;
  /** Stores the steps that wait. */
  flush(): Promise<void>;
  /** Stores the steps that wait, and records no more. */
  stop(): Promise<void>;
}

export interface RecorderOptions {
  readonly database: Pick<Database, 'commit'>;
  /** A clock that never throws. */
  readonly clock: Clock;
  /** Called with how many steps were dropped, because too many came at once or could not be stored. */
  readonly dropped: (steps: number) => void;
  readonly failed: (error: unknown) => void;
}

/** A completed step, or a refused one with its share. */
type WaitingStep = CompletedStep & { readonly share?: TraceShare };

/**
 * Records steps in the background: a request only adds to a queue, which is stored once a second in few commits. Steps beyond the bounds
 * are dropped and counted. During an outage of the store the queue waits.
 */
export function createTraceRecorder({ database, clock, dropped, failed }: RecorderOptions): TraceRecorder {
  const read = new Set<string>();
  /** One array, so that steps of the same millisecond keep their order. */
  const queue: WaitingStep[] = [];
  /** The refusals that wait. */
  let refusals = 0;
  let firstAnswers = 0;
  const kinds = new Set<string>();
  let kindsSince = 0;
  let firstRefusals = 0;
  let withToken = 0;
  let unproved = 0;
  let ofAddress = new Map<string, number>();
  let storing: Promise<void> | undefined;
  /** The one after that, which stores what has come meanwhile. */
  let next: Promise<void> | undefined;
  let stopped = false;
  const timer = setInterval(() => void flush(), SECOND).unref();

  function refused(step: RefusedStep): void {
    if (stopped) return;
    const share = isFirstOfKind(step) ? 'first' : shareOf(step);
    if (share === 'first' || isAdmitted(share, step)) queue.push({ at: clock(), ...step, share });
    else dropped(1);
  }

  /** Whether an app had no refusal of this kind lately: it has a ring of its own, so that no flood of another kind displaces it. */
  function isFirstOfKind({ clientId = null, proof, step, facts: { error, reason, rule } }: RefusedStep): boolean {
    if (clientId === null || firstRefusals >= MAX_FIRST_REFUSALS) return false;
    if (kinds.size > MAX_READ || clock() - kindsSince > KIND_REMEMBERED) {
      kinds.clear();
      kindsSince = clock();
    }
    const kind = [clientId, proof ?? 'none', step, error, reason ?? rule].join(' ');
    if (kinds.has(kind)) return false;
    kinds.add(kind);
    firstRefusals++;
    refusals++;
    return true;
  }

  function isAdmitted(share: TraceShare, { address = null }: RefusedStep): boolean {
    if (refusals >= MAX_WAITING) return false;
    if (share === 'proved') {
      refusals++;
      return true;
    }
    const hasToken = share === 'token';
    const bucket = `${hasToken ? 'token ' : ''}${addressBucket(address)}`;
    const count = ofAddress.get(bucket) ?? 0;
    if (hasToken ? withToken >= MAX_WITH_TOKEN : unproved >= MAX_UNPROVED) return false;
    if (count >= MAX_OF_ADDRESS) return false;
    refusals++;
    if (hasToken) withToken++;
    else unproved++;
    ofAddress.set(bucket, count + 1);
    return true;
  }

  function isFirstAnswer(familyId: string): boolean {
    if (firstAnswers >= MAX_FIRST_ANSWERS || read.has(familyId)) return false;
    firstAnswers++;
    read.add(familyId);
    return true;
  }

  /**
   * One after the other: a caller that waits for the queue waits for the commits that are under way, too. At most one waits behind them,
   * or a database that answers nothing would keep a stop for as long as it has been away.
   */
  function flush(): Promise<void> {
    if (storing !== undefined) {
      next ??= storing.then(() => {
        next = undefined;
        return flush();
      });
      return next;
    }
    storing = storeAll().finally(() => {
      storing = undefined;
    });
    return storing;
  }

  async function storeAll(): Promise<void> {
    const waiting = withoutExcess(queue.splice(0));
    refusals = 0;
    firstAnswers = 0;
    firstRefusals = 0;
    withToken = 0;
    unproved = 0;
    ofAddress = new Map();
    if (read.size > MAX_READ) read.clear();
    while (waiting.length > 0) {
      const batch = waiting.slice(0, BATCH).map(toStore);
      try {
        await store(batch);
        waiting.splice(0, BATCH);
      } catch (error) {
        if (error instanceof StoreUnavailable) {
          dropped(waiting.splice(Math.max(0, MAX_WAITING - queue.length)).length);
          queue.unshift(...waiting);
          refusals = queue.filter(({ share }) => share !== undefined).length;
          return;
        }
        failed(error);
        dropped(waiting.splice(0, BATCH).length);
      }
    }
  }

  /** Refusals are all kept; of many completed steps, the first. */
  function withoutExcess(steps: WaitingStep[]): WaitingStep[] {
    let room = MAX_COMPLETED;
    const kept = steps.filter(({ share }) => share !== undefined || room-- > 0);
    if (kept.length < steps.length) dropped(steps.length - kept.length);
    return kept;
  }

  /** Accounts are rarely deleted within a second, so whether they still exist is only checked where that may have happened. */
  async function store(batch: readonly QueuedStep[]): Promise<void> {
    try {
      await database.commit(() => insertSteps(batch, false));
    } catch (error) {
      if (error instanceof StoreUnavailable) throw error;
      await database.commit(() => insertSteps(batch, true));
    }
  }

  return {
    completed: queue,
    isFirstAnswer,
    refused,
    flush,
    stop() {
      clearInterval(timer);
      const last = flush();
      stopped = true;
      return last;
    },
  };
}

/** Records nothing, where no traces are kept. */
export const untraced: TraceRecorder = {
  completed: { push: () => 0 },
  isFirstAnswer: () => false,
  refused: () => {},
  flush: async () => {},
  stop: async () => {},
};

function shareOf({ proof, clientId = null, step }: RefusedStep): TraceShare {
  if (proof === 'client') return 'proved';
  if (proof === 'token') return 'token';
  // What scanners ask for must not displace the steps of an endpoint.
  return clientId === null && step === 'other' ? 'elsewhere' : 'named';
}

const toStore = ({ share, ...step }: WaitingStep): QueuedStep => ({
  at: step.at,
  requestId: step.requestId ?? '',
  clientId: step.clientId ?? null,
  accountId: step.accountId ?? null,
  step: step.step,
  outcome: share === undefined ? 'success' : 'failure',
  flow: storedFlow(step.flow),
  leadsTo: storedFlow(step.leadsTo),
  facts: share === undefined ? completedFacts(step.facts) : maskedFacts(step.facts),
  share: share ?? 'progress',
});

/** The facts of a completed step are made of registered URIs and scopes, except what was sent and what was ignored. */
const completedFacts = ({ sent, ignored, ...facts }: StepFacts): StepFacts => ({
  ...facts,
  ...(sent !== undefined && { sent: masked(sent) }),
  ...(ignored !== undefined && { ignored: masked(ignored) }),
});

const maskedFacts = (facts: StepFacts): StepFacts =>
  Object.fromEntries(
    Object.entries(facts)
      .filter(([, fact]) => fact !== undefined)
      .map(([name, fact]) => [name, typeof fact === 'string' ? masked(fact) : fact]),
  );
