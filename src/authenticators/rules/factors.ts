import { CLOCK_SKEW, MINUTE } from '../../platform/clock.ts';
import type { MappedClaims } from '../../upstreams/rules/claims-map.ts';
import type { UpstreamOrigin } from '../../upstreams/session-store.ts';
import type { Method } from './authentication-context.ts';

/** Something that a person has set up to prove who they are. */
export interface Factor {
  readonly kind: 'password' | 'totp' | 'passkey';
  /** When it was set up; 0 for a password, which every change replaces together with all sessions. */
  readonly createdAt: number;
}

/** How much each method proves, for the changes that ask for a fresh proof. A recovery code stands in for the authenticator app. */
const STRENGTH: Readonly<Record<Method, number>> = {
  'mail code': 0,
  // It takes the place of no password: who took over the account there must not change how its owner signs in here.
  upstream: 0.5,
  password: 1,
  totp: 2,
  'recovery code': 2,
  passkey: 3,
};

/** How long a proof is fresh. */
const PROOF_LIFETIME = 10 * MINUTE;

/** What a session says of the last proof. */
interface Proof {
  readonly authTime: number;
  readonly provedAt: number;
  readonly provedBy: Method;
  readonly provedFactorSince: number | null;
}

/** A factor that a person used. */
export interface FactorUse {
  readonly method: Method;
  /** When it was set up, by the time of the account; null for a code by mail, and where that is not known. */
  readonly factorSince: number | null;
  /** Where the person came from, if it was another provider. */
  readonly upstream?: UpstreamOrigin;
  /** What that writes into the account once the sign-in is complete. */
  readonly mapped?: MappedClaims;
}

/** The strongest of the methods that a person used. */
export const strongest = (methods: readonly Method[]): Method =>
  methods.reduce((best, method) => (STRENGTH[method] > STRENGTH[best] ? method : best), methods[0] ?? 'mail code');

/**
 * The factor that a dangerous change asks for: the strongest of those that were set up before the session began, so that a stolen
 * session cannot add one to satisfy it. A person who has none of these proves their address.
 */
export function proofAsked(factors: readonly Factor[], { authTime }: Pick<Proof, 'authTime'>): Method {
  return strongest(['mail code', ...factors.filter(({ createdAt }) => createdAt < authTime).map(({ kind }) => kind)]);
}

/** Methods that are set up while sessions go on. A password is replaced together with all sessions. */
const isAddedInSessions = (method: Method): boolean => method !== 'password' && method !== 'mail code';

/**
 * Whether a factor can prove who a person is, in a session that began at `authTime`. A second factor or another provider that was set up
 * since then cannot: who stole the session may have added it.
 */
export const isProofIn = ({ authTime }: Pick<Proof, 'authTime'>, { method, factorSince }: FactorUse): boolean =>
  !isAddedInSessions(method) || factorSince === null || factorSince < authTime;

/**
 * When a session begins that was proved so: later than every factor that began it was set up, even by a node whose clock is ahead within the
 * tolerance.
 */
export const beginningOf = (used: readonly FactorUse[], now: number): number =>
  used.reduce((at, { method, factorSince }) => {
    const isAhead = isAddedInSessions(method) && factorSince !== null && factorSince <= now + CLOCK_SKEW;
    return isAhead ? Math.max(at, factorSince + 1) : at;
  }, now);

/** Whether a dangerous change needs another proof first (decisions §11). */
export function needsProof(factors: readonly Factor[], session: Proof, now: number): boolean {
  const { authTime, provedAt, provedBy, provedFactorSince } = session;
  if (now - provedAt >= PROOF_LIFETIME) return true;
  // The factor of the sign-in itself is older than the session, whatever the clocks say.
  const isProved = provedAt === authTime || isProofIn(session, { method: provedBy, factorSince: provedFactorSince });
  return STRENGTH[isProved ? provedBy : 'mail code'] < STRENGTH[proofAsked(factors, session)];
}

/**
 * The second factors of which one is asked after the first; empty where none is. A passkey is two factors in one act, so nothing is
 * asked after it; and a person who has an authenticator app can always use a recovery code instead.
 */
export function secondFactors(used: readonly Method[], factors: readonly Factor[]): readonly Method[] {
  if (used.includes('passkey') || used.includes('totp') || used.includes('recovery code')) return [];
  if (!factors.some(({ kind }) => kind === 'totp')) return [];
  return factors.some(({ kind }) => kind === 'passkey')
    ? ['passkey', 'totp', 'recovery code']
    : ['totp', 'recovery code'];
}
