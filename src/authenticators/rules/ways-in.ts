import type { Factor } from './factors.ts';

/** What decides how a person can get into their account. */
export interface WaysInState {
  readonly factors: readonly Pick<Factor, 'kind'>[];
  /** Recovery codes that can still be used. */
  readonly recoveryCodes: number;
  /** Whether this server sends mail. */
  readonly mailAvailable: boolean;
  /** Whether a link by mail is enough where no authenticator app is set up; otherwise a recovery code is asked for, too. */
  readonly mailAlone: boolean;
}

/**
 * A way into an account, by what the person needs for it. A link by mail sets a new password. Where an authenticator app is set up, a
 * code of it or a recovery code is asked for as well.
 */
export type WayIn = 'password' | 'passkey' | 'mail' | 'mail and authenticator app' | 'mail and recovery code';

/** The ways into an account that do not need an operator, strongest first. */
export function waysIn({ factors, recoveryCodes, mailAvailable, mailAlone }: WaysInState): readonly WayIn[] {
  const has = (kind: Factor['kind']): boolean => factors.some((factor) => factor.kind === kind);
  const ways: WayIn[] = [];
  if (has('passkey')) ways.push('passkey');
  if (has('password')) ways.push('password');
  if (!mailAvailable) return ways;
  if (has('totp') && mailAlone) ways.push('mail and authenticator app');
  if ((has('totp') || !mailAlone) && recoveryCodes > 0) ways.push('mail and recovery code');
  if (!has('totp') && mailAlone) ways.push('mail');
  return ways;
}

/** What a person is about to remove or switch off. */
export type WayInRemoval = Factor['kind'] | 'recovery codes' | 'mail alone';

/** The ways that remain once something is removed. Where there are none, it must not be removed. */
export function waysInWithout(state: WaysInState, removed: WayInRemoval): readonly WayIn[] {
  if (removed === 'mail alone') return waysIn({ ...state, mailAlone: false });
  if (removed === 'recovery codes') return waysIn({ ...state, recoveryCodes: 0 });
  return waysIn({ ...state, factors: state.factors.filter(({ kind }) => kind !== removed) });
}
