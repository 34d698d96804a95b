import type { Clock } from '../platform/clock.ts';
import { sharedFetches } from '../platform/http/shared-fetches.ts';

/** How long a copy of a document is kept, in milliseconds. */
export interface KeptSpans {
  /** It is used for this long without a question. */
  readonly fresh: number;
  /** Where it cannot be fetched again, it is used for this long. */
  readonly usable: number;
  /** After a request that failed or refreshed a fresh copy, none is made for this long. */
  readonly pause: number;
}

interface Kept<T> {
  readonly copy?: { readonly value: T; readonly at: number };
  /** When the last request was made that failed, or refreshed a fresh copy, */
  readonly pausedAt?: number;
  /** and why it failed. */
  readonly failure?: unknown;
}

/** How many documents are kept; the oldest one makes room. */
const MOST_KEPT = 1000;

/** Copies of documents by their address. Callers that need the same one at the same time share a request. */
export class KeptCopies<T> {
  readonly #read: (url: string) => Promise<T>;
  readonly #clock: Clock;
  readonly #spans: KeptSpans;
  readonly #kept = new Map<string, Kept<T>>();
  readonly #fetches = sharedFetches<T>(undefined);

  /** @param read fetches a document; what it throws is thrown again until the pause is over */
  constructor(read: (url: string) => Promise<T>, clock: Clock, spans: KeptSpans) {
    this.#read = read;
    this.#clock = clock;
    this.#spans = spans;
  }

  /** @param refresh whether what a fresh copy says does not suffice, as where a key is unknown */
  async get(url: string, refresh = false): Promise<T> {
    const { copy, pausedAt, failure } = this.#kept.get(url) ?? {};
    const isPaused = pausedAt !== undefined && Math.abs(this.#clock() - pausedAt) < this.#spans.pause;
    const age = copy === undefined ? Number.POSITIVE_INFINITY : Math.abs(this.#clock() - copy.at);
    if (copy !== undefined && age < this.#spans.fresh && (!refresh || isPaused)) return copy.value;
    const usable = copy !== undefined && age < this.#spans.usable ? copy : undefined;
    if (isPaused && failure !== undefined) {
      if (usable !== undefined) return usable.value;
      throw failure;
    }
    try {
      return await this.#share(url, refresh && copy !== undefined);
    } catch (error) {
      if (usable !== undefined) return usable.value;
      throw error;
    }
  }

  #share(url: string, isRefresh: boolean): Promise<T> {
    const read = () =>
      this.#read(url).then(
        (value) => {
          const at = this.#clock();
          this.#keep(url, { copy: { value, at }, ...(isRefresh && { pausedAt: at }) });
          return value;
        },
        (error: unknown) => {
          this.#keep(url, { ...this.#kept.get(url), pausedAt: this.#clock(), failure: error });
          throw error;
        },
      );
    // Without bounds it always begins.
    return this.#fetches.fetch(url, read) ?? read();
  }

  #keep(url: string, kept: Kept<T>): void {
    this.#kept.delete(url);
    this.#kept.set(url, kept);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > MOST_KEPT && oldest !== undefined) this.#kept.delete(oldest);
  }
}
