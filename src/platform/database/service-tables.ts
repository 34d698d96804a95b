// The tables of the service itself: its keys, processes and counts. The others are in schema.ts.

import type { Generated } from 'kysely';

/** Snowflake id as a decimal string. */
type Id = string;
/** Milliseconds since the Unix epoch. */
type Instant = number;
/** A JSON document. */
type Json = string;

export interface SigningKeyTable {
  kid: string;
  sealed: string;
  created_at: Instant;
  /** When the next key took over; null for the key that signs. */
  retired_at: Instant | null;
}

/** Key pairs that sign ID tokens. */
export interface IdTokenKeyTable {
  kid: string;
  alg: string;
  /** The private key. */
  sealed: string;
  public_jwk: Json;
  created_at: Instant;
  /** Published from the moment it was made; signs from here until the next of its algorithm does. */
  signs_from: Instant;
  /** When a client last gave up the algorithm. */
  given_up_at: Instant | null;
}

export interface KeySetTable {
  id: number;
  version: string;
}

export interface NodeLeaseTable {
  node: number;
  holder: string;
  expires_at: Instant;
}

/** The PostgreSQL server on which the data is known to be complete: see postgres/known-server.ts. */
export interface KnownServerTable {
  id: number;
  cluster: string;
  timeline: number;
  database: string;
  relation: string;
  release: number;
}

export interface RateCountTable {
  bucket: string;
  count: number;
  window_ends_at: Instant;
}

export interface AdminKeyTable {
  id: Id;
  name: string;
  hash: string;
  created_at: Instant;
  revoked_at: Instant | null;
  /** Null for a key of an earlier version, which has every right. */
  role: string | null;
  /** Null for the whole installation. */
  organization_id: Id | null;
  /** Null for a key that does not end by itself. */
  expires_at: Instant | null;
  /** To within an hour; null if it was never used. */
  last_used_at: Instant | null;
  /** The operator who made it; null for the command line. */
  maker_id: Id | null;
}

/** The admin key of the configuration, as the newest start had it: one row. */
export interface ConfiguredAdminKeyTable {
  id: number;
  /** Another key gets another one; null where none is configured. */
  key_id: Id | null;
  hash: string | null;
}

/** The steps of authorizations: see src/traces/README.md. */
export interface TraceStepTable {
  id: Generated<Id>;
  at: Instant;
  /** Each ring has a bounded number of rows. */
  ring: string;
  request_id: string;
  client_id: Id | null;
  account_id: Id | null;
  step: string;
  outcome: string;
  /** The digest of what the step was about: a pending request, a code or a token family. */
  flow: string | null;
  /** The digest of what the step issued. */
  leads_to: string | null;
  facts: Json;
}

/** The migrations that ran: see `migrations/migrate.ts`. */
export interface MigrationTable {
  name: string;
  earliest_version: string | null;
}

/** How far the migrations are that change rows in batches, and are not complete. */
export interface MigrationProgressTable {
  name: string;
  last_id: Id;
  rows_done: number;
}

/** How many events of a type there were in an hour. */
export interface EventCountTable {
  hour: number;
  type: string;
  reason: string;
  /** `0` for none. */
  client_id: string;
  count: number;
}

/** Up to which event they are counted: one row. */
export interface CountedEventTable {
  id: string;
  last_event: string;
}
