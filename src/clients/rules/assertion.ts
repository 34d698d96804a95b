import { createVerifier } from 'fast-jwt';
import { MINUTE, SECOND } from '../../platform/clock.ts';
import { ASSERTION_ALGS, type AssertionAlg, type ClientKey } from './jwks.ts';

/** RFC 7523 §2.2. */
export const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

/** Longer than any that a client needs: decisions §9. */
const LONGEST = 8192;
const COMPACT = /^([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)\.[A-Za-z0-9_-]+$/;

/** How far the clocks of a client and of the server may lie apart. */
const CLOCK_SKEW = 30 * SECOND;
/** How long an assertion may live at most: its `jti` has to be remembered until then. */
const LONGEST_LIFE = 10 * MINUTE;

/** Explicit types that name what it is; none is usual too (draft-ietf-oauth-rfc7523bis). Another one is another JWT's. */
const TYPES = ['jwt', 'client-authentication+jwt'];

/** An assertion whose signature nobody has looked at: it says which client and key to look for, and no more. */
export interface ReadAssertion {
  readonly token: string;
  readonly clientId: string;
  readonly alg: AssertionAlg;
  readonly kid: string | undefined;
}

/** Reads what an assertion says of itself, or answers undefined where it cannot be one. */
export function readAssertion(token: string): ReadAssertion | undefined {
  const [, first = '', second = ''] = token.length > LONGEST ? [] : (COMPACT.exec(token) ?? []);
  const header = decode(first);
  const claims = decode(second);
  if (header === undefined || claims === undefined) return undefined;
  const { alg, kid, typ } = header;
  const known = ASSERTION_ALGS.find((one) => one === alg);
  if (known === undefined || (kid !== undefined && typeof kid !== 'string')) return undefined;
  // RFC 7515 §4.1.11: nothing that would have to be understood is.
  if ('crit' in header) return undefined;
  // RFC 8725 §3.11: what says that it is another kind of JWT is not an assertion, whoever signed it.
  if (
    typ !== undefined &&
    !(typeof typ === 'string' && TYPES.includes(typ.toLowerCase().replace(/^application\//, '')))
  ) {
    return undefined;
  }
  // RFC 7523 §3: issuer and subject are the client.
  const { iss, sub } = claims;
  if (typeof sub !== 'string' || iss !== sub) return undefined;
  return { token, clientId: sub, alg: known, kid };
}

function decode(part: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

/** The claims, where this key signed them with the algorithm that the key is for. */
export function verifyAssertion(
  { token, alg }: ReadAssertion,
  { algs, pem }: ClientKey,
): Readonly<Record<string, unknown>> | undefined {
  if (!algs.includes(alg)) return undefined;
  try {
    const verify = createVerifier({ key: pem, algorithms: [alg], ignoreExpiration: true, ignoreNotBefore: true });
    const claims: unknown = verify(token);
    return typeof claims === 'object' && claims !== null ? { ...claims } : undefined;
  } catch {
    return undefined;
  }
}

/** What an assertion is checked against. */
interface Expected {
  readonly clientId: string;
  /** The names of this server: its issuer identifier and the address of its token endpoint. */
  readonly audiences: readonly string[];
  readonly now: number;
}

/** What has to be remembered of an assertion, or why it is refused, in words of the log. */
export type AssertionVerdict =
  | { readonly kind: 'fits'; readonly jti: string; readonly expiresAt: number }
  | { readonly kind: 'refused'; readonly reason: string };

const refused = (reason: string): AssertionVerdict => ({ kind: 'refused', reason: `the assertion ${reason}` });

/** RFC 7523 §3 and OpenID Connect Core 1.0 §9, on claims whose signature is proved. */
export function judgeAssertion(
  claims: Readonly<Record<string, unknown>>,
  { clientId, audiences, now }: Expected,
): AssertionVerdict {
  const { iss, sub, aud, exp, iat, nbf, jti } = claims;
  if (iss !== clientId || sub !== clientId) return refused('is of another client');
  // A second audience could be a server that would present here what it was sent: draft-ietf-oauth-rfc7523bis §4.
  const named: readonly unknown[] = Array.isArray(aud) ? aud : [aud];
  const ours = named.length > 0 && named.every((one) => typeof one === 'string' && audiences.includes(one));
  if (!ours) return refused('is for another audience');
  if (!isTime(exp)) return refused('has no exp');
  // RFC 7519 §2: a NumericDate may have a fraction. What is remembered is a whole number of milliseconds, never less than that.
  const expiresAt = Math.ceil(exp * SECOND) + CLOCK_SKEW;
  if (expiresAt <= now) return refused('has expired');
  if (expiresAt > now + LONGEST_LIFE + 2 * CLOCK_SKEW) return refused('expires too late');
  for (const start of [nbf, iat]) {
    if (start === undefined) continue;
    if (!isTime(start) || start > exp) return refused('has times that make no sense');
    if (start * SECOND > now + CLOCK_SKEW) return refused('is of the future');
  }
  if (typeof jti !== 'string' || jti === '' || jti.length > 256) return refused('has no jti');
  return { kind: 'fits', jti, expiresAt };
}

const isTime = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value) && value > 0;
