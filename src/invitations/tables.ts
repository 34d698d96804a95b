import type { StoredFlag, StoredId, StoredInstant } from '../platform/database/schema.ts';

/** Invitations to join. */
export interface InvitationTable {
  id: StoredId;
  /** The secret of the link is stored as a hash. */
  hash: string;
  /** Null for an open link. */
  email: string | null;
  /** Whether the link was sent to the address, and shown to nobody. */
  mailed: StoredFlag;
  organization_id: StoredId | null;
  role: string | null;
  /** The member who invites; null for an operator. */
  inviter_id: StoredId | null;
  /** The operator who invites as a person, in the console; null for a key or the command line. */
  operator_id: StoredId | null;
  admin_key_id: StoredId | null;
  created_at: StoredInstant;
  expires_at: StoredInstant;
  used_at: StoredInstant | null;
  used_by: StoredId | null;
}

declare module '../platform/database/schema.ts' {
  interface Tables {
    invitation: InvitationTable;
  }
}
