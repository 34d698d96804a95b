import type { Generated } from 'kysely';
import type { StoredFlag, StoredId, StoredInstant, StoredJson } from '../platform/database/schema.ts';

/** What operators did to clients that ends with them. */
interface ClientActTable {
  id: Generated<StoredId>;
  client_id: StoredId;
  operator_id: StoredId;
  kind: string;
  secret_id: StoredId | null;
  acted_at: StoredInstant;
}

/** Domains that were blocked, until they are blocked again: which operator unblocked them, and what was there before. */
interface UnblockedClientDomainTable {
  domain: string;
  operator_id: StoredId;
  unblocked_at: StoredInstant;
  blocker_id: StoredId | null;
  blocked_at: StoredInstant;
}

export interface ClientTable {
  id: StoredId;
  name: string;
  description: string | null;
  logo_url: string | null;
  homepage_url: string | null;
  policy_url: string | null;
  terms_url: string | null;
  redirect_uris: StoredJson;
  post_logout_redirect_uris: StoredJson;
  scopes: StoredJson | null;
  type: string;
  require_pkce: StoredFlag;
  /** Null where the registration leaves it out. */
  id_token_signed_response_alg: string | null;
  owner: string | null;
  status: string;
  generation: string;
  /** Changes with whatever a person's consent rested on: see clients/README.md. */
  consent_epoch: string;
  created_at: StoredInstant;
  updated_at: StoredInstant;
  /** Null is any method that presents a secret. */
  token_endpoint_auth_method: string | null;
  jwks: StoredJson | null;
  jwks_uri: string | null;
  backchannel_logout_uri: string | null;
  backchannel_logout_session_required: StoredFlag | null;
  userinfo_signed_response_alg: string | null;
  /** Null is what clients could use before they said: codes and refreshing. */
  grant_types: StoredJson | null;
  /** In seconds. */
  default_max_age: number | null;
  /** The identifier of a resource server; no two clients have the same. */
  resource: string | null;
  /** Of which registration grants and tokens for it are; null where that is older than marks. */
  resource_mark: string | null;
  /** The name of the picture, if there is one. */
  picture: string | null;
  contacts: StoredJson | null;
  faces: StoredJson | null;
  id_token_claims: string;
  require_second_factor: StoredFlag;
  /** With `assigned`, the status is never `active`, but `assigned`. */
  access: string;
  roles: StoredJson | null;
  groups_claim: string;
  claim_names: StoredJson | null;
  left_out: StoredJson | null;
  consent: string;
  consent_approval: StoredJson | null;
  /** Null for a client that declares no scopes. */
  resource_scopes: StoredJson | null;
  /** The organization that it belongs to; null for the installation. */
  organization_id: StoredId | null;
  /** The operator who made it as a developer; null for none. */
  developer_id: StoredId | null;
  narrowed: StoredJson | null;
  /** Who registered it, if not an operator. */
  registered_by: string | null;
  /** When an operator accepted it, if it needed that. */
  accepted_at: StoredInstant | null;
  /** The URL of its metadata document, which is its client_id. */
  metadata_url: string | null;
  metadata_host: string | null;
  /** When the copy of that document expires. */
  metadata_expires_at: StoredInstant | null;
  /** The hash of the token with which it manages its registration; null where it does not. */
  registration_hash: string | null;
  /** The initial access token with which it registered itself. */
  initial_token_id: StoredId | null;
  /** When it is removed unless a person has allowed it by then; null once one has. */
  unused_until: StoredInstant | null;
}

interface ClientSecretTable {
  id: StoredId;
  client_id: StoredId;
  hash: string;
  created_at: StoredInstant;
  last_used_at: StoredInstant | null;
  expires_at: StoredInstant | null;
}

interface ClientOriginTable {
  origin: string;
  client_id: StoredId;
}

/** A domain whose metadata documents are refused; with a dot in front, everything below it as well. */
interface BlockedClientDomainTable {
  domain: string;
  created_at: StoredInstant;
  /** Who blocked it; null for the command line on the server, and for those of before. */
  operator_id: Generated<StoredId | null>;
}

/** Tokens with which apps may register themselves. */
interface InitialAccessTokenTable {
  id: StoredId;
  name: string;
  hash: string;
  /** The admin key that handed it out; null for the command line. */
  admin_key_id: StoredId | null;
  created_at: StoredInstant;
  expires_at: StoredInstant;
  uses: number;
  most_uses: number;
  last_used_at: StoredInstant | null;
  revoked_at: StoredInstant | null;
}

/** A scope of an API that a client may request. Grants, codes and token families name it by its id. */
interface ApiScopeTable {
  id: StoredId;
  client_id: StoredId;
  /** The client that is registered as the API. */
  api_id: StoredId;
  name: string;
  created_at: StoredInstant;
}

/** A scope that the developer of an app asks operators for. */
interface ScopeRequestTable {
  id: StoredId;
  client_id: StoredId;
  scope: string;
  /** The resource of the API whose scope it is; null for a scope about the person. */
  resource: string | null;
  reason: string;
  /** The operator who asks: an account or an admin key; null for the command line. */
  asker_id: StoredId | null;
  asked_at: StoredInstant;
  /** Null while it waits. */
  outcome: string | null;
  /** Null for the command line. */
  decider_id: StoredId | null;
  decided_at: StoredInstant | null;
  answer: string | null;
}

declare module '../platform/database/schema.ts' {
  interface Tables {
    client_act: ClientActTable;
    unblocked_client_domain: UnblockedClientDomainTable;
    client: ClientTable;
    client_secret: ClientSecretTable;
    client_origin: ClientOriginTable;
    blocked_client_domain: BlockedClientDomainTable;
    initial_access_token: InitialAccessTokenTable;
    client_api_scope: ApiScopeTable;
    scope_request: ScopeRequestTable;
  }
}
