import type { SignUpSettings } from '../sign-up-setting.ts';
import { identifierKey, splitEmail } from './profile.ts';

/** Whether people may sign up without an invitation. */
export const isOpen = ({ mode }: SignUpSettings): boolean => mode === 'open' || mode === 'domains';

/**
 * Whether people may have an email address, at sign-up and at each later change: with `TESSERA_SIGN_UP=domains` only one of exactly
 * these domains. Operators may set any address.
 */
export function mayHaveAddress({ mode, domains }: SignUpSettings, email: string): boolean {
  return mode !== 'domains' || domains.includes(splitEmail(identifierKey(email)).domain);
}

/** Whether a person with an address may create an account. */
export const mayJoin = (signUp: SignUpSettings, email: string, isInvited: boolean): boolean =>
  (isOpen(signUp) || (isInvited && signUp.mode === 'invitation')) && mayHaveAddress(signUp, email);
