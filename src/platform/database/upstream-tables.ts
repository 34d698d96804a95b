// The tables of other providers through which people sign in.

/** Snowflake id as a decimal string. */
type Id = string;
/** Milliseconds since the Unix epoch. */
type Instant = number;
/** A JSON document. */
type Json = string;

/** Other providers through which people sign in. */
export interface UpstreamTable {
  id: Id;
  /** A slug, which is in its redirect URI. */
  name: string;
  display_name: string;
  /** `oidc`, `github` or `apple`. */
  kind: string;
  issuer: string;
  /** Ours there. */
  client_id: string;
  /** Null for a public client. */
  sealed_secret: string | null;
  secret_expires_at: Instant | null;
  /** Of the private key at Apple. */
  team_name: string | null;
  key_name: string | null;
  scopes: Json;
  /** Who may create an account with it. */
  sign_up: string;
  sign_up_domains: Json;
  /** For which addresses it is authoritative: also rows of `upstream_domain`, one for each domain. */
  domains: Json;
  claims_map: Json;
  /** The buttons are in this order. */
  position: number;
  /** `active` or `disabled`. */
  status: string;
  /** Random: another one since it was last disabled. */
  generation: string;
  created_at: Instant;
  updated_at: Instant;
}

/** Through which upstream alone the members of an organization use its apps. */
export interface OrganizationUpstreamTable {
  organization_id: Id;
  upstream_id: Id;
}

/** The domains of email addresses for which upstreams are authoritative. */
export interface UpstreamDomainTable {
  domain: string;
  upstream_id: Id;
}

/** Who is known at an upstream as whom. */
export interface UpstreamIdentityTable {
  /** Random. */
  id: string;
  upstream_id: Id;
  issuer: string;
  subject: string;
  account_id: Id;
  /** What the upstream called the person when the identity was connected: for its owner alone, and for no decision. */
  label: string | null;
  /** By the time of the account. */
  created_at: Instant;
  last_used_at: Instant | null;
  /** When the upstream last ended all of the person's sessions, by its time. */
  ended_at: Instant | null;
  /** Of the address from which a picture was last fetched, or was to be. */
  picture_hash: string | null;
  picture_at: Instant | null;
  /** The picture of the account that was last made of it. */
  picture_name: string | null;
}

/** The sessions that began with a sign-in at an upstream, as long as tokens of them may live. */
export interface UpstreamSessionTable {
  /** Of the account and its `sid`. */
  hash: string;
  account_id: Id;
  sid: string;
  upstream_id: Id;
  identity_id: string;
  /** The name of the session at the upstream; null where it has not said one. */
  upstream_sid: string | null;
  expires_at: Instant;
}
