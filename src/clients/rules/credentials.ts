import type { Parameters } from '../../http/parameters.ts';
import { invalidRequest } from '../../oauth-error.ts';

/** How a client names itself and what it proves it with; not checked yet. */
export interface ClientCredentials {
  readonly method: 'basic' | 'body';
  readonly clientId: string;
  /** Empty where none was sent: never a valid secret. */
  readonly clientSecret: string;
}

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
