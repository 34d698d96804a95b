/** The error codes of the API, as its clients see them. See docs/reference/errors.md. */
export type ErrorCode =
  | 'invalid_request'
  | 'invalid_client'
  | 'invalid_grant'
  | 'unauthorized_client'
  | 'unsupported_grant_type'
  | 'invalid_scope'
  | 'invalid_token'
  | 'access_denied'
  | 'not_found'
  | 'conflict'
  | 'rate_limit_exceeded'
  | 'temporarily_unavailable'
  | 'server_error';

/** A refusal that the caller may see: a stable code, a status, and words that say what to do. */
export class OAuthError extends Error {
  override readonly name = 'OAuthError';
  readonly status: number;
  readonly code: ErrorCode;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, code: ErrorCode, description: string, headers: Readonly<Record<string, string>> = {}) {
    super(description);
    this.status = status;
    this.code = code;
    this.headers = headers;
  }
}

export const invalidRequest = (description: string): OAuthError => new OAuthError(400, 'invalid_request', description);

export const invalidGrant = (description: string): OAuthError => new OAuthError(400, 'invalid_grant', description);

export const notFound = (description: string): OAuthError => new OAuthError(404, 'not_found', description);

export const conflict = (description: string): OAuthError => new OAuthError(409, 'conflict', description);

/** @param seconds how long the caller should wait */
export const rateLimited = (seconds: number): OAuthError =>
  new OAuthError(429, 'rate_limit_exceeded', `Too many requests. Try again in ${seconds} seconds.`, {
    'retry-after': String(seconds),
  });

export const unavailable = (): OAuthError =>
  new OAuthError(503, 'temporarily_unavailable', 'The service cannot answer right now. Try again in a moment.', {
    'retry-after': String(1 + Math.floor(Math.random() * 3)),
  });

/** RFC 6750 §3.1: the challenge that goes with a bearer token that is not accepted. */
export const invalidToken = (description: string): OAuthError =>
  new OAuthError(401, 'invalid_token', description, {
    'www-authenticate': `Bearer realm="tessera", error="invalid_token", error_description="${description}"`,
  });

/** RFC 6750 §3.1: no credentials were sent, so the challenge carries no error code. */
export const missingToken = (): OAuthError =>
  new OAuthError(401, 'invalid_token', 'Send an access token: Authorization: Bearer <token>.', {
    'www-authenticate': 'Bearer realm="tessera"',
  });
