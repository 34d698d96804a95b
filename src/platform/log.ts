/** The levels that lines are written at: see `TESSERA_LOG_LEVEL`. */
type LineLevel = 'debug' | 'info' | 'warn' | 'error';

/** Every field of a log line with its meaning, as listed in docs/reference/logs.md. */
export const logFields = {
  level: 'The level as a number: 20 `debug`, 30 `info`, 40 `warn`, 50 `error`.',
  time: 'When the line was written, in milliseconds since 1970-01-01 UTC.',
  pid: 'The process that wrote the line. Of several that share the port, each has its own.',
  hostname: 'The machine.',
  msg: 'What happened: one of the lines below.',
  reqId:
    'The correlation id of the request, which its answer has in `x-request-id`. The audit trail and `tessera explain` know it, too.',
  trace_id:
    'The trace of the request, where [telemetry](../how-to/observe.md) is on: also of one that was not sampled. Named as OpenTelemetry does.',
  method: 'The method of the request.',
  route: 'The pattern of the route, such as `/api/v2/admin/users/:userId`, or `none`. Never the URL.',
  status: 'The status of the answer.',
  ms: 'How long the request took, in milliseconds.',
  error: 'The [code](errors.md) of a refusal.',
  reason: 'What was wrong, from a bounded set; the caller may have learned less.',
  description:
    'The description that the caller got, where there is no `reason`, with everything masked that looks like a secret.',
  client: 'The id of the client that the request is about.',
  address: 'The address of the caller, as far as `TESSERA_TRUST_PROXY` lets it be known.',
  path: 'The path of a request that no route serves, with its long or unusual segments masked.',
  differs: 'The parts in which a redirect URI differs from the closest registered one.',
  err: 'An error of the program or of the database: `type`, `message`, `stack` and, where there is one, `code`.',
  signal: 'What the collector did not take: `traces` or `metrics`.',
  cause: 'Why, in one line.',
  causes: 'Up to eight distinct messages of the database.',
  process: 'The process that the line is about.',
  ended: 'How it ended: the status, or the signal.',
  delay: 'In how many seconds another one is started.',
  seconds: 'How long an outage has lasted.',
  keys: 'The ids of admin keys.',
  dropped: 'How many lines were dropped.',
  refused: 'How many requests were refused because of an outage: since the line before, and in the last line in total.',
} as const satisfies Readonly<Record<string, string>>;

/** What the logger adds to each line by itself. */
export const fieldsOfEveryLine = ['level', 'time', 'pid', 'hostname', 'msg'] as const;

interface LogLine {
  readonly levels: readonly LineLevel[];
  /** Those beside {@link fieldsOfEveryLine}; one that does not apply is left out. */
  readonly fields: readonly (keyof typeof logFields)[];
  readonly about: string;
}

