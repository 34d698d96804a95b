import type { StoredId, StoredInstant } from '../platform/database/schema.ts';

interface AdminKeyTable {
  id: StoredId;
  name: string;
  hash: string;
  created_at: StoredInstant;
  revoked_at: StoredInstant | null;
  /** Null for a key of an earlier version, which has every right. */
  role: string | null;
  /** Null for the whole installation. */
  organization_id: StoredId | null;
  /** Null for a key that does not end by itself. */
  expires_at: StoredInstant | null;
  /** To within an hour; null if it was never used. */
  last_used_at: StoredInstant | null;
  /** The operator who made it; null for the command line. */
  maker_id: StoredId | null;
}

/** The admin key of the configuration, as the newest start had it: one row. */
interface ConfiguredAdminKeyTable {
  id: number;
  /** Another key gets another one; null where none is configured. */
  key_id: StoredId | null;
  hash: string | null;
}

declare module '../platform/database/schema.ts' {
  interface Tables {
    admin_key: AdminKeyTable;
    configured_admin_key: ConfiguredAdminKeyTable;
  }
}
