import type { Generated } from 'kysely';
import type { ActTables } from './act-tables.ts';
import type { ClientTables } from './client-tables.ts';
import type {
  AddressChangeTable,
  AppAssignmentTable,
  BulkTables,
  ChallengeTable,
  DataExportPieceTable,
  DataExportTable,
  DataKeyTable,
  GivenRightTable,
  GroupMemberTable,
  GroupTable,
  InvitationTable,
  MailRequestTable,
  MailTable,
  MembershipTable,
  OperatorGrantTable,
  OrganizationTable,
  PasskeyTable,
  PendingSignInTable,
  PictureTable,
  RecoveryCodeTable,
  RecoverySettingTable,
  ReplacedValueTable,
  TotpSecretTable,
  TrustedBrowserTable,
  UsernameReservationTable,
} from './people-tables.ts';
import type {
  AdminKeyTable,
  ConfiguredAdminKeyTable,
  CountedEventTable,
  EventCountTable,
  IdTokenKeyTable,
  KeySetTable,
  KnownServerTable,
  MigrationProgressTable,
  MigrationTable,
  NodeLeaseTable,
  RateCountTable,
  SigningKeyTable,
  TraceStepTable,
} from './service-tables.ts';
import type {
  OrganizationUpstreamTable,
  UpstreamDomainTable,
  UpstreamIdentityTable,
  UpstreamSessionTable,
  UpstreamTable,
} from './upstream-tables.ts';

/** Snowflake id as a decimal string. */
type Id = string;
/** Milliseconds since the Unix epoch. */
type Instant = number;
/** 0 or 1. */
type Flag = number;
/** A JSON document. */
type Json = string;

export interface AccountTable {
  id: Id;
  username: string;
  email: string;
  /** The address in lower case, its domain in ASCII: what uniqueness and sign-in go by. */
  email_key: string;
  email_verified: Flag;
  password_hash: string | null;
  /** Null since the account was created, or for longer than this is recorded. */
  password_set_at: Instant | null;
  generation: string;
  display_name: string;
  about: string;
  language: string;
  theme: string | null;
  website: string | null;
  location: string | null;
  birth_date: string | null;
  phone: string | null;
  social_links: Json;
  avatar_color: string;
  banned_at: Instant | null;
  banned_until: Instant | null;
  ban_reason: string | null;
  suspended_at: Instant | null;
  suspension_reason: string | null;
  deletion_requested_at: Instant | null;
  /** When it is deleted. Until then its owner may come back. */
  deletion_due_at: Instant | null;
  created_at: Instant;
  updated_at: Instant;
  /** The name of the picture, if there is one. */
  picture: string | null;
}

export interface BrowserSessionTable {
  hash: string;
  sid: string;
  account_id: Id;
  generation: string;
  auth_time: Instant;
  last_seen_at: Instant;
  expires_at: Instant;
  browser: string | null;
  system: string | null;
  network: string | null;
  /** The methods of the sign-in, by their names in RFC 8176. */
  amr: Json;
  acr: string | null;
  /** When the person last proved who they are, by the strongest factor that was asked for, */
  proved_at: Generated<Instant>;
  /** and by which. */
  proved_by: Generated<string>;
  proved_factor_since: Instant | null;
  proved_after: Instant | null;
}

export interface KnownBrowserTable {
  account_id: Id;
  browser_hash: string;
  /** The secret of its last sign-in, as a hash; null where version 0.2 stored it. */
  secret_hash: string | null;
  last_seen_at: Instant;
}

export interface InteractionTable {
  hash: string;
  browser_hash: string;
  /** Null for a client that is not on record before a person has consented. */
  client_id: Id | null;
  request: Json;
  /** As octets; null where the request has none. */
  state: Uint8Array | null;
  created_at: Instant;
  expires_at: Instant;
  /** Hash of the session that signed in for this very request. */
  signed_in_session: string | null;
  /** Hash of the session with which the person chose to go on. */
  chosen_session: string | null;
  outcome: string | null;
}

/** A device that waits for a person, or was answered: RFC 8628. */
export interface DeviceAuthorizationTable {
  hash: string;
  user_code: string;
  client_id: Id;
  client_generation: string;
  scopes: string;
  resources: Json | null;
  network: string | null;
  created_at: Instant;
  expires_at: Instant;
  poll_interval: number;
  polled_at: Instant | null;
  outcome: string | null;
  code_hash: string | null;
}

export interface ConsentGrantTable {
  id: Id;
  account_id: Id;
  client_id: Id;
  scopes: string;
  declined_scopes: string;
  consent_epoch: string;
  created_at: Instant;
  updated_at: Instant;
  revoked_at: Instant | null;
  resources: Json | null;
  face: Generated<string>;
  /** Whether the consent page is shown whatever was decided before. */
  ask_again: Generated<Flag>;
  /** When the token families that were removed by now were last used. */
  last_used_at: Generated<Instant | null>;
  /** Who decided last: the person, or an operator for all. */
  decided_by: Generated<string>;
}

/** The last time that a person took an app's access away. */
export interface ConsentRevocationTable {
  account_id: Id;
  client_id: Id;
  /** Random: another one for each revocation. */
  name: string;
  revoked_at: Instant;
}

