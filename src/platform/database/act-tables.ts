// The tables of what operators did, by which it ends with them. The others are in schema.ts.

import type { Generated } from 'kysely';

/** Snowflake id as a decimal string. */
type Id = string;
/** Milliseconds since the Unix epoch. */
type Instant = number;
/** A JSON document. */
type Json = string;

/** What operators did to accounts: of each kind of act the last one. */
export interface AccountActTable {
  id: Generated<Id>;
  account_id: Id;
  operator_id: Id;
  kind: string;
  acted_at: Instant;
}

/** When operators did something to accounts with which they may sign in to them, and until when. */
export interface AccountOpeningTable {
  id: Generated<Id>;
  operator_id: Id;
  account_id: Id;
  kind: string;
  acted_at: Instant;
  /** Null while an authenticator app from before keeps the operator out. */
  usable_at: Instant | null;
  /** Null while the account has the address from before. */
  moved_at: Instant | null;
  /** Null while the operator may still be able to sign in so. */
  ended_at: Instant | null;
  review_at: Instant;
}

/** What operators did to clients that ends with them. */
export interface ClientActTable {
  id: Generated<Id>;
  client_id: Id;
  operator_id: Id;
  kind: string;
  secret_id: Id | null;
  acted_at: Instant;
}

/** What operators did to other providers that ends with them. */
export interface UpstreamActTable {
  id: Generated<Id>;
  upstream_id: Id;
  operator_id: Id;
  kind: string;
  /** What fields had before, and after. */
  changes: Json;
  acted_at: Instant;
}

/** What happened to accounts through other providers by what operators had done to these. */
export interface UpstreamEffectTable {
  id: Generated<Id>;
  operator_id: Id;
  account_id: Id;
  kind: string;
  /** Of who joined a group. */
  group_member_id: Id | null;
  acted_at: Instant;
}

/** What operators changed of an app, an organization or a group that may let somebody in. */
export interface SettingChangeTable {
  id: Generated<Id>;
  operator_id: Id;
  client_id: Id | null;
  organization_id: Id | null;
  group_id: Id | null;
  /** What fields had before, and after. */
  changes: Json;
  acted_at: Instant;
}

/** Domains that were blocked, until they are blocked again: which operator unblocked them, and what was there before. */
export interface UnblockedClientDomainTable {
  domain: string;
  operator_id: Id;
  unblocked_at: Instant;
  blocker_id: Id | null;
  blocked_at: Instant;
}

export interface ActTables {
  account_act: AccountActTable;
  account_opening: AccountOpeningTable;
  client_act: ClientActTable;
  upstream_act: UpstreamActTable;
  upstream_effect: UpstreamEffectTable;
  setting_change: SettingChangeTable;
  unblocked_client_domain: UnblockedClientDomainTable;
}
