import type { Parameters } from '../../platform/http/parameters.ts';
import { invalidRequest } from '../../platform/oauth-error.ts';
import { ASSERTION_TYPE, type ReadAssertion, readAssertion } from './assertion.ts';

/** How clients authenticate: OpenID Connect Core 1.0 §9. `client_secret_jwt` would need secrets that are kept readable. */
export const AUTH_METHODS = ['client_secret_basic', 'client_secret_post', 'private_key_jwt', 'none'] as const;
export type AuthMethod = (typeof AUTH_METHODS)[number];

/** How a client names itself and what it proves it with; not checked yet. */
export type ClientCredentials =
  | {
      readonly method: 'basic' | 'body';
      readonly clientId: string;
      /** Empty where none was sent: never a valid secret. */
      readonly clientSecret: string;
    }
  | {
      readonly method: 'assertion';
      readonly clientId: string;
      /** Undefined where it cannot be one that is offered. */
      readonly assertion: ReadAssertion | undefined;
    };

/** RFC 6749 §2.3.1: both parts are form-urlencoded before they are joined. */
function decodeFormPart(part: string): string | undefined {
  try {
    return decodeURIComponent(part.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}

/**
 * Reads a client's credentials from the body or the Authorization header: exactly one of them.
 * @throws {OAuthError} `invalid_request` when both are used, or they contradict each other
 */
export function readCredentials(authorization: string | undefined, body: Parameters): ClientCredentials {
  const bodyId = body.get('client_id');
  const bodySecret = body.get('client_secret');
  if (body.has('client_assertion') || body.has('client_assertion_type')) {
    if (authorization !== undefined || bodySecret !== undefined) {
      throw invalidRequest(
        'Authenticate the client once: with client_assertion, or with client_secret, not with both.',
      );
    }
    return readAssertionOf(body, bodyId);
  }
  if (authorization === undefined) {
    return { method: 'body', clientId: bodyId ?? '', clientSecret: bodySecret ?? '' };
  }
  const [, encoded] = /^Basic +([A-Za-z0-9+/]+={0,2})$/i.exec(authorization) ?? [];
  const decoded = encoded === undefined ? '' : Buffer.from(encoded, 'base64').toString('utf8');
  const colon = decoded.indexOf(':');
  const clientId = decodeFormPart(decoded.slice(0, Math.max(colon, 0)));
  const clientSecret = decodeFormPart(decoded.slice(colon + 1));
  // RFC 6749 §2.3: not more than one method in a request.
  if (bodySecret !== undefined) {
    throw invalidRequest('Send the client credentials once: in the Authorization header or in the body, not in both.');
  }
  if (colon < 1 || clientId === undefined || clientSecret === undefined) {
    return { method: 'basic', clientId: '', clientSecret: '' };
  }
  if (bodyId !== undefined && bodyId !== clientId) {
    throw invalidRequest('client_id in the body differs from the one in the Authorization header.');
  }
  return { method: 'basic', clientId, clientSecret };
}

/** RFC 7521 §4.2: an assertion and its type go together; `client_id` is not needed beside them, and may not differ. */
function readAssertionOf(body: Parameters, bodyId: string | undefined): ClientCredentials {
  const token = body.get('client_assertion');
  const type = body.get('client_assertion_type');
  if (token === undefined || type === undefined) {
    throw invalidRequest('client_assertion and client_assertion_type go together: send both, or neither.');
  }
  const assertion = type === ASSERTION_TYPE ? readAssertion(token) : undefined;
  if (assertion === undefined) return { method: 'assertion', clientId: bodyId ?? '', assertion };
  // RFC 7523 §3: client_id must be the subject. That of an assertion which names another client is nobody's.
  const fits = bodyId === undefined || bodyId === assertion.clientId;
  return { method: 'assertion', clientId: assertion.clientId, assertion: fits ? assertion : undefined };
}
