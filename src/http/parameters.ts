import { invalidRequest } from '../oauth-error.ts';

/** Named texts of a query, a form or a JSON object, each name at most once. */
export interface Parameters {
  /** The value, or undefined where it is absent or empty (RFC 6749 §3.1: an empty parameter counts as omitted). */
  get(name: string): string | undefined;
  /** Whether the name was there at all, also with an empty value. */
  has(name: string): boolean;
}

/** A query or form, in which a name may wrongly stand more than once. */
export interface RepeatableParameters extends Parameters {
  readonly repeated: ReadonlySet<string>;
  readonly names: readonly string[];
}

/** Reads `application/x-www-form-urlencoded` text. */
export function formParameters(text: string): RepeatableParameters {
  const values = new Map<string, string>();
  const repeated = new Set<string>();
  for (const [name, value] of new URLSearchParams(text)) {
    if (values.has(name)) repeated.add(name);
    values.set(name, value);
  }
  return {
    get: (name) => values.get(name) || undefined,
    has: (name) => values.has(name),
    repeated,
    names: [...values.keys()],
  };
}

/**
 * Takes named texts out of a JSON object.
 * @param names the members that are looked at; others are ignored (RFC 6749 §3.2)
 * @throws {OAuthError} `invalid_request` when a looked-at member is not a text
 */
export function jsonParameters(body: unknown, names: readonly string[]): Parameters {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw invalidRequest('The body must be one JSON object.');
  }
  const values = new Map<string, string>();
  for (const name of names) {
    if (!Object.hasOwn(body, name)) continue;
    const value: unknown = (body as Record<string, unknown>)[name];
    if (typeof value !== 'string') throw invalidRequest(`${name} must be a text.`);
    values.set(name, value);
  }
  return { get: (name) => values.get(name) || undefined, has: (name) => values.has(name) };
}