export interface AuthorizationCodeTable {
  hash: string;
  grant_id: Id;
  account_id: Id;
  client_id: Id;
  account_generation: string;
  client_generation: string;
  redirect_uri: string;
  scopes: string;
  /** Whether the person granted less than was asked for. */
  narrowed: Flag;
  nonce: string | null;
  code_challenge: string | null;
  sid: string;
  auth_time: Instant;
  expires_at: Instant;
  redeemed_at: Instant | null;
  family_id: Id | null;
  /** Single claims that were granted beside the scopes. */
  claims: Json | null;
  resources: Json | null;
  /** Scopes that the person has taken away since. */
  withdrawn_scopes: Generated<string>;
  /** As the session has it. */
  amr: Json;
  acr: string | null;
  face: Generated<string>;
  /** Whether it is deleted, and its tokens are revoked, when the person ends the browser session. */
  ends_with_session: Generated<Flag>;
  /** The assignment under which the person used the app; null where it is open to everyone. */
  assignment_id: Id | null;
  /** The membership in the group or organization that is assigned. */
  member_id: Id | null;
}

export interface TokenFamilyTable {
  id: Id;
  grant_id: Id;
  account_id: Id;
  client_id: Id;
  account_generation: string;
  client_generation: string;
  scopes: string;
  sid: string;
  auth_time: Instant;
  /** Position of the live refresh token in the chain, from 1. */
  sequence: number;
  leaf_jti: string;
  leaf_kid: string;
  leaf_issued_at: Instant;
  leaf_expires_at: Instant;
  predecessor_jti: string | null;
  rotated_at: Instant | null;
  created_at: Instant;
  ends_at: Instant;
  dead_at: Instant | null;
  dead_reason: string | null;
  /** Single claims that were granted beside the scopes. */
  claims: Json | null;
  resources: Json | null;
  /** Scopes that the person has taken away since. */
  withdrawn_scopes: Generated<string>;
  /** As the session has it. */
  amr: Json;
  acr: string | null;
  face: Generated<string>;
  /** Whether it is revoked when the person ends the browser session. */
  ends_with_session: Generated<Flag>;
  /** When housekeeping looks at it next: no earlier than its tokens have expired. */
  review_at: Generated<Instant>;
  /** As the code had it, or another one by which the person kept access. */
  assignment_id: Id | null;
  member_id: Id | null;
  /** From where a public client last got tokens; null for others, whose servers do. */
  last_network: string | null;
}

/** An app that is to be told that a session has ended. */
export interface LogoutNoticeTable {
  id: Generated<Id>;
  client_id: Id;
  account_id: Id;
  /** Null is every session of the person. */
  sid: string | null;
  created_at: Instant;
  attempts: number;
  /** When it is tried next, by whichever process comes first; while one is at it, when that one has given up. */
  due_at: Instant;
}

/** Visits to the playground. */
export interface PlaygroundVisitTable {
  browser_hash: string;
  client_id: Id;
  /** Grows with every act of the visit, so that none is done twice. */
  turn: number;
  /** What was seen on the wire so far, with tokens and the client's secret. */
  sealed: string;
  expires_at: Instant;
}

/** The link with which the first owner makes their account: one row. */
export interface SetupLinkTable {
  id: Id;
  hash: string;
  expires_at: Instant;
}

export interface AuditEventTable {
  id: Generated<Id>;
  at: Instant;
  type: string;
  outcome: string;
  actor_type: string;
  actor_id: Id | null;
  account_id: Id | null;
  client_id: Id | null;
  address: string | null;
  request_id: string | null;
  details: Json;
}

/** The tables, as the query builder knows them. The migrations create them. */
/** A request of the admin API that is done once. */
export interface IdempotentRequestTable {
  hash: string;
  fingerprint: string;
  status: number | null;
  /** Sealed. */
  answer: string | null;
  expires_at: number;
}

export interface Tables extends ActTables, BulkTables, ClientTables {
  account: AccountTable;
  organization: OrganizationTable;
  membership: MembershipTable;
  operator_grant: OperatorGrantTable;
  given_right: GivenRightTable;
  user_group: GroupTable;
  group_member: GroupMemberTable;
  app_assignment: AppAssignmentTable;
  idempotent_request: IdempotentRequestTable;
  picture: PictureTable;
  browser_session: BrowserSessionTable;
  known_browser: KnownBrowserTable;
  pending_sign_in: PendingSignInTable;
  challenge: ChallengeTable;
  address_change: AddressChangeTable;
  replaced_value: ReplacedValueTable;
  invitation: InvitationTable;
  totp_secret: TotpSecretTable;
  recovery_code: RecoveryCodeTable;
  passkey: PasskeyTable;
  trusted_browser: TrustedBrowserTable;
  upstream: UpstreamTable;
  organization_upstream: OrganizationUpstreamTable;
  upstream_domain: UpstreamDomainTable;
  upstream_identity: UpstreamIdentityTable;
  upstream_session: UpstreamSessionTable;
  username_reservation: UsernameReservationTable;
  data_export: DataExportTable;
  data_export_piece: DataExportPieceTable;
  data_key: DataKeyTable;
  interaction: InteractionTable;
  device_authorization: DeviceAuthorizationTable;
  consent_grant: ConsentGrantTable;
  consent_revocation: ConsentRevocationTable;
  authorization_code: AuthorizationCodeTable;
  token_family: TokenFamilyTable;
  logout_notice: LogoutNoticeTable;
  mail: MailTable;
  mail_request: MailRequestTable;
  recovery_setting: RecoverySettingTable;
  playground_visit: PlaygroundVisitTable;
  setup_link: SetupLinkTable;
  signing_key: SigningKeyTable;
  id_token_key: IdTokenKeyTable;
  key_set: KeySetTable;
  node_lease: NodeLeaseTable;
  known_server: KnownServerTable;
  rate_count: RateCountTable;
  admin_key: AdminKeyTable;
  configured_admin_key: ConfiguredAdminKeyTable;
  audit_event: AuditEventTable;
  event_count: EventCountTable;
  counted_event: CountedEventTable;
  trace_step: TraceStepTable;
  schema_migration: MigrationTable;
  migration_progress: MigrationProgressTable;
}
