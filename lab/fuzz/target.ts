import { Failure } from '../../src/platform/failure.ts';
import { OAuthError } from '../../src/platform/oauth-error.ts';

/**
 * A parser of what a stranger sends. It may refuse as it is meant to, by a result or an `OAuthError`; it throws when it fails in another way,
 * or when what it accepts is not what it promises.
 */
export interface Target {
  /** Inputs to begin with, beside the corpus. */
  readonly seeds: readonly string[];
  /** How the names and values of the format look, for mutations. */
  readonly words: readonly string[];
  run(input: string): void | Promise<void>;
}

/** Runs what may refuse with an error of the protocol. */
export function refusing<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (error instanceof OAuthError || error instanceof Failure) return undefined;
    throw error;
  }
}

export const jsonOf = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};

/** A token with a signature of three bytes. */
export const jwt = (header: object, claims: object) =>
  `${[header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')}.AAAA`;

/** The characters of a description: RFC 6749 §5.2. */
export const DESCRIPTION = /^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/;
