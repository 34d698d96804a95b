import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { invalidRequest, type OAuthError } from '../oauth-error.ts';
import { formats } from './formats.ts';
import type { Static, TSchema } from './type.ts';

/**
 * One validator for the HTTP API and the command line. A schema's `description` completes the sentence
 * "<field> must be …", so a refusal says what was expected.
 */
const ajv = new Ajv({ strict: false, verbose: true, formats, coerceTypes: false, removeAdditional: false });

const compiled = new WeakMap<object, ValidateFunction>();

/** The first thing that is wrong with a value, or undefined. */
export function findProblem(schema: object, value: unknown, where = ''): OAuthError | undefined {
  let check = compiled.get(schema);
  if (check === undefined) {
    check = ajv.compile(schema);
    compiled.set(schema, check);
  }
  if (check(value)) return undefined;
  // Of a union the first error speaks of one member only; the union itself says what is expected. What is wrong within the
  // value is of the one member that has a within.
  const errors = check.errors ?? [];
  const union = errors.find(({ keyword }) => keyword === 'anyOf');
  const within = errors.find(({ instancePath }) => instancePath.length > (union?.instancePath.length ?? 0));
  const error = union === undefined ? errors[0] : (within ?? union);
  return invalidRequest(error === undefined ? 'The input is not valid.' : explain(error, where));
}

/**
 * The value, proved to be what the schema says.
 * @throws {OAuthError} `invalid_request`, naming the field, what was expected and what came
 */
export function validate<S extends TSchema>(schema: S, value: unknown): Static<S> {
  const problem = findProblem(schema, value);
  if (problem !== undefined) throw problem;
  return value as Static<S>;
}

function explain(error: ErrorObject, where: string): string {
  const path = error.instancePath
    .slice(1)
    .split('/')
    .filter((part) => part !== '')
    .map((part) => (/^\d+$/.test(part) ? `[${part}]` : `.${part.replaceAll('~1', '/').replaceAll('~0', '~')}`))
    .join('')
    .replace(/^\./, '');
  const params = error.params as Readonly<Record<string, unknown>>;
  const field = path === '' ? where || 'the body' : path;
  if (error.keyword === 'required') return `${join(path, String(params['missingProperty']))} is missing.`;
  if (error.keyword === 'additionalProperties') {
    const known = Object.keys((error.parentSchema as { properties?: object } | undefined)?.properties ?? {});
    const name = join(path, String(params['additionalProperty']));
    return `${name} is not a field here. The fields are: ${known.join(', ')}.`;
  }
  const expected = (error.parentSchema as { description?: string } | undefined)?.description;
  const got = describe(error.data);
  if (expected !== undefined) return `${field} must be ${expected}; got ${got}.`;
  return `${field} ${error.message ?? 'is not valid'}; got ${got}.`;
}

const join = (path: string, name: string): string => (path === '' ? name : `${path}.${name}`);

/** What came, without its content: it may be a secret. */
function describe(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === 'string') return value === '' ? 'an empty text' : `a text of ${[...value].length} characters`;
  if (typeof value === 'object') return 'an object';
  // A password may be sent without its quotes.
  return typeof value === 'number' ? 'a number' : `the value ${String(value)}`;
}
