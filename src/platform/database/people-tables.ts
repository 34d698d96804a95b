// The tables of groups, and of how people prove who they are beside their passwords. The others are in schema.ts.

import type { Generated } from 'kysely';

/** Snowflake id as a decimal string. */
type Id = string;
/** Milliseconds since the Unix epoch. */
type Instant = number;
/** 0 or 1. */
type Flag = number;
/** A JSON document. */
type Json = string;

export interface OrganizationTable {
  id: Id;
  name: string;
  domain: string;
  require_second_factor: Flag;
  created_at: Instant;
}

export interface MembershipTable {
  /** Another one each time that somebody joins. */
  id: Generated<Id>;
  account_id: Id;
  organization_id: Id;
  role: string | null;
  /** The operator who made the member an owner or admin; null for the command line, and for other roles. */
  role_maker_id: Generated<Id | null>;
  role_given_at: Generated<Instant | null>;
  /** The operator who let the person in, by an invitation or without; null for the command line. */
  maker_id: Generated<Id | null>;
  made_at: Generated<Instant | null>;
}

/** The roles of operators. Owners and admins of an organization are not among them: the role of their membership says it. */
export interface OperatorGrantTable {
  id: Generated<Id>;
  account_id: Id;
  role: string;
  /** Null for the whole installation. */
  organization_id: Id | null;
  expires_at: Instant | null;
  /** The operator who gave it; null for the command line. */
  maker_id: Id | null;
  created_at: Instant;
}

/** The rights that operators gave. It outlives them: nothing that it names need still be there. */
export interface GivenRightTable {
  id: Generated<Id>;
  kind: string;
  maker_id: Id;
  /** The account, or the admin key. */
  holder_id: Id;
  role: string;
  organization_id: Id | null;
  expires_at: Instant | null;
  given_at: Instant;
  review_at: Instant;
}

/** Pictures of people and of apps: each is of one of them. */
export interface PictureTable {
  name: string;
  account_id: Id | null;
  client_id: Id | null;
  bytes: Uint8Array;
}

export interface GroupTable {
  id: Id;
  /** Null is a group of the installation. */
  organization_id: Id | null;
  /** A slug. */
  name: string;
  display_name: string;
  description: string | null;
  /** Who maintains it: `local` is the operators. */
  source: string;
  created_at: Instant;
  updated_at: Instant;
  /** Its members are then removed in batches. */
  deleted_at: Instant | null;
}

export interface GroupMemberTable {
  /** Another one each time that somebody is added. */
  id: Generated<Id>;
  group_id: Id;
  account_id: Id;
  /** That of the group: who leaves it leaves the group. */
  organization_id: Id | null;
  added_at: Instant;
  /** The operator who added the person; null for the command line and for other providers. */
  maker_id: Generated<Id | null>;
}

/** Who may use an app: one of person, group and organization. */
export interface AppAssignmentTable {
  id: Id;
  client_id: Id;
  account_id: Id | null;
  group_id: Id | null;
  organization_id: Id | null;
  /** A role of the app; empty for none. */
  role: string;
  created_at: Instant;
  /** What was issued under it is dead from then on, and is ended in batches before the row goes. */
  ended_at: Instant | null;
  /** The operator who assigned the role that it has; null for the command line. */
  maker_id: Generated<Id | null>;
  made_at: Generated<Instant | null>;
}

/** The key that encrypts what is stored for people, itself encrypted with the secret of the server. */
export interface DataKeyTable {
  id: number;
  sealed: string;
  created_at: Instant;
}

/** Sign-ins that wait for a second factor: no session exists yet. */
export interface PendingSignInTable {
  /** The secret in the browser's cookie is stored as a hash. */
  hash: string;
  account_id: Id;
  generation: string;
  browser_hash: string;
  /** The methods that were used so far, */
  methods: Json;
  /** and when what was used was set up. */
  factors_since: Json | null;
  /** The digest of the pending request that needs the sign-in, if there is one. */
  interaction_hash: string | null;
  /** Where the person came from, if it was another provider. */
  upstream: Json | null;
  created_at: Instant;
  expires_at: Instant;
}

