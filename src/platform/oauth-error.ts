/** The error codes of the API: their statuses, when they occur, and what to do. docs/reference/errors.md is generated from this. */
export const errorCodes = {
  invalid_request: [
    '400, 404, 405, 413, 414, 415, 431',
    'The request is malformed: a field is missing, repeated or of the wrong type, the body cannot be read, or the address does not exist.',
    'Correct what the description says.',
  ],
  invalid_client: [
    '401',
    'The client is unknown or disabled, or its secret is wrong. The description tells which only to a caller that can know it.',
    'Check `client_id` and `client_secret`, and send them in one way only.',
  ],
  invalid_grant: [
    '400',
    'The code or refresh token is unknown, expired, already used, or issued to another client or by the other authorization endpoint, or `redirect_uri` or `code_verifier` does not match. At `/oidc/token` also: `Access revoked by user`, `Account banned` or `Account is suspended`.',
    'Send the user through authorization again.',
  ],
  unauthorized_client: ['400', 'The client may not use this grant.', 'Add the grant to `grantTypes` of the client.'],
  unsupported_grant_type: [
    '400',
    'The grant type is not supported.',
    'Use `authorization_code`, `refresh_token` or `client_credentials`.',
  ],
  invalid_scope: ['400', 'A scope is unknown, malformed, or exceeds what was granted.', 'Request fewer scopes.'],
  invalid_target: [
    '400',
    'A `resource` is malformed, unknown, or was not allowed by the user.',
    'Request registered resources only; in the token request, only those of the authorization request.',
  ],
  invalid_token: [
    '401',
    'The access token or admin key is missing, invalid or expired. At `/oidc/userinfo` also: `Access revoked by user`, `Account banned` or `Account is suspended`.',
    'Refresh it; if that fails, send the user through authorization again.',
  ],
  access_denied: [
    '403',
    '`Access revoked by user`, `Account banned` or `Account is suspended`, at `/api/v2/oauth/token` and `/api/v2/oauth/userinfo`.',
    'Delete the tokens and do not retry with them. Send the user through authorization again.',
  ],
  insufficient_scope: [
    '403',
    'The access token lacks a scope that the endpoint requires.',
    'Request the scope in a new authorization.',
  ],
  not_found: ['404', 'No resource has this ID.', 'Check the ID.'],
  conflict: [
    '409',
    'A username, email address or slug is taken, or the current state does not allow the change.',
    'Choose another value, or change the state first.',
  ],
  rate_limit_exceeded: ['429', 'Too many requests.', 'Wait for the seconds in `Retry-After`.'],
  temporarily_unavailable: [
    '503',
    'The database cannot be reached, or the server is overloaded.',
    'Try again after the seconds in `Retry-After`.',
  ],
  server_error: ['500', 'An internal error.', 'Report the correlation ID.'],
} as const;

export type ErrorCode = keyof typeof errorCodes;

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

export const invalidRequest = (description: string): OAuthError => new OAuthError(400, 'invalid_request', description);

/** @param reason for the log and the metrics */
export const invalidGrant = (description: string, reason?: string): OAuthError =>
  new OAuthError(400, 'invalid_grant', description, {}, reason);

export const notFound = (description: string): OAuthError => new OAuthError(404, 'not_found', description);

/** The same description for everything that does not exist, and for what must not be told apart from it. */
export const NOTHING_HERE = 'There is nothing at this address. Every call is listed at <base URL>/api.';
export const nothingHere = (): OAuthError => new OAuthError(404, 'invalid_request', NOTHING_HERE);

export const conflict = (description: string): OAuthError => new OAuthError(409, 'conflict', description);

/** @param seconds the value of `Retry-After` */
export const rateLimited = (seconds: number): OAuthError =>
  new OAuthError(429, 'rate_limit_exceeded', `Too many requests. Try again in ${seconds} seconds.`, {
    'retry-after': String(seconds),
  });

/** @param reason for the log and the metrics */
export const unavailable = (reason?: string): OAuthError => {
  const text = 'The service cannot answer right now. Try again in a moment.';
  const headers = { 'retry-after': String(1 + Math.floor(Math.random() * 3)) };
  return new OAuthError(503, 'temporarily_unavailable', text, headers, reason);
};

/** RFC 6750 §3.1: a bearer token that is not accepted, with the challenge. */
export const invalidToken = (description: string, reason?: string): OAuthError => {
  const challenge = `Bearer realm="tessera", error="invalid_token", error_description="${description}"`;
  return new OAuthError(401, 'invalid_token', description, { 'www-authenticate': challenge }, reason);
};

/** RFC 6750 §3.1: without credentials the challenge has no error code. */
export const missingToken = (description: string): OAuthError =>
  new OAuthError(401, 'invalid_token', description, { 'www-authenticate': 'Bearer realm="tessera"' }, 'no token sent');
