import type { FastifySchemaCompiler } from 'fastify';
import {
  formParameters,
  jsonParameters,
  type ObjectSchema,
  type Parameters,
  type RepeatableParameters,
  validationResult,
} from '../../platform/http/parameters.ts';
import { invalidRequest } from '../../platform/oauth-error.ts';

/**
 * Reads a body of parameters, JSON or a form, by the schema of its route: one object or form of texts, none of them twice but
 * those that the schema lets be a list (RFC 8707 §2). What is not in the schema is ignored (RFC 6749 §3.2). Whether something is
 * missing is asked later: who asks is looked at first.
 */
export const compileReader: FastifySchemaCompiler<unknown> = ({ schema }) => {
  const { properties, required = [] } = schema as ObjectSchema;
  const names = Object.keys(properties);
  const lists = names.filter((name) => properties[name]?.type !== 'string');
  return (body) => validationResult(() => read(body, names, lists, required.length > 0));
};

/** @throws {OAuthError} `invalid_request` */
function read(body: unknown, names: readonly string[], lists: readonly string[], needed: boolean): Parameters {
  // The framework's word for no body; the JSON text `null` is one, and is refused like it.
  if (body === null) {
    if (needed) throw invalidRequest('The body is empty: send the parameters as JSON or as a form.');
    return formParameters('');
  }
  if (!isForm(body)) return jsonParameters(body, names, lists);
  for (const name of names) {
    if (body.repeated.has(name) && !lists.includes(name)) throw invalidRequest(`${name} was sent more than once.`);
    if (body.malformed.has(name)) throw invalidRequest(`${name} is not percent-encoded UTF-8.`);
  }
  return body;
}

const isForm = (body: unknown): body is RepeatableParameters =>
  typeof body === 'object' && body !== null && 'repeated' in body && body.repeated instanceof Set;
