import type { Generated } from 'kysely';
import type { StoredId, StoredInstant, StoredJson } from '../platform/database/schema.ts';

/** Other providers through which people sign in. */
export interface UpstreamTable {
  id: StoredId;
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
  secret_expires_at: StoredInstant | null;
  /** Of the private key at Apple. */
  team_name: string | null;
  key_name: string | null;
  scopes: StoredJson;
  /** Who may create an account with it. */
  sign_up: string;
  sign_up_domains: StoredJson;
  /** For which addresses it is authoritative: also rows of `upstream_domain`, one for each domain. */
  domains: StoredJson;
  claims_map: StoredJson;
  /** The buttons are in this order. */
  position: number;
  /** `active` or `disabled`. */
  status: string;
  /** Random: another one since it was last disabled. */
  generation: string;
  created_at: StoredInstant;
  updated_at: StoredInstant;
}

/** Through which upstream alone the members of an organization use its apps. */
interface OrganizationUpstreamTable {
  organization_id: StoredId;
  upstream_id: StoredId;
}

/** The domains of email addresses for which upstreams are authoritative. */
interface UpstreamDomainTable {
  domain: string;
  upstream_id: StoredId;
}

/** Who is known at an upstream as whom. */
export interface UpstreamIdentityTable {
  /** Random. */
  id: string;
  upstream_id: StoredId;
  issuer: string;
  subject: string;
  account_id: StoredId;
  /** What the upstream called the person when the identity was connected: for its owner alone, and for no decision. */
  label: string | null;
  /** By the time of the account. */
  created_at: StoredInstant;
  last_used_at: StoredInstant | null;
  /** When the upstream last ended all of the person's sessions, by its time. */
  ended_at: StoredInstant | null;
  /** Of the address from which a picture was last fetched, or was to be. */
  picture_hash: string | null;
  picture_at: StoredInstant | null;
  /** The picture of the account that was last made of it. */
  picture_name: string | null;
}

/** The sessions that began with a sign-in at an upstream, as long as tokens of them may live. */
interface UpstreamSessionTable {
  /** Of the account and its `sid`. */
  hash: string;
  account_id: StoredId;
  sid: string;
  upstream_id: StoredId;
  identity_id: string;
  /** The name of the session at the upstream; null where it has not said one. */
  upstream_sid: string | null;
  expires_at: StoredInstant;
}

/** What operators did to other providers that ends with them. */
interface UpstreamActTable {
  id: Generated<StoredId>;
  upstream_id: StoredId;
  operator_id: StoredId;
  kind: string;
  /** What fields had before, and after. */
  changes: StoredJson;
  acted_at: StoredInstant;
}

/** What happened to accounts through other providers by what operators had done to these. */
interface UpstreamEffectTable {
  id: Generated<StoredId>;
  operator_id: StoredId;
  account_id: StoredId;
  kind: string;
  /** Of who joined a group. */
  group_member_id: StoredId | null;
  acted_at: StoredInstant;
}

declare module '../platform/database/schema.ts' {
  interface Tables {
    upstream: UpstreamTable;
    organization_upstream: OrganizationUpstreamTable;
    upstream_domain: UpstreamDomainTable;
    upstream_identity: UpstreamIdentityTable;
    upstream_session: UpstreamSessionTable;
    upstream_act: UpstreamActTable;
    upstream_effect: UpstreamEffectTable;
  }
}
