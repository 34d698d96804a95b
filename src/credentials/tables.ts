import type { Generated } from 'kysely';
import type { StoredFlag, StoredId, StoredInstant, StoredJson } from '../platform/database/schema.ts';

/** A device that waits for a person, or was answered: RFC 8628. */
export interface DeviceAuthorizationTable {
  hash: string;
  user_code: string;
  client_id: StoredId;
  client_generation: string;
  scopes: string;
  resources: StoredJson | null;
  network: string | null;
  created_at: StoredInstant;
  expires_at: StoredInstant;
  poll_interval: number;
  polled_at: StoredInstant | null;
  outcome: string | null;
  code_hash: string | null;
}

export interface AuthorizationCodeTable {
  hash: string;
  grant_id: StoredId;
  account_id: StoredId;
  client_id: StoredId;
  account_generation: string;
  client_generation: string;
  redirect_uri: string;
  scopes: string;
  /** Whether the person granted less than was asked for. */
  narrowed: StoredFlag;
  nonce: string | null;
  code_challenge: string | null;
  sid: string;
  auth_time: StoredInstant;
  expires_at: StoredInstant;
  redeemed_at: StoredInstant | null;
  family_id: StoredId | null;
  /** Single claims that were granted beside the scopes. */
  claims: StoredJson | null;
  resources: StoredJson | null;
  /** Scopes that the person has taken away since. */
  withdrawn_scopes: Generated<string>;
  /** As the session has it. */
  amr: StoredJson;
  acr: string | null;
  face: Generated<string>;
  /** Whether it is deleted, and its tokens are revoked, when the person ends the browser session. */
  ends_with_session: Generated<StoredFlag>;
  /** The assignment under which the person used the app; null where it is open to everyone. */
  assignment_id: StoredId | null;
  /** The membership in the group or organization that is assigned. */
  member_id: StoredId | null;
}

export interface TokenFamilyTable {
  id: StoredId;
  grant_id: StoredId;
  account_id: StoredId;
  client_id: StoredId;
  account_generation: string;
  client_generation: string;
  scopes: string;
  sid: string;
  auth_time: StoredInstant;
  /** Position of the live refresh token in the chain, from 1. */
  sequence: number;
  leaf_jti: string;
  leaf_kid: string;
  leaf_issued_at: StoredInstant;
  leaf_expires_at: StoredInstant;
  predecessor_jti: string | null;
  rotated_at: StoredInstant | null;
  created_at: StoredInstant;
  ends_at: StoredInstant;
  dead_at: StoredInstant | null;
  dead_reason: string | null;
  /** Single claims that were granted beside the scopes. */
  claims: StoredJson | null;
  resources: StoredJson | null;
  /** Scopes that the person has taken away since. */
  withdrawn_scopes: Generated<string>;
  /** As the session has it. */
  amr: StoredJson;
  acr: string | null;
  face: Generated<string>;
  /** Whether it is revoked when the person ends the browser session. */
  ends_with_session: Generated<StoredFlag>;
  /** When housekeeping looks at it next: no earlier than its tokens have expired. */
  review_at: Generated<StoredInstant>;
  /** As the code had it, or another one by which the person kept access. */
  assignment_id: StoredId | null;
  member_id: StoredId | null;
  /** From where a public client last got tokens; null for others, whose servers do. */
  last_network: string | null;
}

/** An app that is to be told that a session has ended. */
interface LogoutNoticeTable {
  id: Generated<StoredId>;
  client_id: StoredId;
  account_id: StoredId;
  /** Null is every session of the person. */
  sid: string | null;
  created_at: StoredInstant;
  attempts: number;
  /** When it is tried next, by whichever process comes first; while one is at it, when that one has given up. */
  due_at: StoredInstant;
}

/** Access tokens that clients got for themselves, without a person. */
interface ClientTokenTable {
  jti: string;
  client_id: StoredId;
  client_generation: string;
  created_at: StoredInstant;
  ends_at: StoredInstant;
  dead_at: StoredInstant | null;
  /** Null for none. */
  scopes: string | null;
  /** The resources that it is for; null for none. */
  resources: StoredJson | null;
}

declare module '../platform/database/schema.ts' {
  interface Tables {
    device_authorization: DeviceAuthorizationTable;
    authorization_code: AuthorizationCodeTable;
    token_family: TokenFamilyTable;
    logout_notice: LogoutNoticeTable;
    client_token: ClientTokenTable;
  }
}
