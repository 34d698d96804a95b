import type { Factor } from './factors.ts';

/** What decides how a person can get into their account. */
export interface WaysInState {
  readonly factors: readonly Pick<Factor, 'kind'>[];
  /** Identities at other providers that can be used; none if left out. */
  readonly identities?: number;
  /** Recovery codes that can still be used. */
  readonly recoveryCodes: number;
  /** Whether this server sends mail. */
  readonly mailAvailable: boolean;
  /** Whether mail alone is not enough, by the person's choice or because a second factor is required of them. */
  readonly codeRequired: boolean;
}

/**
 * A way into an account, by what the person needs for it. A link by mail sets a new password. Where an authenticator app is set up, a
 * code of it or a recovery code is asked for as well; where mail alone is not enough, a recovery code.
 */
export type WayIn =
  | 'password'
  | 'passkey'
  | 'upstream'
  | 'mail'
  | 'mail and authenticator app'
  | 'mail and recovery code';

/** The ways into an account that do not need an operator, strongest first. */
export function waysIn({
  factors,
  identities = 0,
  recoveryCodes,
  mailAvailable,
  codeRequired,
}: WaysInState): readonly WayIn[] {
  const has = (kind: Factor['kind']): boolean => factors.some((factor) => factor.kind === kind);
  const ways: WayIn[] = [];
  if (has('passkey')) ways.push('passkey');
  if (has('password')) ways.push('password');
  if (identities > 0) ways.push('upstream');
  if (!mailAvailable) return ways;
  if (has('totp')) ways.push('mail and authenticator app');
  const asksForCode = codeRequired || has('totp');
  if (asksForCode && recoveryCodes > 0) ways.push('mail and recovery code');
  if (!asksForCode) ways.push('mail');
  return ways;
}

/** The ways that remain without any factor of a kind. Where there are none, the last of them must not be removed. */
export const waysInWithout = (state: WaysInState, removed: Factor['kind']): readonly WayIn[] =>
  waysIn({ ...state, factors: state.factors.filter(({ kind }) => kind !== removed) });
