import { jsonParameters, type Parameters, type RepeatableParameters } from '../http/parameters.ts';
import { invalidRequest } from '../oauth-error.ts';

/** RFC 8707 §2: the one parameter that may stand more than once. */
const LISTS: readonly string[] = ['resource'];

/**
 * The parameters of a request, from JSON or a form: one object or form of texts, none of them twice.
 * @param names those that the endpoint looks at; others are ignored (RFC 6749 §3.2)
 * @throws {OAuthError} `invalid_request`
 */
export function readBody(body: unknown, names: readonly string[]): Parameters {
  if (body === undefined) throw invalidRequest('The body is empty: send the parameters as JSON or as a form.');
  if (!isForm(body)) return jsonParameters(body, names, LISTS);
  for (const name of names) {
    if (body.repeated.has(name) && !LISTS.includes(name)) throw invalidRequest(`${name} was sent more than once.`);
    if (body.malformed.has(name)) throw invalidRequest(`${name} is not percent-encoded UTF-8.`);
  }
  return body;
}

const isForm = (body: unknown): body is RepeatableParameters =>
  typeof body === 'object' && body !== null && 'repeated' in body && body.repeated instanceof Set;
