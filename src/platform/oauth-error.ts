import type { ErrorCode } from './error-codes.ts';

/**
 * The facts of a refusal, for the operator who traces it. The client sees the description only. A text may repeat
 * what came, since traces mask credentials and shorten it.
 */
export interface RefusalDetail {
  /** The rule that refused, with the clause of its standard: `RFC 6749 §4.1.3`. */
  readonly rule?: string | undefined;
  readonly expected?: string | undefined;
  readonly received?: string | undefined;
  /** What to do. */
  readonly remedy?: string | undefined;
  /** The digest of what the refused request continues from, for the trace: see src/traces. */
  readonly flow?: string | undefined;
}

/** An error that the client may see: a status, a stable code, and a description that says what to do. */
export class OAuthError extends Error {
  override readonly name = 'OAuthError';
  readonly status: number;
  readonly code: ErrorCode;
  readonly headers: Readonly<Record<string, string>>;
  /** The reason, from a bounded set: for the log and the metrics, never for the client. */
  readonly reason: string | undefined;
  /** For traces, never for the client. */
  readonly detail: RefusalDetail | undefined;

  constructor(
    status: number,
    code: ErrorCode,
    description: string,
    headers: Readonly<Record<string, string>> = {},
    reason?: string,
    detail?: RefusalDetail,
  ) {
    super(description);
    this.status = status;
    this.code = code;
    this.headers = headers;
    this.reason = reason;
    this.detail = detail;
  }

  /** The same error with the facts of the refusal, for traces. */
  withDetail(detail: RefusalDetail): OAuthError {
    const { status, code, message, headers, reason } = this;
    return new OAuthError(status, code, message, headers, reason, { ...this.detail, ...detail });
  }
}

/** @param remedy what to do, which follows the description in the response and stands by itself in the trace */
export const invalidRequest = (description: string, remedy?: string): OAuthError =>
  remedy === undefined
    ? new OAuthError(400, 'invalid_request', description)
    : new OAuthError(400, 'invalid_request', `${description} ${remedy}`, {}, undefined, { remedy });

/** The same description for everything that does not exist, and for what must not be told apart from it. */
export const NOTHING_HERE = 'There is nothing at this address. Every call is listed at /api of this server.';

const AT_NOTHING: RefusalDetail = {
  remedy: 'Correct the address of the request: /api of this server lists every call.',
};

/** @param advice what to call instead */
export const nothingHereBut = (advice?: string): OAuthError =>
  advice === undefined
    ? new OAuthError(404, 'invalid_request', NOTHING_HERE, {}, undefined, AT_NOTHING)
    : new OAuthError(404, 'invalid_request', `${NOTHING_HERE} ${advice}`, {}, undefined, { remedy: advice });

export const nothingHere = (): OAuthError => nothingHereBut();

/**
 * @param seconds the value of `Retry-After`
 * @param detail for the trace, where more is known than that there is a limit
 */
export const rateLimited = (seconds: number, detail: RefusalDetail = ANY_LIMIT): OAuthError =>
  new OAuthError(
    429,
    'rate_limit_exceeded',
    `Too many requests. Try again in ${seconds} seconds.`,
    { 'retry-after': String(seconds) },
    undefined,
    detail,
  );

const ANY_LIMIT: RefusalDetail = {
  remedy: 'Wait for the seconds in Retry-After. The limits are set by TESSERA_LIMIT_….',
};

/** RFC 6750 §3.1: a bearer token that is not accepted, with the challenge. */
export const invalidToken = (description: string, reason?: string): OAuthError => {
  const challenge = `Bearer realm="tessera", error="invalid_token", error_description="${description}"`;
  return new OAuthError(401, 'invalid_token', description, { 'www-authenticate': challenge }, reason);
};

/** RFC 6750 §3.1: without credentials the challenge has no error code. */
export const missingToken = (description: string): OAuthError =>
  new OAuthError(401, 'invalid_token', description, { 'www-authenticate': 'Bearer realm="tessera"' }, 'no token sent');
