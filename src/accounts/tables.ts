import type { Generated } from 'kysely';
import type { StoredFlag, StoredId, StoredInstant, StoredJson } from '../platform/database/schema.ts';

export interface AccountTable {
  id: StoredId;
  username: string;
  email: string;
  /** The address in lower case, its domain in ASCII: what uniqueness and sign-in go by. */
  email_key: string;
  email_verified: StoredFlag;
  password_hash: string | null;
  /** Null since the account was created, or for longer than this is recorded. */
  password_set_at: StoredInstant | null;
  generation: string;
  display_name: string;
  about: string;
  language: string;
  theme: string | null;
  website: string | null;
  location: string | null;
  birth_date: string | null;
  phone: string | null;
  social_links: StoredJson;
  avatar_color: string;
  banned_at: StoredInstant | null;
  banned_until: StoredInstant | null;
  ban_reason: string | null;
  suspended_at: StoredInstant | null;
  suspension_reason: string | null;
  deletion_requested_at: StoredInstant | null;
  /** When it is deleted. Until then its owner may come back. */
  deletion_due_at: StoredInstant | null;
  created_at: StoredInstant;
  updated_at: StoredInstant;
  /** The name of the picture, if there is one. */
  picture: string | null;
}

interface KnownBrowserTable {
  account_id: StoredId;
  browser_hash: string;
  /** The secret of its last sign-in, as a hash; null where version 0.2 stored it. */
  secret_hash: string | null;
  last_seen_at: StoredInstant;
}

/** Addresses that accounts had until they were changed. */
export interface AddressChangeTable {
  /** The secret of the link that undoes the change is stored as a hash. */
  hash: string;
  account_id: StoredId;
  /** As the account had it, and in the form in which addresses are compared. */
  email: string;
  email_key: string;
  created_at: StoredInstant;
  /** Factors that were added from then on are not asked for by the undo, and removed by it. */
  factors_since: StoredInstant;
  expires_at: StoredInstant;
  /** 0 for an address with a right; 1 where an operator took it away and 2 where it was never verified, which reserve nothing. */
  by_operator: Generated<number>;
  /** When the second factor was set up that proved the change, and the passkeys that go with it, as JSON. */
  proved_by: StoredInstant | null;
  passkeys: string | null;
}

/** What accounts had until it was replaced or removed, for the owner who takes one back. */
export interface ReplacedValueTable {
  /** Random. */
  hash: string;
  account_id: StoredId;
  kind: string;
  value: string;
  /** From when to when the account had it, by its own time. */
  set_up_at: StoredInstant;
  replaced_at: StoredInstant;
  /** When a recovery ended it, and when the second factor was set up that was shown to remove it. */
  ended_at: StoredInstant | null;
  removed_by: StoredInstant | null;
  expires_at: StoredInstant;
}

/** Usernames that were given up: until then only the former owner may take them. */
interface UsernameReservationTable {
  username: string;
  account_id: StoredId | null;
  held_until: StoredInstant;
}

/** What operators did to accounts: of each kind of act the last one. */
interface AccountActTable {
  id: Generated<StoredId>;
  account_id: StoredId;
  operator_id: StoredId;
  kind: string;
  acted_at: StoredInstant;
}

/** When operators did something to accounts with which they may sign in to them, and until when. */
interface AccountOpeningTable {
  id: Generated<StoredId>;
  operator_id: StoredId;
  account_id: StoredId;
  kind: string;
  acted_at: StoredInstant;
  /** Null while an authenticator app from before keeps the operator out. */
  usable_at: StoredInstant | null;
  /** Null while the account has the address from before. */
  moved_at: StoredInstant | null;
  /** Null while the operator may still be able to sign in so. */
  ended_at: StoredInstant | null;
  review_at: StoredInstant;
}

/** What barred accounts before operators decided on that. */
interface StatusChangeTable {
  id: Generated<StoredId>;
  account_id: StoredId;
  /** Null for the command line on the server. */
  operator_id: StoredId | null;
  former: StoredJson;
  acted_at: StoredInstant;
}

declare module '../platform/database/schema.ts' {
  interface Tables {
    account: AccountTable;
    known_browser: KnownBrowserTable;
    address_change: AddressChangeTable;
    replaced_value: ReplacedValueTable;
    username_reservation: UsernameReservationTable;
    account_act: AccountActTable;
    account_opening: AccountOpeningTable;
    status_change: StatusChangeTable;
  }
}
