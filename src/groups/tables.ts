import type { Generated } from 'kysely';
import type { StoredId, StoredInstant } from '../platform/database/schema.ts';

export interface GroupTable {
  id: StoredId;
  /** Null is a group of the installation. */
  organization_id: StoredId | null;
  /** A slug. */
  name: string;
  display_name: string;
  description: string | null;
  /** Who maintains it: `local` is the operators. */
  source: string;
  created_at: StoredInstant;
  updated_at: StoredInstant;
  /** Its members are then removed in batches. */
  deleted_at: StoredInstant | null;
}

interface GroupMemberTable {
  /** Another one each time that somebody is added. */
  id: Generated<StoredId>;
  group_id: StoredId;
  account_id: StoredId;
  /** That of the group: who leaves it leaves the group. */
  organization_id: StoredId | null;
  added_at: StoredInstant;
  /** The operator who added the person; null for the command line and for other providers. */
  maker_id: Generated<StoredId | null>;
}

declare module '../platform/database/schema.ts' {
  interface Tables {
    user_group: GroupTable;
    group_member: GroupMemberTable;
  }
}
