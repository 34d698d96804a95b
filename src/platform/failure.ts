/** The stable code of each kind of failure, as the API and `tessera --json` name it. */
const CODES = {
  invalid: 'invalid_request',
  'too large': 'invalid_request',
  'unsupported format': 'invalid_request',
  'not found': 'not_found',
  conflict: 'conflict',
  'session ended': 'access_denied',
  'insufficient permission': 'insufficient_permission',
  limited: 'rate_limit_exceeded',
  unavailable: 'temporarily_unavailable',
} as const;

export type FailureKind = keyof typeof CODES;

/**
 * Why something that was asked for is not done, with a description that says what to do. It knows no protocol: what it is over HTTP is
 * decided in `http/errors.ts`, and what it is on the command line in `cli/main.ts`.
 */
export class Failure extends Error {
  override readonly name = 'Failure';
  readonly kind: FailureKind;
  readonly code: (typeof CODES)[FailureKind];
  /** The seconds after which another attempt makes sense. */
  readonly retryAfter: number | undefined;
  /** The reason, from a bounded set: for the log and the metrics. */
  readonly reason: string | undefined;
  /** What was expected of a value, in our own words: for the trace. */
  readonly expected: string | undefined;

  constructor(
    kind: FailureKind,
    description: string,
    {
      retryAfter,
      reason,
      expected,
    }: {
      readonly retryAfter?: number;
      readonly reason?: string | undefined;
      readonly expected?: string | undefined;
    } = {},
  ) {
    super(description);
    this.kind = kind;
    this.code = CODES[kind];
    this.retryAfter = retryAfter;
    this.reason = reason;
    this.expected = expected;
  }
}

/** @param expected of a value, in our own words */
export const invalid = (description: string, expected?: string): Failure =>
  new Failure('invalid', description, { expected });

export const notFound = (description: string, expected?: string): Failure =>
  new Failure('not found', description, { expected });

/** @param list where the records of this kind are listed: the group of commands, which is also in the path of the admin API */
export const noneWithId = (
  what: string,
  id: string,
  { command, path }: { readonly command: string; readonly path: string },
): Failure =>
  notFound(
    `There is no ${what} with the id ${id}.${isRounded(id) ? ROUNDED : ''} List them with: tessera ${command}, or GET /api/v2/admin/${path}`,
  );

const ROUNDED = ' It looks rounded: JavaScript rounds numbers of this size, so keep ids as texts.';

/** Whether an id is one that a program may have read as a number, and rounded. */
const isRounded = (id: string): boolean => /^\d{15,17}00$/.test(id) && String(Number(id)) === id;

export const conflict = (description: string): Failure => new Failure('conflict', description);

/** @param seconds until the limit allows another attempt */
export const limited = (seconds: number): Failure =>
  new Failure('limited', `Too many requests. Try again in ${seconds} seconds.`, { retryAfter: seconds });

/** @param reason for the log and the metrics */
export const unavailable = (reason?: string): Failure =>
  new Failure('unavailable', 'The service cannot answer right now. Try again in a moment.', {
    retryAfter: 1 + Math.floor(Math.random() * 3),
    reason,
  });
