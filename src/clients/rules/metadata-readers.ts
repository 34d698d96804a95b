import { type JwkSet, readRegisteredSet } from '../../keys/rules/jwks.ts';
import { formats } from '../../platform/validation/formats.ts';
import { serverUriProblem } from './redirect-uri.ts';

// The metadata of RFC 7591 §2, as apps state it of themselves.

const LONGEST_NAME = 64;
export const MAX_URIS = 50;

export const isList = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'string');

export const readUris = (value: unknown): readonly string[] | undefined =>
  isList(value) && value.length <= MAX_URIS && new Set(value).size === value.length ? value : undefined;

/** A name that a page can show; undefined for any other, so that the host stands in its place. */
/** Characters that nobody sees, by which a name can look like another one. The joiners are not among them: scripts and emoji need them. */
const WITHOUT_WIDTH = /[\u00ad\u180e\u200b\u2060-\u2064\ufeff]/;

export const readName = (value: unknown): string | undefined =>
  typeof value === 'string' &&
  value.length <= LONGEST_NAME &&
  !WITHOUT_WIDTH.test(value) &&
  formats['single-line'](value)
    ? value
    : undefined;

export const readWebAddress = (value: unknown): string | null =>
  typeof value === 'string' && formats['https-url'](value) ? value : null;

export const readServerUri = (value: unknown): string | null =>
  typeof value === 'string' && serverUriProblem(value) === undefined ? value : null;

/** Public keys only. */
export function readKeys({
  jwks,
  jwks_uri: uri,
}: Readonly<Record<string, unknown>>):
  | { readonly jwks: JwkSet | null; readonly jwksUri: string | null }
  | { readonly problem: string } {
  if (jwks !== undefined) {
    const reading = readRegisteredSet(jwks, 'jwks');
    if ('problem' in reading) return { problem: `${reading.problem}.` };
    return uri === undefined
      ? { jwks: reading.set, jwksUri: null }
      : { problem: 'jwks and jwks_uri exclude each other.' };
  }
  if (uri === undefined) return { jwks: null, jwksUri: null };
  const jwksUri = readServerUri(uri);
  return jwksUri === null ? { problem: 'jwks_uri must be an absolute https URL.' } : { jwks: null, jwksUri };
}
