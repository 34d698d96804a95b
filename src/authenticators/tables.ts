import type { StoredFlag, StoredId, StoredInstant, StoredJson } from '../platform/database/schema.ts';

/** Sign-ins that wait for a second factor: no session exists yet. */
export interface PendingSignInTable {
  /** The secret in the browser's cookie is stored as a hash. */
  hash: string;
  account_id: StoredId;
  generation: string;
  browser_hash: string;
  /** The methods that were used so far, */
  methods: StoredJson;
  /** and when what was used was set up. */
  factors_since: StoredJson | null;
  /** The digest of the pending request that needs the sign-in, if there is one. */
  interaction_hash: string | null;
  /** Where the person came from, if it was another provider. */
  upstream: StoredJson | null;
  created_at: StoredInstant;
  expires_at: StoredInstant;
}

/** The seeds of authenticator apps: one for each account. */
interface TotpSecretTable {
  account_id: StoredId;
  sealed: string;
  /** The generation in which it was enrolled; an enrollment that is not confirmed ends with it. */
  generation: string;
  created_at: StoredInstant;
  /** Null while the person has not shown a code. */
  confirmed_at: StoredInstant | null;
  /** The time step of the last code that was accepted: each is accepted once. */
  last_step: number;
}

/** Codes for people who lost their other factors. */
interface RecoveryCodeTable {
  account_id: StoredId;
  hash: string;
  created_at: StoredInstant;
  used_at: StoredInstant | null;
}

export interface PasskeyTable {
  /** The credential id, as base64url. */
  id: string;
  account_id: StoredId;
  /** COSE, as octets. */
  public_key: Uint8Array;
  counter: number;
  transports: StoredJson;
  name: string;
  aaguid: string;
  /** Whether it may be synced between devices, and whether it was when it was last used. */
  backup_eligible: StoredFlag;
  backed_up: StoredFlag;
  created_at: StoredInstant;
  last_used_at: StoredInstant | null;
}

/** Browsers in which the second factor is not asked for. */
export interface TrustedBrowserTable {
  /** The secret in the browser's cookie is stored as a hash. */
  hash: string;
  account_id: StoredId;
  generation: string;
  browser: string | null;
  system: string | null;
  network: string | null;
  created_at: StoredInstant;
  expires_at: StoredInstant;
}

/** Accounts that mail recovers only together with a recovery code, by their owners' choice. */
interface RecoverySettingTable {
  account_id: StoredId;
  code_required_at: StoredInstant;
}

declare module '../platform/database/schema.ts' {
  interface Tables {
    pending_sign_in: PendingSignInTable;
    totp_secret: TotpSecretTable;
    recovery_code: RecoveryCodeTable;
    passkey: PasskeyTable;
    trusted_browser: TrustedBrowserTable;
    recovery_setting: RecoverySettingTable;
  }
}
