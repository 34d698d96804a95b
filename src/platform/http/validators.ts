import type { FastifySchemaCompiler } from 'fastify';
import { invalidRequest, notFound, OAuthError } from '../oauth-error.ts';
import { findProblem } from '../validation/validate.ts';
import type { RepeatableParameters } from './parameters.ts';

/** What the validators look at of a schema of named values. */
export interface ObjectSchema {
  readonly properties: Readonly<Record<string, { readonly type?: unknown; readonly default?: unknown }>>;
  readonly additionalProperties?: unknown;
  readonly required?: readonly string[];
}

type Result = { readonly value: unknown } | { readonly error: OAuthError };

/** Validates a JSON body, the ids of the path, and the query. */
export const compileValidator: FastifySchemaCompiler<unknown> = ({ schema, httpPart }) => {
  if (httpPart === 'querystring') return (query) => outcome(() => readQuery(schema as ObjectSchema, query));
  return (value): Result => {
    const problem = findProblem(schema as object, value);
    if (problem === undefined) return { value };
    // What cannot be an id is nobody's.
    return {
      error:
        httpPart === 'params'
          ? notFound('There is nothing with this id. Give the id of the record, as its list has it, and no name.')
          : problem,
    };
  };
};

/** For routes that read what comes by themselves: their schemas say what that is. */
export const readByHandler: FastifySchemaCompiler<unknown> = () => () => true;

/** What a validator makes of a value, with a refusal given back instead of thrown, as the framework wants it. */
export function outcome(read: () => unknown): Result {
  try {
    return { value: read() };
  } catch (error) {
    if (error instanceof OAuthError) return { error };
    throw error;
  }
}

/** @throws {OAuthError} `invalid_request` naming the parameter */
function readQuery(schema: ObjectSchema, query: RepeatableParameters): object {
  const known = Object.keys(schema.properties);
  const found: Record<string, unknown> = {};
  for (const name of query.names) {
    if (schema.additionalProperties === false && !known.includes(name)) {
      throw invalidRequest(`${name.slice(0, 64)} is not a parameter here: ${known.join(', ')} are.`);
    }
  }
  for (const name of known) {
    if (query.repeated.has(name)) throw invalidRequest(`${name} was sent more than once.`);
    const { type, default: initial } = schema.properties[name] ?? {};
    const text = query.get(name);
    const value = text === undefined ? initial : type === 'integer' && /^\d{1,9}$/.test(text) ? Number(text) : text;
    if (value !== undefined) found[name] = value;
  }
  const problem = findProblem(schema, found);
  if (problem !== undefined) throw problem;
  return found;
}
