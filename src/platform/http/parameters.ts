import type { FastifyRequest, FastifySchemaCompiler } from 'fastify';
import { Failure, notFound } from '../failure.ts';
import { invalidRequest, OAuthError } from '../oauth-error.ts';
import { findMisspelled, renameParameter } from '../validation/misspelled-parameter.ts';
import { findProblem } from '../validation/validate.ts';

/** Named strings of a query, a form or a JSON object, each name at most once. */
export interface Parameters {
  /** The value, or undefined if it is absent or empty (RFC 6749 §3.1: an empty parameter counts as omitted). */
  get(name: string): string | undefined;
  /** Whether the name was sent at all, also with an empty value. */
  has(name: string): boolean;
  /** Every value that is not empty, of the few names that may be repeated. */
  all(name: string): readonly string[];
  /** Another name that was sent and is only spelled differently, such as `clientId` for `client_id`. */
  misspelled(name: string): string | undefined;
}

/**
 * @param remedy what to send
 * @param confused other parameters that are sent in its place
 */
export function missingParameter(
  parameters: Parameters,
  name: string,
  remedy: string,
  confused: readonly string[] = [],
): OAuthError {
  const sent = parameters.misspelled(name) ?? confused.find((other) => parameters.has(other));
  return sent === undefined
    ? invalidRequest(`${name} is missing:`, remedy)
    : invalidRequest(`${name} is missing, and ${sent} was sent.`, renameParameter(sent, name));
}

/** A query or form, in which a name may be repeated by mistake. */
export interface RepeatableParameters extends Parameters {
  readonly repeated: ReadonlySet<string>;
  /** The names whose value is not percent-encoded UTF-8, so that its meaning is unknown. */
  readonly malformed: ReadonlySet<string>;
  /** The names whose value has a percent sign that no two hexadecimal digits follow: it stands for itself (URL Standard §1.3). */
  readonly brokenEscapes: ReadonlySet<string>;
  readonly names: readonly string[];
}

/** The query of a request to a route whose handler reads it: see {@link readByHandler}. */
export const queryOf = (request: FastifyRequest): RepeatableParameters => request.query as RepeatableParameters;

/** Parses `application/x-www-form-urlencoded` text: URL Standard §5.1. */
export function formParameters(text: string): RepeatableParameters {
  if (text === '') return NO_PARAMETERS;
  const values = new Map<string, string>();
  const repeated = new Map<string, string[]>();
  const malformed = new Set<string>();
  const brokenEscapes = new Set<string>();
  for (const pair of text.split('&')) {
    if (pair === '') continue;
    const end = pair.includes('=') ? pair.indexOf('=') : pair.length;
    const name = percentDecode(pair.slice(0, end));
    const value = percentDecode(pair.slice(end + 1));
    const before = values.get(name);
    const all = repeated.get(name);
    if (all !== undefined) all.push(value);
    else if (before !== undefined) repeated.set(name, [before, value]);
    if (value.includes('\ufffd') && replacements(value) > sentReplacements(pair.slice(end + 1))) malformed.add(name);
    if (BROKEN_ESCAPE.test(pair)) brokenEscapes.add(name);
    values.set(name, value);
  }
  return parametersOf(values, { repeated, malformed, brokenEscapes });
}

const BROKEN_ESCAPE = /%(?![0-9a-f]{2})/i;
const ESCAPE = /%([0-9a-f]{2})/gi;
const fromHex = (_: string, hex: string): string => String.fromCharCode(Number.parseInt(hex, 16));

/** Decodes bytes: the runtime's own decoders throw internally for each invalid text, and one form may contain thousands. */
function percentDecode(text: string): string {
  const spaced = text.replaceAll('+', ' ');
  if (!spaced.includes('%')) return spaced;
  // In ASCII, each escape is one character.
  if (!/%[89a-f][0-9a-f]/i.test(spaced)) return spaced.replace(ESCAPE, fromHex);
  const bytes = Buffer.from(spaced, 'utf8').toString('latin1').replace(ESCAPE, fromHex);
  return Buffer.from(bytes, 'latin1').toString('utf8');
}

/** Counts replacement characters. A decoded text has more than were sent if some of its bytes are not UTF-8. */
const replacements = (text: string): number => text.split('\ufffd').length;
const sentReplacements = (text: string): number => text.split(/\ufffd|%ef%bf%bd/i).length;

function parametersOf(
  values: ReadonlyMap<string, string>,
  {
    repeated,
    malformed,
    brokenEscapes,
  }: {
    readonly repeated: ReadonlyMap<string, readonly string[]>;
    readonly malformed: ReadonlySet<string>;
    readonly brokenEscapes: ReadonlySet<string>;
  },
): RepeatableParameters {
  return {
    get: (name) => values.get(name) || undefined,
    has: (name) => values.has(name),
    all: (name) => (repeated.get(name) ?? [values.get(name) ?? '']).filter((value) => value !== ''),
    misspelled: (name) => findMisspelled(name, values.keys()),
    repeated: new Set(repeated.keys()),
    malformed,
    brokenEscapes,
    names: [...values.keys()],
  };
}

