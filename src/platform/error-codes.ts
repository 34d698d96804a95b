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
    'Use `authorization_code`, `refresh_token`, `client_credentials` or `urn:ietf:params:oauth:grant-type:device_code`.',
  ],
  invalid_scope: ['400', 'A scope is unknown, malformed, or exceeds what was granted.', 'Request fewer scopes.'],
  invalid_redirect_uri: [
    '400',
    'A redirect URI of an app that registers itself is missing or not allowed (RFC 7591 §3.2.2).',
    'Correct the redirect URI that the description names.',
  ],
  invalid_client_metadata: [
    '400',
    'Another part of such a registration is invalid, or asks for what this server does not do (RFC 7591 §3.2.2).',
    'Correct the member that the description names, or leave it out.',
  ],
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
    '400, 403',
    '`Access revoked by user`, `Account banned` or `Account is suspended`, at `/api/v2/oauth/token` and `/api/v2/oauth/userinfo`. With 400 at `/oidc/token`: the user did not allow the device.',
    'Delete the tokens and do not retry with them. Send the user through authorization again.',
  ],
  authorization_pending: [
    '400',
    'The user has not answered the device yet (RFC 8628 §3.5).',
    'Ask again after the `interval` of the device authorization.',
  ],
  slow_down: [
    '400',
    'The device asked again too soon (RFC 8628 §3.5).',
    'Wait five seconds longer from now on, before each request.',
  ],
  expired_token: [
    '400',
    'The device code has expired (RFC 8628 §3.5).',
    'Start again at the device authorization endpoint, and show the user the new code.',
  ],
  insufficient_scope: [
    '403',
    'The access token lacks a scope that the endpoint requires.',
    'Request the scope in a new authorization.',
  ],
  precondition_failed: [
    '412',
    'The record was changed since it was read: it has another `ETag` than `If-Match` says.',
    'Read the record again, and decide whether the change still holds.',
  ],
  idempotency_key_reused: [
    '422',
    'The `Idempotency-Key` came with another request of the same caller within the last day.',
    'Send a new key for each thing that is to be made, and the same one only to repeat a request.',
  ],
  insufficient_permission: [
    '403',
    'The role of the admin key does not include what the request needs; the description names the permission.',
    'Use a key with a role that includes it, or ask an owner.',
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
