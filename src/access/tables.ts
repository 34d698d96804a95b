import type { Generated } from 'kysely';
import type { StoredId, StoredInstant } from '../platform/database/schema.ts';

/** The roles of operators. Owners and admins of an organization are not among them: the role of their membership says it. */
interface OperatorGrantTable {
  id: Generated<StoredId>;
  account_id: StoredId;
  role: string;
  /** Null for the whole installation. */
  organization_id: StoredId | null;
  expires_at: StoredInstant | null;
  /** The operator who gave it; null for the command line. */
  maker_id: StoredId | null;
  created_at: StoredInstant;
}

/** Who may use an app: one of person, group and organization. */
interface AppAssignmentTable {
  id: StoredId;
  client_id: StoredId;
  account_id: StoredId | null;
  group_id: StoredId | null;
  organization_id: StoredId | null;
  /** A role of the app; empty for none. */
  role: string;
  created_at: StoredInstant;
  /** What was issued under it is dead from then on, and is ended in batches before the row goes. */
  ended_at: StoredInstant | null;
  /** The operator who assigned the role that it has; null for the command line. */
  maker_id: Generated<StoredId | null>;
  made_at: Generated<StoredInstant | null>;
}

/** The link with which the first owner makes their account: one row. */
interface SetupLinkTable {
  id: StoredId;
  hash: string;
  expires_at: StoredInstant;
}

declare module '../platform/database/schema.ts' {
  interface Tables {
    operator_grant: OperatorGrantTable;
    app_assignment: AppAssignmentTable;
    setup_link: SetupLinkTable;
  }
}
