// The tables of clients. The others are in schema.ts.

import type { Generated } from 'kysely';

/** Snowflake id as a decimal string. */
type Id = string;
/** Milliseconds since the Unix epoch. */
type Instant = number;
/** 0 or 1. */
type Flag = number;
/** A JSON document. */
type Json = string;

export interface ClientTable {
  id: Id;
  name: string;
  description: string | null;
  logo_url: string | null;
  homepage_url: string | null;
  policy_url: string | null;
  terms_url: string | null;
  redirect_uris: Json;
  post_logout_redirect_uris: Json;
  scopes: Json | null;
  type: string;
  require_pkce: Flag;
  /** Null where the registration leaves it out. */
  id_token_signed_response_alg: string | null;
  owner: string | null;
  status: string;
  generation: string;
  /** Changes with whatever a person's consent rested on: see clients/README.md. */
  consent_epoch: string;
  created_at: Instant;
  updated_at: Instant;
  /** Null is any method that presents a secret. */
  token_endpoint_auth_method: string | null;
  jwks: Json | null;
  jwks_uri: string | null;
  backchannel_logout_uri: string | null;
  backchannel_logout_session_required: Flag | null;
  userinfo_signed_response_alg: string | null;
  /** Null is what clients could use before they said: codes and refreshing. */
  grant_types: Json | null;
  /** In seconds. */
  default_max_age: number | null;
  /** The identifier of a resource server; no two clients have the same. */
  resource: string | null;
  /** The name of the picture, if there is one. */
  picture: string | null;
  contacts: Json | null;
  faces: Json | null;
  id_token_claims: string;
  require_second_factor: Flag;
  /** With `assigned`, the status is never `active`, but `assigned`. */
  access: string;
  roles: Json | null;
  groups_claim: string;
  claim_names: Json | null;
  left_out: Json | null;
  consent: string;
  consent_approval: Json | null;
  /** Null for a client that declares no scopes. */
  resource_scopes: Json | null;
  /** The organization that it belongs to; null for the installation. */
  organization_id: Id | null;
  /** The operator who made it as a developer; null for none. */
  developer_id: Id | null;
  narrowed: Json | null;
  /** Who registered it, if not an operator. */
  registered_by: string | null;
  /** When an operator accepted it, if it needed that. */
  accepted_at: Instant | null;
  /** The URL of its metadata document, which is its client_id. */
  metadata_url: string | null;
  metadata_host: string | null;
  /** When the copy of that document expires. */
  metadata_expires_at: Instant | null;
  /** The hash of the token with which it manages its registration; null where it does not. */
  registration_hash: string | null;
  /** The initial access token with which it registered itself. */
  initial_token_id: Id | null;
  /** When it is removed unless a person has allowed it by then; null once one has. */
  unused_until: Instant | null;
}

/** Tokens with which apps may register themselves. */
interface InitialAccessTokenTable {
  id: Id;
  name: string;
  hash: string;
  /** The admin key that handed it out; null for the command line. */
  admin_key_id: Id | null;
  created_at: Instant;
  expires_at: Instant;
  uses: number;
  most_uses: number;
  last_used_at: Instant | null;
  revoked_at: Instant | null;
}

/** A domain whose metadata documents are refused; with a dot in front, everything below it as well. */
interface BlockedClientDomainTable {
  domain: string;
  created_at: Instant;
  /** Who blocked it; null for the command line on the server, and for those of before. */
  operator_id: Generated<Id | null>;
}

interface ClientSecretTable {
  id: Id;
  client_id: Id;
  hash: string;
  created_at: Instant;
  last_used_at: Instant | null;
  expires_at: Instant | null;
}

interface ClientOriginTable {
  origin: string;
  client_id: Id;
}

/** Assertions of clients that were used, until none of them could be used again. */
interface ClientAssertionTable {
  hash: string;
  expires_at: Instant;
}

/** A scope of an API that a client may request. Grants, codes and token families name it by its id. */
interface ApiScopeTable {
  id: Id;
  client_id: Id;
  /** The client that is registered as the API. */
  api_id: Id;
  name: string;
  created_at: Instant;
}

/** Access tokens that clients got for themselves, without a person. */
interface ClientTokenTable {
  jti: string;
  client_id: Id;
  client_generation: string;
  created_at: Instant;
  ends_at: Instant;
  dead_at: Instant | null;
  /** Null for none. */
  scopes: string | null;
}

/** A scope that the developer of an app asks operators for. */
interface ScopeRequestTable {
  id: Id;
  client_id: Id;
  scope: string;
  /** The resource of the API whose scope it is; null for a scope about the person. */
  resource: string | null;
  reason: string;
  /** The operator who asks: an account or an admin key; null for the command line. */
  asker_id: Id | null;
  asked_at: Instant;
  /** Null while it waits. */
  outcome: string | null;
  /** Null for the command line. */
  decider_id: Id | null;
  decided_at: Instant | null;
  answer: string | null;
}

export interface ClientTables {
  client: ClientTable;
  client_secret: ClientSecretTable;
  client_assertion: ClientAssertionTable;
  client_origin: ClientOriginTable;
  blocked_client_domain: BlockedClientDomainTable;
  initial_access_token: InitialAccessTokenTable;
  client_api_scope: ApiScopeTable;
  scope_request: ScopeRequestTable;
  client_token: ClientTokenTable;
}
