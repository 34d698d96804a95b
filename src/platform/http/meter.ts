/** An answered request, with labels from a bounded set: the route's pattern, never the URL. */
export interface AnsweredRequest {
  readonly method: string;
  readonly route: string;
  readonly status: number;
  readonly seconds: number;
  readonly refusal: { readonly code: string; readonly reason?: string | undefined } | null;
}

/** The result of one attempt to notify an app of an ended session: `unanswered` is tried again, `failed` was the last attempt. */
export type NoticeOutcome = 'delivered' | 'unanswered' | 'failed';

/** The result of asking whether a password was published in a breach; `skipped` where too many were being asked about. */
export type BreachCheckOutcome = 'clear' | 'breached' | 'failed' | 'skipped';

/** The result of one attempt to send a message: `retried` is tried again, `dead` was the last attempt, `expired` came too late. */
export type MailOutcome = 'sent' | 'retried' | 'dead' | 'expired';

/** Why a span of a trace did not reach the collector, and how an export of telemetry ended. */
export type DroppedSpans = 'queue full' | 'not accepted';
export type ExportOutcome = 'accepted' | 'failed';

/** Counts what the service does. */
export interface Meter {
  answered(request: AnsweredRequest): void;
  /** A request was refused because the store is unavailable. */
  refusedForStore(): void;
  /** An attempt to notify an app of an ended session. */
  notified(outcome: NoticeOutcome): void;
  /** An attempt to send a message. */
  mailed(kind: string, outcome: MailOutcome): void;
  /** Steps of traces were dropped, because too many came at once or they could not be stored. */
  droppedSteps(count: number): void;
  /** A new password was looked for in breaches. */
  checkedBreaches(outcome: BreachCheckOutcome): void;
  /** Spans of traces were dropped. */
  droppedSpans(reason: DroppedSpans, count: number): void;
  /** An attempt to send traces or metrics to the collector. */
  exported(signal: 'traces' | 'metrics', outcome: ExportOutcome): void;
}

/** Counts nothing, where no metrics are served. */
export const unmetered: Meter = {
  answered: () => {},
  refusedForStore: () => {},
  notified: () => {},
  mailed: () => {},
  droppedSteps: () => {},
  checkedBreaches: () => {},
  droppedSpans: () => {},
  exported: () => {},
};
