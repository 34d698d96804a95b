import {
  ACR,
  ACR_MFA,
  ACR_PHISHING_RESISTANT,
  type AuthenticationContext,
  type Method,
  meetsAcr,
  strongerAcr,
  weakestAcr,
} from './authentication-context.ts';
import { type Factor, needsProof, proofAsked } from './factors.ts';

/**
 * The class that an authorization requires, of all that ask for one; null where nothing does.
 * @param requested the classes that satisfy the request, if it names any
 * @param policies the classes that the installation, the organization and the app require; null for those that require none
 */
export function requiredAcr(requested: readonly string[] | null, policies: readonly (string | null)[]): string | null {
  return [requested === null ? null : weakestAcr(requested), ...policies].reduce(strongerAcr, null);
}

/** Whether a second factor is required of a person, by the installation or their organization, or of everyone who uses an app. */
export interface SecondFactorPolicies {
  readonly person: boolean;
  readonly client: boolean;
}

/** The classes that the policies require, for {@link requiredAcr}; null for each that requires none. */
export const policyAcrs = ({ person, client }: SecondFactorPolicies): readonly (string | null)[] =>
  [person, client].map((isRequired) => (isRequired ? ACR_MFA : null));

/** How a person who is signed in can meet a class. */
export type StepUp =
  /** It is met already. */
  | { readonly kind: 'met' }
  /** By one of these methods, in this session. */
  | { readonly kind: 'prove'; readonly methods: readonly Method[] }
  /** By another sign-in, with the password first. */
  | { readonly kind: 'sign in' }
  /** By a factor that the person sets up now: one of these. */
  | { readonly kind: 'enroll'; readonly factors: readonly EnrollableFactor[] }
  /** By none of the factors that the person has. */
  | { readonly kind: 'unreachable' };

export type EnrollableFactor = Exclude<Factor['kind'], 'password'>;

/** What is missing between a session and a class. */
export function stepUpTo(
  required: string | null,
  { amr, acr }: AuthenticationContext,
  factors: readonly Pick<Factor, 'kind'>[],
): StepUp {
  if (required === null || meetsAcr(acr, required)) return { kind: 'met' };
  const has = (kind: Factor['kind']) => factors.some((factor) => factor.kind === kind);
  const passkey: readonly Method[] = has('passkey') ? ['passkey'] : [];
  if (required === ACR_PHISHING_RESISTANT) {
    return passkey.length > 0 ? { kind: 'prove', methods: passkey } : { kind: 'unreachable' };
  }
  const codes: readonly Method[] = has('totp') ? ['totp', 'recovery code'] : [];
  // A code adds to a password, and to nothing else.
  const inSession = required === ACR_MFA && amr.includes('pwd') ? [...passkey, ...codes] : passkey;
  if (inSession.length > 0) return { kind: 'prove', methods: inSession };
  const bySignIn = has('password') && (required === ACR || codes.length > 0);
  return bySignIn ? { kind: 'sign in' } : { kind: 'unreachable' };
}

/**
 * How a person who has no factor for a class can set one up: after the proof that every new factor asks for.
 * @param passkeys whether browsers have passkeys for the base URL
 */
export function enrollmentFor(
  required: string,
  session: Parameters<typeof needsProof>[1],
  factors: readonly Factor[],
  { passkeys, now }: { readonly passkeys: boolean; readonly now: number },
): StepUp {
  const enrollable: EnrollableFactor[] = passkeys ? ['passkey'] : [];
  // A code adds to a password, and to nothing else.
  if (required === ACR_MFA && factors.some(({ kind }) => kind === 'password')) enrollable.unshift('totp');
  if (enrollable.length === 0) return { kind: 'unreachable' };
  if (!needsProof(factors, session, now)) return { kind: 'enroll', factors: enrollable };
  const asked = proofAsked(factors, session);
  return asked === 'totp' ? { kind: 'prove', methods: ['totp', 'recovery code'] } : { kind: 'sign in' };
}
