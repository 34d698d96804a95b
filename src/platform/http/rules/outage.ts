/** A time in which the store does not answer, or takes no writes. */
export interface Outage {
  readonly beganAt: number;
  /** When something last failed for it, and when the log last told of it. */
  readonly failedAt: number;
  readonly toldAt: number;
  /** Requests that were refused: in all, and since the log last told of it. */
  readonly refused: number;
  readonly untold: number;
  /** Why, each cause once: in all, and since the log last told of it. */
  readonly causes: readonly string[];
  readonly newCauses: readonly string[];
}

/** `failed`: a request was refused for the store, or work beside the requests left undone. `passed`: some time went by. */
export type OutageEvent =
  | { readonly kind: 'failed'; readonly refused: boolean; readonly cause: string }
  | { readonly kind: 'passed' };

export interface OutageLine {
  readonly level: 'error' | 'warn';
  readonly message: string;
  readonly facts: Readonly<Record<string, unknown>>;
}

const EVERY = 60_000;
/** An outage is over when nothing has failed for so long: a store that comes and goes begins two in a minute at most. */
const QUIET = 30_000;
const MOST_CAUSES = 8;

const seconds = (milliseconds: number): number => Math.round(milliseconds / 1000);

const withCause = (causes: readonly string[], cause: string): readonly string[] =>
  causes.includes(cause) || causes.length >= MOST_CAUSES ? causes : [...causes, cause];

/** What an event makes of an outage, or of there being none, and the line that the log gets of it: one in a minute while it lasts. */
export function afterEvent(
  before: Outage | undefined,
  event: OutageEvent,
  now: number,
): { readonly outage: Outage | undefined; readonly line?: OutageLine } {
  if (before === undefined) return event.kind === 'failed' ? begun(event, now) : { outage: undefined };
  const outage = event.kind === 'failed' ? withFailure(before, event, now) : notAfter(before, now);
  if (now - outage.failedAt >= QUIET) return { outage: undefined, line: over(outage) };
  if (now - outage.toldAt < EVERY) return { outage };
  return { outage: { ...outage, toldAt: now, untold: 0, newCauses: [] }, line: lasting(outage, now) };
}

function begun({ refused, cause }: OutageEvent & { kind: 'failed' }, now: number) {
  const facts = { causes: [cause] };
  return {
    outage: {
      beganAt: now,
      failedAt: now,
      toldAt: now,
      refused: Number(refused),
      untold: Number(refused),
      causes: [cause],
      newCauses: [],
    },
    line: { level: 'error', message: 'the store is unavailable: requests that need it are refused', facts },
  } as const;
}

function withFailure(before: Outage, { refused, cause }: OutageEvent & { kind: 'failed' }, now: number): Outage {
  return {
    ...notAfter(before, now),
    failedAt: now,
    refused: before.refused + Number(refused),
    untold: before.untold + Number(refused),
    causes: withCause(before.causes, cause),
    newCauses: withCause(before.newCauses, cause),
  };
}

/** A clock that was set back must not keep the log from telling. */
const notAfter = (outage: Outage, now: number): Outage => ({
  ...outage,
  beganAt: Math.min(outage.beganAt, now),
  failedAt: Math.min(outage.failedAt, now),
  toldAt: Math.min(outage.toldAt, now),
});

function lasting({ beganAt, untold, newCauses, causes }: Outage, now: number): OutageLine {
  const facts = { seconds: seconds(now - beganAt), refused: untold, causes: newCauses.length > 0 ? newCauses : causes };
  return { level: 'error', message: 'the store is still unavailable', facts };
}

function over({ beganAt, failedAt, refused, causes }: Outage): OutageLine {
  const facts = { seconds: seconds(failedAt - beganAt), refused, causes };
  // Work that is done once a minute may fail again the next time: that no request was refused says nothing of it.
  const message =
    refused > 0 ? 'the store is available again' : `no failure of the store for ${seconds(QUIET)} seconds`;
  return { level: 'warn', message, facts };
}