/** Every log line with its fields: a line or a field that is not declared here cannot be written. */
export const logLines = {
  'a TLS handshake came to the HTTP port': {
    levels: ['warn'],
    fields: [],
    about:
      'A client was given an https address of the HTTP port: give it the http address, or one of a proxy that ends TLS. Written once.',
  },
  answered: {
    levels: ['debug', 'info', 'error'],
    fields: [
      ...(['reqId', 'trace_id', 'method', 'route', 'status', 'ms', 'error', 'reason', 'description'] as const),
      ...(['client', 'address', 'path', 'differs'] as const),
    ],
    about:
      'A request was answered: `debug` for a success, and for a refusal during an outage; `info` for another refusal, which alone has `error` and the fields after it; `error` for an internal error.',
  },
  'the answer to a request with an Idempotency-Key was not kept': {
    levels: ['warn'],
    fields: ['reqId', 'trace_id', 'err'],
    about: 'What the request asked for is done. The same request once more gets 409 instead of the answer.',
  },
  'a page cannot read the answer': {
    levels: ['info'],
    fields: ['reqId', 'trace_id', 'reason'],
    about: 'A web page sent the request, and its browser keeps the answer from it.',
  },
  'internal error': {
    levels: ['error'],
    fields: ['reqId', 'trace_id', 'err'],
    about: 'A request failed in a way that Tessera does not know. The caller got the correlation id alone.',
  },
  'an authorization request failed': {
    levels: ['error'],
    fields: ['reqId', 'trace_id', 'err'],
    about: 'The same, in an authorization: the app got `server_error` with the correlation id.',
  },
  'the store is unavailable': {
    levels: ['debug'],
    fields: ['reqId', 'trace_id', 'err'],
    about: 'A request was refused because the database did not answer. The outage is logged as a whole, too.',
  },
  'a clock is wrong': {
    levels: ['debug'],
    fields: ['reqId', 'trace_id', 'err'],
    about: 'A request was refused because this node’s clock and the database’s are too far apart.',
  },
  'the store is unavailable: requests that need it are refused': {
    levels: ['error'],
    fields: ['causes'],
    about: 'An outage of the database began.',
  },
  'the store is still unavailable': {
    levels: ['error'],
    fields: ['seconds', 'refused', 'causes'],
    about: 'It lasts: once a minute.',
  },
  'the store is available again': {
    levels: ['warn'],
    fields: ['seconds', 'refused', 'causes'],
    about: 'It is over: nothing has failed for 30 seconds.',
  },
  'no failure of the store for 30 seconds': {
    levels: ['warn'],
    fields: ['seconds', 'refused', 'causes'],
    about: 'The same, where no request came that could have failed.',
  },
  'admin keys without a role have every right: replace them by tessera admin-key create --role': {
    levels: ['warn'],
    fields: ['keys'],
    about: 'At each start: keys of an earlier version, which had no roles, and the key in `TESSERA_ADMIN_KEY`.',
  },
  'mail is off, and with it what needs mail: set TESSERA_SMTP_URL': {
    levels: ['warn'],
    fields: [],
    about: 'Written once, at the start.',
  },
  'the collector does not take telemetry': {
    levels: ['warn'],
    fields: ['signal', 'cause'],
    about:
      'An export by OTLP failed, and the one before had not. Requests are not affected; what does not fit the queue is dropped and counted.',
  },
  'the collector takes telemetry again': {
    levels: ['info'],
    fields: ['signal'],
    about: 'The next one that succeeded.',
  },
  'a process ended and is replaced': {
    levels: ['error'],
    fields: ['process', 'ended', 'delay'],
    about:
      'One of the processes that share the port ended without having been told to. The others go on; connections to it are lost, and nothing that was acknowledged.',
  },
  'a process hangs and is killed': {
    levels: ['error'],
    fields: ['process'],
    about: 'One of the processes that share the port has not answered its supervisor for a minute. It is replaced.',
  },
  'a process took the place of another': {
    levels: ['info'],
    fields: ['process'],
    about: 'It serves.',
  },
  'lines of the log were dropped': {
    levels: ['warn'],
    fields: ['dropped'],
    about:
      'The disk of the log was full, or nobody read it: more lines came than could wait. Written when there is room again. Requests are not affected.',
  },
  housekeeping: {
    levels: ['error'],
    fields: ['err'],
    about: 'Removing what has ended failed; it is tried again in a minute.',
  },
  'the node number': {
    levels: ['error'],
    fields: ['err'],
    about: 'The lease of the node number, which ids are made with, could not be renewed; it is tried again.',
  },
  'notices of ended sessions': {
    levels: ['error'],
    fields: ['err'],
    about: 'Back-channel logout failed inside Tessera, not at an app; it is tried again.',
  },
  mail: { levels: ['error'], fields: ['err'], about: 'Sending mail failed inside Tessera, not at the mail server.' },
  'messages that were asked for': {
    levels: ['error'],
    fields: ['err'],
    about: 'Making a message that a person asked for failed; it is tried again.',
  },
  exports: { levels: ['error'], fields: ['err'], about: 'Making a copy of a person’s data failed; it is tried again.' },
  'acts on many people': {
    levels: ['error'],
    fields: ['err'],
    about: 'An act of an operator on many people failed for one of them, or waits for the database.',
  },
  'the steps of traces': {
    levels: ['error'],
    fields: ['err'],
    about: 'Steps for `tessera explain` could not be stored.',
  },
} as const satisfies Readonly<Record<string, LogLine>>;

export type LogMessage = keyof typeof logLines;

/** The level that a line may have. */
export type LogLineLevel<M extends LogMessage> = (typeof logLines)[M]['levels'][number];

/** The fields of a line. An undefined one is left out. */
export type LogFacts<M extends LogMessage> = {
  readonly [field in (typeof logLines)[M]['fields'][number]]?: unknown;
};

type Logger = Readonly<Record<LineLevel, (facts: object, message: string) => void>>;

/** Writes a log line. No other file does, so that every line and every field of it is documented. */
export function logLine<M extends LogMessage>(
  logger: Logger,
  level: LogLineLevel<M>,
  message: M,
  facts: LogFacts<M>,
): void {
  logger[level](facts, message);
}

/** The number of each level. */
const NUMBERS: Readonly<Record<LineLevel, number>> = { error: 50, warn: 40, info: 30, debug: 20 };

/** The least number that a level of `TESSERA_LOG_LEVEL` writes. */
const LEAST: Readonly<Record<string, number>> = { trace: 10, debug: 20, info: 30, warn: 40, error: 50, fatal: 60 };

/**
 * A logger for a process without an HTTP server, whose logger is the server's. The lines have the same form.
 * @param level the level from which lines are written; `silent` writes none
 */
export function plainLogger(
  level: string,
  every: { readonly pid: number; readonly hostname: string; readonly clock: () => number },
  write: (line: string) => void,
): Logger {
  const { clock, ...process } = every;
  const writeAt =
    (number: number) =>
    (facts: object, msg: string): void => {
      if (number < (LEAST[level] ?? Number.POSITIVE_INFINITY)) return;
      write(`${JSON.stringify({ level: number, time: clock(), ...process, ...facts, msg })}\n`);
    };
  return {
    error: writeAt(NUMBERS.error),
    warn: writeAt(NUMBERS.warn),
    info: writeAt(NUMBERS.info),
    debug: writeAt(NUMBERS.debug),
  };
}
