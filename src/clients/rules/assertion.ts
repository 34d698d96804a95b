import type { JWTPayload, ProtectedHeaderParameters } from 'jose';
import { decodeProtectedHeader } from 'jose/decode/protected_header';
import { decodeJwt } from 'jose/jwt/decode';
import { ASSERTION_ALGS, type AssertionAlg } from '../../keys/rules/jwks.ts';
import { MINUTE, SECOND } from '../../platform/clock.ts';

/** RFC 7523 §2.2. */
export const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

/** Longer than any that a client needs: decisions §9. */
const MAX_LENGTH = 8192;
const COMPACT = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/;

/** How far the clocks of a client and of the server may differ. */
const CLOCK_SKEW = 30 * SECOND;
/** The longest lifetime of an assertion: its `jti` is remembered until it has expired. */
const MAX_LIFETIME = 10 * MINUTE;

/** The explicit types of an assertion (draft-ietf-oauth-rfc7523bis); most have none. Any other is that of another kind of JWT. */
const TYPES = ['jwt', 'client-authentication+jwt'];

/** An assertion whose signature is not verified yet: it only tells which client and key to look for. */
export interface ReadAssertion {
  readonly token: string;
  readonly clientId: string;
  readonly alg: AssertionAlg;
  readonly kid: string | undefined;
}

/** What a text is that is no assertion, for the operator: it repeats nothing but the name of an algorithm. */
export interface UnreadableAssertion {
  readonly is: string;
}

const unreadable = (is: string): UnreadableAssertion => ({ is });

/** Reads an assertion without verifying it. */
export function readAssertion(token: string): ReadAssertion | UnreadableAssertion {
  const parts = token.length > MAX_LENGTH || !COMPACT.test(token) ? undefined : decode(token);
  if (parts === undefined) return unreadable('a text that is no JWT, or one that is longer than 8 KiB');
  const { alg, kid, typ } = parts.header;
  const known = ASSERTION_ALGS.find((one) => one === alg);
  if (known === undefined) return unreadable(describeAlg(alg));
  if (kid !== undefined && typeof kid !== 'string') return unreadable('an assertion whose kid is no string');
  // RFC 7515 §4.1.11: we understand no extension that could be critical.
  if ('crit' in parts.header) return unreadable('an assertion with crit in its header');
  // RFC 8725 §3.11: a JWT that says it is of another kind is not an assertion.
  if (typ !== undefined && !isAssertionType(typ)) return unreadable('a JWT whose typ is that of another kind');
  // RFC 7523 §3: issuer and subject are the client.
  const { iss, sub } = parts.claims;
  if (typeof sub !== 'string' || iss !== sub) return unreadable('an assertion whose iss and sub are not equal');
  return { token, clientId: sub, alg: known, kid };
}

function describeAlg(alg: unknown): string {
  if (typeof alg !== 'string' || !/^[A-Za-z0-9]{1,12}$/.test(alg)) return 'an assertion without an algorithm';
  const why = alg.startsWith('HS') ? ', as for client_secret_jwt, which is not offered' : '';
  return `an assertion with the algorithm ${alg}${why}`;
}

function decode(
  token: string,
): { readonly header: ProtectedHeaderParameters; readonly claims: JWTPayload } | undefined {
  try {
    return { header: decodeProtectedHeader(token), claims: decodeJwt(token) };
  } catch {
    return undefined;
  }
}

const isAssertionType = (typ: unknown): boolean =>
  typeof typ === 'string' && TYPES.includes(typ.toLowerCase().replace(/^application\//, ''));

/** What an assertion has to say. */
interface ExpectedAssertion {
  readonly clientId: string;
  /** The identifiers of this server: its issuer and the URL of its token endpoint. */
  readonly audiences: readonly string[];
  readonly now: number;
}

/** An assertion that is valid once: its `jti` is remembered until it has expired. */
interface ValidAssertion {
  readonly jti: string;
  readonly expiresAt: number;
}

/** Why an assertion is rejected, for the audit trail. */
interface InvalidAssertion {
  readonly reason: `the assertion ${AssertionFault}`;
}

/** What is wrong with the claims of an assertion. */
export type AssertionFault =
  | 'is of another client'
  | 'is for another audience'
  | 'has no exp'
  | 'has expired'
  | 'expires too late'
  | 'has times that make no sense'
  | 'is of the future'
  | 'has no jti';

const invalid = (fault: AssertionFault): { readonly fault: AssertionFault } => ({ fault });

/** Validates the claims of an assertion whose signature was verified: RFC 7523 §3 and OpenID Connect Core 1.0 §9. */
export function validateAssertion(
  claims: Readonly<Record<string, unknown>>,
  expected: ExpectedAssertion,
): ValidAssertion | InvalidAssertion {
  const judged = judgeClaims(claims, expected);
  return 'fault' in judged ? { reason: `the assertion ${judged.fault}` } : judged;
}

function judgeClaims(
  claims: Readonly<Record<string, unknown>>,
  { clientId, audiences, now }: ExpectedAssertion,
): ValidAssertion | { readonly fault: AssertionFault } {
  const { iss, sub, aud, exp, iat, nbf, jti } = claims;
  if (iss !== clientId || sub !== clientId) return invalid('is of another client');
  // Another audience could be a server that presents here what was sent to it: draft-ietf-oauth-rfc7523bis §4.
  const named: readonly unknown[] = Array.isArray(aud) ? aud : [aud];
  const isOurs = named.length > 0 && named.every((one) => typeof one === 'string' && audiences.includes(one));
  if (!isOurs) return invalid('is for another audience');
  if (!isTime(exp)) return invalid('has no exp');
  // RFC 7519 §2: a NumericDate may have a fraction. The stored time is a whole number of milliseconds, and never earlier.
  const expiresAt = Math.ceil(exp * SECOND) + CLOCK_SKEW;
  if (expiresAt <= now) return invalid('has expired');
  if (expiresAt > now + MAX_LIFETIME + 2 * CLOCK_SKEW) return invalid('expires too late');
  for (const start of [nbf, iat]) {
    if (start === undefined) continue;
    if (!isTime(start) || start > exp) return invalid('has times that make no sense');
    if (start * SECOND > now + CLOCK_SKEW) return invalid('is of the future');
  }
  if (typeof jti !== 'string' || jti === '' || jti.length > 256) return invalid('has no jti');
  return { jti, expiresAt };
}

/** What is wrong with the claims of an assertion, whether or not a key verifies it: anyone who has it can read them. */
export function claimsFault(
  assertion: ReadAssertion | undefined,
  audiences: readonly string[],
  now: number,
): AssertionFault | undefined {
  const claims = assertion === undefined ? undefined : decode(assertion.token)?.claims;
  if (assertion === undefined || claims === undefined) return undefined;
  const judged = judgeClaims(claims, { clientId: assertion.clientId, audiences, now });
  return 'fault' in judged ? judged.fault : undefined;
}

const isTime = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value) && value > 0;
