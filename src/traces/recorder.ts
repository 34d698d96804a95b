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
  refused(step: RefusedStep): void;
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

/** How many steps were admitted since the last second began. */
const noneAdmitted = () => ({
  /** The refusals that wait. */
  refusals: 0,
  firstAnswers: 0,
  firstRefusals: 0,
  withToken: 0,
  unproved: 0,
  ofAddress: new Map<string, number>(),
});

/**
 * Records steps in the background: a request only adds to a queue, which is stored once a second in few commits. Steps beyond the bounds
 * are dropped and counted. During an outage of the store the queue waits.
 */
class Recorder implements TraceRecorder {
  /** One array, so that steps of the same millisecond keep their order. */
  readonly completed: WaitingStep[] = [];
  readonly #options: RecorderOptions;
  readonly #read = new Set<string>();
  /** The kinds of refusals that apps had lately. */
  readonly #kinds = new Set<string>();
  #kindsSince = 0;
  readonly #timer = setInterval(() => void this.flush(), SECOND).unref();
  #admitted = noneAdmitted();
  #storing: Promise<void> | undefined;
  /** The one after that, which stores what has come meanwhile. */
  #next: Promise<void> | undefined;
  #stopped = false;

  constructor(options: RecorderOptions) {
    this.#options = options;
  }

  refused(step: RefusedStep): void {
    if (this.#stopped) return;
    const share = this.#isFirstOfKind(step) ? 'first' : shareOf(step);
    if (share === 'first' || this.#isAdmitted(share, step))
      this.completed.push({ at: this.#options.clock(), ...step, share });
    else this.#options.dropped(1);
  }

  isFirstAnswer(familyId: string): boolean {
    if (this.#admitted.firstAnswers >= MAX_FIRST_ANSWERS || this.#read.has(familyId)) return false;
    this.#admitted.firstAnswers++;
    this.#read.add(familyId);
    return true;
  }

  /**
   * One after the other: a caller that waits for the queue waits for the commits that are under way, too. At most one waits behind them,
   * or a database that answers nothing would keep a stop for as long as it has been away.
   */
  flush(): Promise<void> {
    if (this.#storing !== undefined) {
      this.#next ??= this.#storing.then(() => {
        this.#next = undefined;
        return this.flush();
      });
      return this.#next;
    }
    this.#storing = this.#storeAll().finally(() => {
      this.#storing = undefined;
    });
    return this.#storing;
  }

  stop(): Promise<void> {
    clearInterval(this.#timer);
    const last = this.flush();
    this.#stopped = true;
    return last;
  }

  /** Whether an app had no refusal of this kind lately: it has a ring of its own, so that no flood of another kind displaces it. */
  #isFirstOfKind({ clientId = null, proof, step, facts: { error, reason, rule } }: RefusedStep): boolean {
    const { clock } = this.#options;
    if (clientId === null || this.#admitted.firstRefusals >= MAX_FIRST_REFUSALS) return false;
    if (this.#kinds.size > MAX_READ || clock() - this.#kindsSince > KIND_REMEMBERED) {
      this.#kinds.clear();
      this.#kindsSince = clock();
    }
    const kind = [clientId, proof ?? 'none', step, error, reason ?? rule].join(' ');
    if (this.#kinds.has(kind)) return false;
    this.#kinds.add(kind);
    this.#admitted.firstRefusals++;
    this.#admitted.refusals++;
    return true;
  }

  #isAdmitted(share: TraceShare, { address = null }: RefusedStep): boolean {
    const admitted = this.#admitted;
    if (admitted.refusals >= MAX_WAITING) return false;
    if (share === 'proved') {
      admitted.refusals++;
      return true;
    }
    const hasToken = share === 'token';
    const bucket = `${hasToken ? 'token ' : ''}${addressBucket(address)}`;
    const count = admitted.ofAddress.get(bucket) ?? 0;
    if (hasToken ? admitted.withToken >= MAX_WITH_TOKEN : admitted.unproved >= MAX_UNPROVED) return false;
    if (count >= MAX_OF_ADDRESS) return false;
    admitted.refusals++;
    if (hasToken) admitted.withToken++;
    else admitted.unproved++;
    admitted.ofAddress.set(bucket, count + 1);
    return true;
  }

  async #storeAll(): Promise<void> {
    const { dropped, failed } = this.#options;
    const waiting = this.#withoutExcess(this.completed.splice(0));
    this.#admitted = noneAdmitted();
    if (this.#read.size > MAX_READ) this.#read.clear();
    while (waiting.length > 0) {
      const batch = waiting.slice(0, BATCH).map(toStore);
      try {
        await this.#store(batch);
        waiting.splice(0, BATCH);
      } catch (error) {
        if (error instanceof StoreUnavailable) {
          dropped(waiting.splice(Math.max(0, MAX_WAITING - this.completed.length)).length);
          this.completed.unshift(...waiting);
          this.#admitted.refusals = this.completed.filter(({ share }) => share !== undefined).length;
          return;
        }
        failed(error);
        dropped(waiting.splice(0, BATCH).length);
      }
    }
  }

  /** Refusals are all kept; of many completed steps, the first. */
  #withoutExcess(steps: readonly WaitingStep[]): WaitingStep[] {
    let room = MAX_COMPLETED;
    const kept = steps.filter(({ share }) => share !== undefined || room-- > 0);
    if (kept.length < steps.length) this.#options.dropped(steps.length - kept.length);
    return kept;
  }

  /** Accounts are rarely deleted within a second, so whether they still exist is only checked where that may have happened. */
  async #store(batch: readonly QueuedStep[]): Promise<void> {
    const { database } = this.#options;
    try {
      await database.commit(() => insertSteps(batch, false));
    } catch (error) {
      if (error instanceof StoreUnavailable) throw error;
      await database.commit(() => insertSteps(batch, true));
    }
  }
}

export const createTraceRecorder = (options: RecorderOptions): TraceRecorder => new Recorder(options);

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