/** Links and codes that were sent by mail. */
export interface ChallengeTable {
  /** The secret of the link is stored as a hash. */
  hash: string;
  purpose: string;
  /** Null where there is no account yet. */
  account_id: Id | null;
  /** The account's generation when it was created. */
  generation: string | null;
  /** The address that it was sent to, in lower case. */
  address: string;
  /** The browser that asked for it; null where an operator did. */
  browser_hash: string | null;
  code_hash: string | null;
  /** What it confirms, sealed. */
  sealed: string | null;
  /** The admin key that handed it out; null for the command line, and for what people ask for themselves. */
  admin_key_id: Id | null;
  created_at: Instant;
  expires_at: Instant;
  used_at: Instant | null;
}

/** Messages that wait to be sent, or were sent lately: see src/mail/README.md. */
export interface MailTable {
  id: Generated<Id>;
  /** Random; names the message in its `Message-ID`, the same in every attempt. */
  message_id: string;
  kind: string;
  account_id: Id | null;
  recipient: string;
  /** In lower case; `-` in a row of an earlier version, and nothing once the recipient was erased. */
  recipient_domain: Generated<string>;
  /** 0 where people wait for it, 1 for a notice: see `mail/rules/slots.ts`. */
  priority: Generated<number>;
  /** The challenge whose link it carries. */
  challenge_hash: string | null;
  /** The content; null once it was sent or can no longer be sent. */
  sealed: string | null;
  status: string;
  attempts: number;
  /** The attempts whose result is not known: the server may have accepted the message. */
  unconfirmed: number;
  /** When it is tried next, by whichever process comes first; while one is at it, when that one has given up. */
  due_at: Instant;
  created_at: Instant;
  expires_at: Instant;
  /** When it was sent, given up or expired. */
  settled_at: Instant | null;
  /** Why the last attempt failed. */
  problem: string | null;
}

/** The seeds of authenticator apps: one for each account. */
export interface TotpSecretTable {
  account_id: Id;
  sealed: string;
  /** The generation in which it was enrolled; an enrollment that is not confirmed ends with it. */
  generation: string;
  created_at: Instant;
  /** Null while the person has not shown a code. */
  confirmed_at: Instant | null;
  /** The time step of the last code that was accepted: each is accepted once. */
  last_step: number;
}

/** Codes for people who lost their other factors. */
export interface RecoveryCodeTable {
  account_id: Id;
  hash: string;
  created_at: Instant;
  used_at: Instant | null;
}

export interface PasskeyTable {
  /** The credential id, as base64url. */
  id: string;
  account_id: Id;
  /** COSE, as octets. */
  public_key: Uint8Array;
  counter: number;
  transports: Json;
  name: string;
  aaguid: string;
  /** Whether it may be synced between devices, and whether it was when it was last used. */
  backup_eligible: Flag;
  backed_up: Flag;
  created_at: Instant;
  last_used_at: Instant | null;
}

/** Browsers in which the second factor is not asked for. */
export interface TrustedBrowserTable {
  /** The secret in the browser's cookie is stored as a hash. */
  hash: string;
  account_id: Id;
  generation: string;
  browser: string | null;
  system: string | null;
  network: string | null;
  created_at: Instant;
  expires_at: Instant;
}

/** Addresses that accounts had until they were changed. */
export interface AddressChangeTable {
  /** The secret of the link that undoes the change is stored as a hash. */
  hash: string;
  account_id: Id;
  /** As the account had it, and in the form in which addresses are compared. */
  email: string;
  email_key: string;
  created_at: Instant;
  /** Factors that were added from then on are not asked for by the undo, and removed by it. */
  factors_since: Instant;
  expires_at: Instant;
  /** 0 for an address with a right; 1 where an operator took it away and 2 where it was never verified, which reserve nothing. */
  by_operator: Generated<number>;
  /** When the second factor was set up that proved the change, and the passkeys that go with it, as JSON. */
  proved_by: Instant | null;
  passkeys: string | null;
}

