/** One answered request, in words that are bounded in number: the route's pattern, never its address. */
export interface Answered {
  readonly method: string;
  readonly route: string;
  readonly status: number;
  readonly seconds: number;
  readonly refusal: { readonly code: string; readonly reason?: string | undefined } | null;
}

/** How a try to tell an app of an ended session went: `unanswered` is tried again, `failed` was the last. */
export type NoticeOutcome = 'delivered' | 'unanswered' | 'failed';

/** What the service counts about itself. */
export interface Meter {
  answered(answer: Answered): void;
  /** A request was refused since the store is unavailable. */
  refusedForStore(): void;
  /** One try to tell an app of an ended session. */
  notified(outcome: NoticeOutcome): void;
}

/** Where nobody reads the figures, none are kept. */
export const unmetered: Meter = {
  answered: () => {},
  refusedForStore: () => {},
  notified: () => {},
};
