import { decodeProtectedHeader } from 'jose/decode/protected_header';
import { decodeJwt } from 'jose/jwt/decode';

/** The parts of a JWT. */
export interface DecodedToken {
  /** Header, claims and signature as encoded in the token. */
  readonly parts: readonly [string, string, string];
  readonly header: Readonly<Record<string, unknown>>;
  readonly claims: Readonly<Record<string, unknown>>;
}

/**
 * Decodes a JWT without verifying it: RFC 7519 §3.1, RFC 7515 §3.1.
 * @returns undefined for anything that is not a JWT
 */
export function decodeToken(token: string): DecodedToken | undefined {
  const [header, claims, signature] = token.split('.');
  if (header === undefined || claims === undefined || signature === undefined) return undefined;
  try {
    return {
      parts: [header, claims, signature],
      header: { ...decodeProtectedHeader(token) },
      claims: decodeJwt(token),
    };
  } catch {
    return undefined;
  }
}

/** Claims in seconds since the epoch. */
const TIMES: ReadonlySet<string> = new Set(['exp', 'iat', 'auth_time']);

/** A claim's JSON, and its time in words where it is one. */
export function claimText(name: string, value: unknown): { readonly json: string; readonly time?: string } {
  const json = JSON.stringify(value);
  if (!TIMES.has(name) || typeof value !== 'number') return { json };
  return { json, time: `${new Date(value * 1000).toISOString().slice(0, 19).replace('T', ' ')} UTC` };
}
