import type { LogFacts, LogLineLevel } from '../../log.ts';

/** A period in which the store does not answer, or accepts no writes. */
export interface Outage {
  readonly beganAt: number;
  /** When something last failed because of it, and when it was last logged. */
  readonly failedAt: number;
  readonly loggedAt: number;
  /** The number of refused requests: in total, and since the last log line. */
  readonly refused: number;
  readonly refusedSinceLog: number;
  /** The distinct causes: in total, and since the last log line. */
  readonly causes: readonly string[];
  readonly newCauses: readonly string[];
}

/** `failed`: the store failed a request or background work. `passed`: time passed. */
export type OutageEvent =
  | { readonly kind: 'failed'; readonly refused: boolean; readonly cause: string }
  | { readonly kind: 'passed' };

type OutageMessage =
  | 'the store is unavailable: requests that need it are refused'
  | 'the store is still unavailable'
  | 'the store is available again'
  | 'no failure of the store for 30 seconds';

export interface OutageLine {
  readonly level: LogLineLevel<OutageMessage>;
  readonly message: OutageMessage;
  readonly facts: LogFacts<OutageMessage>;
}

const LOG_INTERVAL = 60_000;
/** An outage is over once nothing has failed for this long, so that an unstable store starts at most two outages a minute. */
const QUIET_PERIOD = 30_000;
const MOST_CAUSES = 8;

const seconds = (milliseconds: number): number => Math.round(milliseconds / 1000);

const withCause = (causes: readonly string[], cause: string): readonly string[] =>
  causes.includes(cause) || causes.length >= MOST_CAUSES ? causes : [...causes, cause];

/** The state of an outage after an event, and the line to log, if any: at most one a minute while it lasts. */
export function afterEvent(
  before: Outage | undefined,
  event: OutageEvent,
  now: number,
): { readonly outage: Outage | undefined; readonly line?: OutageLine } {
  if (before === undefined) return event.kind === 'failed' ? started(event, now) : { outage: undefined };
  const outage = event.kind === 'failed' ? withFailure(before, event, now) : notAfter(before, now);
  if (now - outage.failedAt >= QUIET_PERIOD) return { outage: undefined, line: endLine(outage) };
  if (now - outage.loggedAt < LOG_INTERVAL) return { outage };
  return { outage: { ...outage, loggedAt: now, refusedSinceLog: 0, newCauses: [] }, line: ongoingLine(outage, now) };
}

function started({ refused, cause }: OutageEvent & { kind: 'failed' }, now: number) {
  const facts = { causes: [cause] };
  return {
    outage: {
      beganAt: now,
      failedAt: now,
      loggedAt: now,
      refused: Number(refused),
      refusedSinceLog: Number(refused),
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
    refusedSinceLog: before.refusedSinceLog + Number(refused),
    causes: withCause(before.causes, cause),
    newCauses: withCause(before.newCauses, cause),
  };
}

/** Keeps a clock that was set back from delaying log lines. */
const notAfter = (outage: Outage, now: number): Outage => ({
  ...outage,
  beganAt: Math.min(outage.beganAt, now),
  failedAt: Math.min(outage.failedAt, now),
  loggedAt: Math.min(outage.loggedAt, now),
});

function ongoingLine({ beganAt, refusedSinceLog, newCauses, causes }: Outage, now: number): OutageLine {
  const facts = {
    seconds: seconds(now - beganAt),
    refused: refusedSinceLog,
    causes: newCauses.length > 0 ? newCauses : causes,
  };
  return { level: 'error', message: 'the store is still unavailable', facts };
}

function endLine({ beganAt, failedAt, refused, causes }: Outage): OutageLine {
  const facts = { seconds: seconds(failedAt - beganAt), refused, causes };
  // Without requests, recovery is not certain: work that runs once a minute may fail again the next time.
  const message = refused > 0 ? 'the store is available again' : 'no failure of the store for 30 seconds';
  return { level: 'warn', message, facts };
}
