import { ASSERTION_TYPE, type ReadAssertion, readAssertion } from '../../clients/rules/assertion.ts';
import type { Parameters } from '../../platform/http/parameters.ts';
import { invalidRequest } from '../../platform/oauth-error.ts';
import { isSecretLike } from './rules/secret-kind.ts';

/**
 * What a request presents to authenticate its client; not verified yet. `sentLike` finds what was sent under a misspelled name, which
 * compares many texts: only a refusal calls it.
 */
export type ClientCredentials =
  | {
      readonly method: 'none';
      readonly clientId: string;
      readonly sentLike?: Parameters['misspelled'];
      /** Whether the address has a parameter, where it has no effect: RFC 6749 §2.3.1. */
      readonly isInAddress?: (name: string) => boolean;
    }
  /** With an Authorization header that is not Basic, or not base64 of a client_id and a client_secret. */
  | {
      readonly method: 'client_secret_basic';
      readonly clientId: '';
      readonly clientSecret: '';
      readonly header: UnreadableHeader;
    }
  | {
      readonly method: 'client_secret_basic' | 'client_secret_post';
      readonly clientId: string;
      readonly clientSecret: string;
      readonly sentLike?: Parameters['misspelled'];
    }
  | { readonly method: 'private_key_jwt'; readonly clientId: string; readonly assertion: ReadAssertion }
  /** With an assertion that is malformed, or of an unsupported kind. */
  | {
      readonly method: 'private_key_jwt';
      readonly clientId: string;
      readonly assertion: undefined;
      readonly is: string;
    };

/** What an Authorization header has that is no Basic authentication, by its form alone. */
export type UnreadableHeader =
  | 'two headers'
  | 'an access token'
  | 'a JWT'
  | 'a client secret'
  | 'an admin key'
  | 'an encoded colon'
  | 'a text that is not encoded'
  | 'no colon'
  | 'another text';

/**
 * Reads a client's credentials from the body or the Authorization header: exactly one of them.
 * @param sentHeaders counts how many Authorization headers the request has, of which the first is read
 * @param isInAddress whether the address has a parameter, which only a refusal asks
 * @throws {OAuthError} `invalid_request` when both are used, or they contradict each other
 */
export function readCredentials(
  authorization: string | undefined,
  body: Parameters,
  sentHeaders = () => 1,
  isInAddress: (name: string) => boolean = () => false,
): ClientCredentials {
  const bodyId = body.get('client_id');
  const bodySecret = body.get('client_secret');
  if (body.has('client_assertion') || body.has('client_assertion_type')) {
    if (authorization !== undefined || bodySecret !== undefined) {
      throw invalidRequest(
        'The client authenticates in two ways.',
        'Authenticate the client once: with client_assertion, or with client_secret, not with both.',
      );
    }
    return assertionIn(body, bodyId);
  }
  if (authorization === undefined) {
    const clientId = bodyId ?? '';
    const sentLike = body.misspelled;
    return bodySecret === undefined
      ? { method: 'none', clientId, sentLike, isInAddress }
      : { method: 'client_secret_post', clientId, clientSecret: bodySecret, sentLike };
  }
  const [, encoded] = /^Basic +([A-Za-z0-9+/]+={0,2})$/i.exec(authorization) ?? [];
  const decoded = encoded === undefined ? '' : Buffer.from(encoded, 'base64').toString('utf8');
  const colon = decoded.indexOf(':');
  const clientId = decodeFormPart(decoded.slice(0, Math.max(colon, 0)));
  const clientSecret = decodeFormPart(decoded.slice(colon + 1));
  // RFC 6749 §2.3: not more than one method in a request.
  if (bodySecret !== undefined) {
    throw invalidRequest(
      'The client credentials were sent twice.',
      'Send the client credentials once: in the Authorization header or in the body, not in both.',
    );
  }
  if (colon < 1 || clientId === undefined || clientSecret === undefined) {
    const header =
      sentHeaders() > 1 && !/^Basic /i.test(authorization) ? 'two headers' : formOfHeader(authorization, decoded);
    return { method: 'client_secret_basic', clientId: '', clientSecret: '', header };
  }
  if (bodyId !== undefined && bodyId !== clientId) {
    throw invalidRequest(
      'client_id in the body differs from the one in the Authorization header.',
      'Send it once, or the same one twice.',
    );
  }
  return { method: 'client_secret_basic', clientId, clientSecret };
}

function formOfHeader(authorization: string, decoded: string): UnreadableHeader {
  const text = authorization.replace(/^(Bearer|Basic|JWT) +/i, '');
  if (/^ey[\w-]+\.[\w-]+\.[\w-]*$/.test(text)) return isAccessToken(text) ? 'an access token' : 'a JWT';
  if (isSecretLike(text)) return 'a client secret';
  if (text.startsWith('tak_')) return 'an admin key';
  if (!/^Basic /i.test(authorization)) return 'another text';
  if (/^[^:]+:/.test(text)) return 'a text that is not encoded';
  if (/^[\x20-\x7e]+%3a[\x20-\x7e]+$/i.test(decoded)) return 'an encoded colon';
  return /^[\x20-\x7e]+$/.test(decoded) && !decoded.includes(':') ? 'no colon' : 'another text';
}

/** Whether a JWT says that it is an access token: RFC 9068 §2.1. */
function isAccessToken(jwt: string): boolean {
  const header = Buffer.from(jwt.slice(0, jwt.indexOf('.')), 'base64url').toString('utf8');
  return /"typ"\s*:\s*"(application\/)?at\+jwt"/i.test(header);
}

/** RFC 7521 §4.2: an assertion is sent with its type. `client_id` may be left out, and must be its subject otherwise. */
function assertionIn(body: Parameters, bodyId: string | undefined): ClientCredentials {
  const token = body.get('client_assertion');
  const type = body.get('client_assertion_type');
  if (token === undefined) {
    throw invalidRequest(
      'client_assertion_type was sent without client_assertion.',
      'Send the signed JWT as client_assertion, or neither of the two.',
    );
  }
  if (type === undefined) {
    throw invalidRequest(
      'client_assertion was sent without client_assertion_type.',
      `Send client_assertion_type as well: ${ASSERTION_TYPE}`,
    );
  }
  const method = 'private_key_jwt';
  const assertion = type === ASSERTION_TYPE ? readAssertion(token) : { is: 'another client_assertion_type' };
  if ('is' in assertion) return { method, clientId: bodyId ?? '', assertion: undefined, ...assertion };
  const { clientId } = assertion;
  const isOfClient = bodyId === undefined || bodyId === clientId;
  return isOfClient
    ? { method, clientId, assertion }
    : { method, clientId, assertion: undefined, is: 'an assertion whose sub is not the client_id of the request' };
}

/** RFC 6749 §2.3.1: both parts are form-urlencoded before they are joined. */
function decodeFormPart(part: string): string | undefined {
  try {
    return decodeURIComponent(part.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}
