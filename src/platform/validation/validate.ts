import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { nonAsciiLocalPart } from '../domain-name.ts';
import { type Failure, invalid } from '../failure.ts';
import { nearestName, nearestText } from '../nearest-text.ts';
import { formats } from './formats.ts';
import type { Static, TSchema } from './type.ts';

/**
 * The validator of the HTTP API and the command line. A schema's `description` completes the sentence "<field> must be …", so that
 * an error says what was expected.
 */
const ajv = new Ajv({
  ...{ strict: false, verbose: true, formats, coerceTypes: false, removeAdditional: false },
  // The schemas are ours, and typed. Without their meta-schema, a start is shorter.
  ...{ meta: false, validateSchema: false },
});

const compiled = new WeakMap<object, ValidateFunction>();

/** The first error of a value, or undefined if it is valid. */
export function findProblem(schema: object, value: unknown, where = ''): Failure | undefined {
  let check = compiled.get(schema);
  if (check === undefined) {
    check = ajv.compile(schema);
    compiled.set(schema, check);
  }
  if (check(value)) return undefined;
  // The first error of a union is about its first member; the union itself describes what is expected. An error inside the value
  // can only be about the member that is an object or an array.
  const errors = check.errors ?? [];
  const union = errors.find(({ keyword }) => keyword === 'anyOf');
  const inner = errors.find(({ instancePath }) => instancePath.length > (union?.instancePath.length ?? 0));
  const error = union === undefined ? errors[0] : (inner ?? union);
  if (error === undefined) return invalid('The input is not valid.');
  const told = (error.keyword === 'required' && misnamed(error)) || error;
  return invalid(explain(told, where), expectedOf(told));
}

/**
 * Returns the value, if it is valid.
 * @throws {Failure} `invalid` with the field, what was expected and what was sent
 */
export function validate<S extends TSchema>(schema: S, value: unknown): Static<S> {
  const problem = findProblem(schema, value);
  if (problem !== undefined) throw problem;
  return value as Static<S>;
}

/** The schema of an object that takes no other fields; of some, it says why they cannot be changed once the record is there. */
interface ClosedObject {
  readonly properties?: object;
  readonly 'x-unchangeable'?: Readonly<Record<string, string>>;
}

/** Where a field is missing and another was sent that does not exist, the latter: it may be the former by another name. */
function misnamed(error: ErrorObject): ErrorObject | undefined {
  const { properties = {}, additionalProperties } = (error.parentSchema ?? {}) as ClosedObject & {
    readonly additionalProperties?: unknown;
  };
  if (additionalProperties !== false || typeof error.data !== 'object' || error.data === null) return undefined;
  const unknown = Object.keys(error.data).filter((name) => !Object.hasOwn(properties, name));
  const missing = String((error.params as { readonly missingProperty?: unknown }).missingProperty);
  const additionalProperty = unknown.find((name) => nearestName(name, [missing]) !== undefined) ?? unknown[0];
  if (additionalProperty === undefined) return undefined;
  return { ...error, keyword: 'additionalProperties', params: { additionalProperty } };
}

/** What the schema says that a value must be. */
function expectedOf({ keyword, parentSchema }: ErrorObject): string | undefined {
  if (keyword === 'required' || keyword === 'additionalProperties') return undefined;
  return (parentSchema as { readonly description?: string } | undefined)?.description;
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
    const { properties, 'x-unchangeable': unchangeable } = (error.parentSchema ?? {}) as ClosedObject;
    const known = Object.keys(properties ?? {});
    const sent = String(params['additionalProperty']);
    const name = join(path, sent);
    if (unchangeable !== undefined && Object.hasOwn(unchangeable, sent))
      return `${name} cannot be changed. ${unchangeable[sent]}`;
    const meant = nearestName(sent, known);
    const advice = meant === undefined ? '' : ` Did you mean ${meant}?`;
    return `${name} is not a field here.${advice} The fields are: ${known.join(', ')}.`;
  }
  if (error.keyword === 'format' && params['format'] === 'email') {
    const characters = nonAsciiLocalPart(String(error.data));
    if (characters !== '') {
      return `${field} must have only ASCII characters before the @; got ${characters} there. The domain after it may be in any script.`;
    }
  }
  const expected = (error.parentSchema as { description?: string } | undefined)?.description;
  // A number that is out of its range is not repeated either: it may be a password that was sent without quotes.
  const got = describeRefused(error);
  const sentence = expected === undefined ? (error.message ?? 'is not valid') : `must be ${expected}`;
  return `${field} ${sentence}; got ${got}.${suggestion(error)}`;
}

/** What came in place of what a schema asks for. */
function describeRefused({ keyword, params, data }: ErrorObject): string {
  if (keyword === 'minimum') return 'a smaller one';
  if (keyword === 'maximum') return 'a larger one';
  if (typeof data !== 'string') return describe(data);
  if (keyword === 'type' && (params as { readonly type?: unknown }).type === 'array') return 'one text and no list';
  const permitted = (params as { readonly allowedValues?: readonly unknown[] }).allowedValues;
  if (keyword !== 'enum') return describe(data);
  if (hasSeveral(data, permitted ?? [])) return 'several of them in one text';
  // All but a letter or two of it is in the permitted value, so it is no secret.
  const isShown = /^[\w.:-]{1,40}$/.test(data) && nearestOf(data, permitted ?? []) !== undefined;
  return isShown ? data : describe(data);
}

const nearestOf = (data: string, permitted: readonly unknown[]): string | undefined =>
  nearestText(
    data,
    permitted.filter((value) => typeof value === 'string'),
  );

/** Whether a text has several permitted values in it. */
const hasSeveral = (data: string, permitted: readonly unknown[]): boolean =>
  /[\s,]/.test(data) && data.split(/[\s,]+/).every((part) => permitted.includes(part));

/** The permitted value that a misspelt one is close to. */
function suggestion({ keyword, params, data }: ErrorObject): string {
  if (typeof data !== 'string') return '';
  const isLower = (schema: unknown) => new RegExp(String(schema)).test(data.toLowerCase());
  if (keyword === 'pattern' && isLower((params as { pattern?: unknown }).pattern)) return ' Write it in small letters.';
  if (keyword !== 'enum') return '';
  const permitted = (params as { readonly allowedValues: readonly unknown[] }).allowedValues;
  if (hasSeveral(data, permitted)) return ' Give each by itself, as an item of its own.';
  const nearest = nearestOf(data, permitted);
  return nearest === undefined ? '' : ` Did you mean ${nearest}?`;
}

const join = (path: string, name: string): string => (path === '' ? name : `${path}.${name}`);

/** Describes a value without its content, which may be a secret. */
function describe(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === 'string') return value === '' ? 'an empty text' : `a text of ${[...value].length} characters`;
  if (typeof value === 'object') return 'an object';
  // A number may be a password that was sent without quotes.
  return typeof value === 'number' ? 'a number' : `the value ${String(value)}`;
}
