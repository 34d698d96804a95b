import type { Generated } from 'kysely';
import type { StoredFlag, StoredId, StoredInstant } from '../platform/database/schema.ts';

export interface OrganizationTable {
  id: StoredId;
  name: string;
  domain: string;
  require_second_factor: StoredFlag;
  created_at: StoredInstant;
}

export interface MembershipTable {
  /** Another one each time that somebody joins. */
  id: Generated<StoredId>;
  account_id: StoredId;
  organization_id: StoredId;
  role: string | null;
  /** The operator who made the member an owner or admin; null for the command line, and for other roles. */
  role_maker_id: Generated<StoredId | null>;
  role_given_at: Generated<StoredInstant | null>;
  /** The operator who let the person in, by an invitation or without; null for the command line. */
  maker_id: Generated<StoredId | null>;
  made_at: Generated<StoredInstant | null>;
}

declare module '../platform/database/schema.ts' {
  interface Tables {
    organization: OrganizationTable;
    membership: MembershipTable;
  }
}