const NO_PARAMETERS = parametersOf(new Map(), {
  repeated: new Map(),
  malformed: new Set(),
  brokenEscapes: new Set(),
});

/**
 * Reads named strings from a JSON object.
 * @param names the members that are read; others are ignored (RFC 6749 §3.2)
 * @param lists those of them that may also be an array of strings
 * @throws {OAuthError} `invalid_request` if one of these members is not a string
 */
export function jsonParameters(body: unknown, names: readonly string[], lists: readonly string[] = []): Parameters {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw invalidRequest(
      `The body must be one JSON object, and is ${describeJson(body)}.`,
      typeof body === 'string' ? 'Encode the object as JSON once.' : 'Send the parameters as members of one object.',
    );
  }
  const values = new Map<string, string>();
  const listed = new Map<string, readonly string[]>();
  for (const name of names) {
    if (!Object.hasOwn(body, name)) continue;
    const value: unknown = (body as Record<string, unknown>)[name];
    if (lists.includes(name) && isStringArray(value)) {
      listed.set(name, value);
      continue;
    }
    if (typeof value !== 'string')
      throw invalidRequest(
        `${name} must be a text in double quotes, and is ${describeJson(value)}.`,
        adviceForMember(name, value),
      );
    values.set(name, value);
  }
  return {
    get: (name) => values.get(name) || undefined,
    has: (name) => values.has(name) || listed.has(name),
    all: (name) => (listed.get(name) ?? [values.get(name) ?? '']).filter((value) => value !== ''),
    misspelled: (name) => findMisspelled(name, Object.keys(body)),
  };
}

/** Parameters of which one text has several values, with spaces between them. */
const SPACED: ReadonlySet<string> = new Set(['scope', 'prompt', 'acr_values']);

/** What to do about a member that is no text. */
function adviceForMember(name: string, value: unknown): string {
  if (Array.isArray(value) && SPACED.has(name)) return 'Send its values in one text, separated by spaces.';
  if (typeof value === 'number') {
    return 'Put it in double quotes, and never read it as a number: JavaScript rounds the last digits of long ones.';
  }
  return value === null ? 'Leave it out, or set the variable that should hold it.' : 'Send one text.';
}

/** What a JSON value is, without its content. */
function describeJson(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'object') return 'an object';
  if (typeof value !== 'string') return `a ${typeof value}`;
  return 'a string: it was encoded as JSON twice, or a form was encoded as JSON';
}

const isStringArray = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'string');

/** The keywords that the validators read from a schema of named values. */
export interface ObjectSchema {
  readonly properties: Readonly<Record<string, { readonly type?: unknown; readonly default?: unknown }>>;
  readonly additionalProperties?: unknown;
  readonly required?: readonly string[];
}

type ValidationResult = { readonly value: unknown } | { readonly error: OAuthError | Failure };

/** Validates JSON bodies, path parameters and queries by the schemas of the routes. */
export const compileValidator: FastifySchemaCompiler<unknown> = ({ schema, httpPart }) => {
  if (httpPart === 'querystring') return (query) => validationResult(() => readQuery(schema as ObjectSchema, query));
  return (value): ValidationResult => {
    const problem = findProblem(schema as object, value);
    if (problem === undefined) return { value };
    if (httpPart !== 'params') return { error: problem };
    // A path parameter that is not one of a few words, or that cannot be an id, names nothing.
    const error = problem.expected?.startsWith('one of ')
      ? notFound(problem.message, problem.expected)
      : notFound('There is nothing with this id. Use the id that the list shows, which is a number, and not the name.');
    return { error };
  };
};

/** For routes that read requests by themselves: their schemas are only documentation. */
export const readByHandler: FastifySchemaCompiler<unknown> = () => () => true;

/** The result of a validator in the form that Fastify expects: an `OAuthError` is returned instead of thrown. */
export function validationResult(read: () => unknown): ValidationResult {
  try {
    return { value: read() };
  } catch (error) {
    if (error instanceof OAuthError || error instanceof Failure) return { error };
    throw error;
  }
}

/** @throws {OAuthError} `invalid_request` naming the parameter */
function readQuery(schema: ObjectSchema, query: RepeatableParameters): object {
  const known = Object.keys(schema.properties);
  const found: Record<string, unknown> = {};
  for (const name of query.names) {
    if (schema.additionalProperties === false && !known.includes(name)) {
      const isPage = known.includes('cursor') && /^(page|offset|skip|start|after)$/i.test(name);
      const advice = isPage ? ' Pages are read with cursor: send the nextCursor of the response before.' : '';
      throw invalidRequest(`${name.slice(0, 64)} is not a parameter here: ${known.join(', ')} are.${advice}`);
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