/** What accounts had until it was replaced or removed, for the owner who takes one back. */
export interface ReplacedValueTable {
  /** Random. */
  hash: string;
  account_id: Id;
  kind: string;
  value: string;
  /** From when to when the account had it, by its own time. */
  set_up_at: Instant;
  replaced_at: Instant;
  /** When a recovery ended it, and when the second factor was set up that was shown to remove it. */
  ended_at: Instant | null;
  removed_by: Instant | null;
  expires_at: Instant;
}

/** Links and codes that were asked for: they are made later, so that the answer does not depend on the account. */
export interface MailRequestTable {
  id: string;
  purpose: string;
  /** What was typed, and by whom, sealed. */
  sealed: string;
  created_at: Instant;
  /** How often the message could not be made. */
  attempts: number;
  /** When it is tried next. */
  due_at: Instant;
}

/** Accounts that mail recovers only together with a recovery code, by their owners' choice. */
export interface RecoverySettingTable {
  account_id: Id;
  code_required_at: Instant;
}

/** Invitations to join. */
export interface InvitationTable {
  id: Id;
  /** The secret of the link is stored as a hash. */
  hash: string;
  /** Null for an open link. */
  email: string | null;
  /** Whether the link was sent to the address, and shown to nobody. */
  mailed: Flag;
  organization_id: Id | null;
  role: string | null;
  /** The member who invites; null for an operator. */
  inviter_id: Id | null;
  /** The operator who invites as a person, in the console; null for a key or the command line. */
  operator_id: Id | null;
  admin_key_id: Id | null;
  created_at: Instant;
  expires_at: Instant;
  used_at: Instant | null;
  used_by: Id | null;
}

/** What people asked to take along of their data: one for each account. */
export interface DataExportTable {
  account_id: Id;
  /** Random; another request has another one. */
  id: string;
  /** The account's generation when it was asked for: the export ends with it. */
  generation: string;
  /** `waiting`, `ready` or `failed`. */
  state: string;
  /** How many pieces are made. */
  pieces: number;
  /** How many events are in them, and the id of the last one. */
  events: number;
  last_event: Id | null;
  /** How large they are, before they are encrypted. */
  bytes: number;
  /** How often the next piece was begun. */
  attempts: number;
  /** When it is continued, by whichever process comes first; while one is at it, when that one has given up. */
  due_at: Instant;
  created_at: Instant;
}

export interface DataExportPieceTable {
  account_id: Id;
  number: number;
  /** JSON, encrypted. */
  sealed: string;
}

/** Usernames that were given up: until then only the former owner may take them. */
export interface UsernameReservationTable {
  username: string;
  account_id: Id | null;
  held_until: Instant;
}

/** The tables of acts on many people. */
export interface BulkTables {
  bulk_act: BulkActTable;
  bulk_act_person: BulkActPersonTable;
}

/** An act of an operator on many people: see `account-actions/bulk`. */
export interface BulkActTable {
  id: Id;
  /** The operator, */
  account_id: Id;
  /** and the session in which they began it: it ends with either. */
  sid: string;
  act: string;
  /** What was typed for it. */
  parameters: Json;
  /** The request that began it, for the events. */
  origin: Json;
  /** `frozen`, `running`, or how it ended. */
  state: string;
  /** How many names in the pasted list were nobody's. */
  unknown: number;
  /** How many people were on the list. */
  total: number;
  /** When it is continued, by whichever process comes first; while one is at it, when that one has given up. */
  due_at: Instant;
  created_at: Instant;
  ended_at: Instant | null;
}

/** A person on the list of such an act. */
interface BulkActPersonTable {
  bulk_act_id: Id;
  /** The place in the list, from 1. */
  number: number;
  account_id: Id;
  /** `waiting`, `done`, `nothing`, `refused` or `failed`. */
  outcome: string;
  /** Why it was refused. */
  reason: string | null;
}
