import type { Account } from '../../accounts/store.ts';
import type { PasskeyProblem } from '../../authenticators/relying-party.ts';
import type { Method } from '../../authenticators/rules/authentication-context.ts';
import type { Limits } from '../../limits/settings.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Passwords } from '../../platform/crypto/passwords.ts';
import type { Database, Work } from '../../platform/database/database.ts';
import type { MappedClaims } from '../../upstreams/rules/claims-map.ts';
import type { UpstreamOrigin } from '../../upstreams/session-store.ts';
import type { SecurityNoticeServices } from '../notices/notices.ts';
import { authenticateByMailCode } from './mail-code.ts';
import { authenticateByPasskey } from './passkey.ts';
import { authenticateByPassword } from './password.ts';
import { authenticateByRecoveryCode } from './recovery-code.ts';
import { authenticateByTotp } from './totp.ts';
import { authenticateByUpstream } from './upstream.ts';

export interface AuthenticationServices extends SecurityNoticeServices {
  readonly database: Database;
  readonly clock: Clock;
  readonly passwords: Passwords;
  readonly limits: Limits;
}

/** A person who proved who they are. */
export interface Authenticated {
  readonly kind: 'authenticated';
  /** As it is under the lock of the unit of work. */
  readonly account: Account;
  readonly method: Method;
  /** When that with which they proved it was set up, by the time of the account; null for a code by mail. */
  readonly factorSince: number | null;
  /** Where the person came from, if it was another provider. */
  readonly upstream?: UpstreamOrigin;
  /** What that writes into the account. */
  readonly mapped?: MappedClaims;
}

/** Too many attempts: nothing was checked. */
export interface AttemptsLimited {
  readonly kind: 'limited';
  readonly seconds: number;
}

export type AuthenticationRefusal =
  | AttemptsLimited
  /** An unknown name or a wrong secret, which are not told apart. */
  | { readonly kind: 'wrong' }
  /** A passkey that is not on record, such as one that was removed. Whether its device may forget it, too: it may still undo a change. */
  | { readonly kind: 'unknown passkey'; readonly credentialId: string; readonly isOfUse: boolean }
  | { readonly kind: 'wrong passkey'; readonly problem: PasskeyProblem }
  /** Told only after the right secret. */
  | { readonly kind: 'banned' | 'suspended'; readonly account: Account }
  /** The right secret, but the account was secured while it was checked (AC-08). */
  | { readonly kind: 'changed' };

/**
 * What an attempt came to, before anything is written. `complete` belongs in the unit of work that starts the session: it locks
 * the account, makes sure that what was checked still holds, and records a refusal.
 */
export interface CheckedAttempt {
  readonly kind: 'checked';
  complete(): Work<Authenticated | AuthenticationRefusal>;
}

/** Counts an attempt against its limits, then checks it. */
export type Authenticator<Attempt> = (
  services: AuthenticationServices,
  attempt: Attempt,
  now: number,
) => Promise<CheckedAttempt | AttemptsLimited>;

/** How people may prove who they are. */
export const authenticators = {
  password: authenticateByPassword,
  passkey: authenticateByPasskey,
  totp: authenticateByTotp,
  'recovery code': authenticateByRecoveryCode,
  'mail code': authenticateByMailCode,
  upstream: authenticateByUpstream,
} as const;
