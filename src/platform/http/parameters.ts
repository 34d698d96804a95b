import { invalidRequest } from '../oauth-error.ts';

/** Named texts of a query, a form or a JSON object, each name at most once. */
export interface Parameters {
  /** The value, or undefined where it is absent or empty (RFC 6749 §3.1: an empty parameter counts as omitted). */
  get(name: string): string | undefined;
  /** Whether the name was there at all, also with an empty value. */
  has(name: string): boolean;
  /** Every value that is not empty, of the few names that may stand more than once. */
  all(name: string): readonly string[];
}

/** A query or form, in which a name may wrongly stand more than once. */
export interface RepeatableParameters extends Parameters {
  readonly repeated: ReadonlySet<string>;
  /** The names whose value is not the percent-encoding of UTF-8, so that nobody can say what was meant. */
  readonly malformed: ReadonlySet<string>;
  readonly names: readonly string[];
}

/** Reads `application/x-www-form-urlencoded` text: URL Standard §5.1. */
export function formParameters(text: string): RepeatableParameters {
  if (text === '') return NO_PARAMETERS;
  const values = new Map<string, string>();
  const repeated = new Map<string, string[]>();
  const malformed = new Set<string>();
  for (const pair of text.split('&')) {
    if (pair === '') continue;
    const end = pair.includes('=') ? pair.indexOf('=') : pair.length;
    const name = decoded(pair.slice(0, end));
    const value = decoded(pair.slice(end + 1));
    const before = values.get(name);
    const all = repeated.get(name);
    if (all !== undefined) all.push(value);
    else if (before !== undefined) repeated.set(name, [before, value]);
    if (value.includes('\ufffd') && replacements(value) > sentReplacements(pair.slice(end + 1))) malformed.add(name);
    values.set(name, value);
  }
  return parametersOf(values, repeated, malformed);
}

const ESCAPE = /%([0-9a-f]{2})/gi;
const fromHex = (_: string, hex: string): string => String.fromCharCode(Number.parseInt(hex, 16));

/** By bytes, for the runtime's own decoders throw inside at each text that is no UTF-8, and anybody may send thousands. */
function decoded(text: string): string {
  const spaced = text.replaceAll('+', ' ');
  if (!spaced.includes('%')) return spaced;
  // Of ASCII alone, each character is one byte.
  if (!/%[89a-f][0-9a-f]/i.test(spaced)) return spaced.replace(ESCAPE, fromHex);
  const bytes = Buffer.from(spaced, 'utf8').toString('latin1').replace(ESCAPE, fromHex);
  return Buffer.from(bytes, 'latin1').toString('utf8');
}

/** How many replacement characters stand in a text. There are more than were really sent where one stands for no character. */
const replacements = (text: string): number => text.split('\ufffd').length;
const sentReplacements = (text: string): number => text.split(/\ufffd|%ef%bf%bd/i).length;

function parametersOf(
  values: ReadonlyMap<string, string>,
  repeated: ReadonlyMap<string, readonly string[]>,
  malformed: ReadonlySet<string>,
): RepeatableParameters {
  return {
    get: (name) => values.get(name) || undefined,
    has: (name) => values.has(name),
    all: (name) => (repeated.get(name) ?? [values.get(name) ?? '']).filter((value) => value !== ''),
    repeated: new Set(repeated.keys()),
    malformed,
    names: [...values.keys()],
  };
}

const NO_PARAMETERS = parametersOf(new Map(), new Map(), new Set());

/**
 * Takes named texts out of a JSON object.
 * @param names the members that are looked at; others are ignored (RFC 6749 §3.2)
 * @param lists those of them that may also be a list of texts
 * @throws {OAuthError} `invalid_request` when a looked-at member is not a text
 */
export function jsonParameters(body: unknown, names: readonly string[], lists: readonly string[] = []): Parameters {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw invalidRequest('The body must be one JSON object.');
  }
  const values = new Map<string, string>();
  const listed = new Map<string, readonly string[]>();
  for (const name of names) {
    if (!Object.hasOwn(body, name)) continue;
    const value: unknown = (body as Record<string, unknown>)[name];
    if (lists.includes(name) && isListOfTexts(value)) {
      listed.set(name, value);
      continue;
    }
    if (typeof value !== 'string') throw invalidRequest(`${name} must be a text, in quotes.`);
    values.set(name, value);
  }
  return {
    get: (name) => values.get(name) || undefined,
    has: (name) => values.has(name) || listed.has(name),
    all: (name) => (listed.get(name) ?? [values.get(name) ?? '']).filter((value) => value !== ''),
  };
}

const isListOfTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'string');
