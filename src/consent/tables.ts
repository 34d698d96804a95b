import type { Generated } from 'kysely';
import type { StoredFlag, StoredId, StoredInstant, StoredJson } from '../platform/database/schema.ts';

interface ConsentGrantTable {
  id: StoredId;
  account_id: StoredId;
  client_id: StoredId;
  scopes: string;
  declined_scopes: string;
  consent_epoch: string;
  created_at: StoredInstant;
  updated_at: StoredInstant;
  revoked_at: StoredInstant | null;
  resources: StoredJson | null;
  face: Generated<string>;
  /** Whether the consent page is shown whatever was decided before. */
  ask_again: Generated<StoredFlag>;
  /** When the token families that were removed by now were last used. */
  last_used_at: Generated<StoredInstant | null>;
  /** Who decided last: the person, or an operator for all. */
  decided_by: Generated<string>;
}

/** The last time that a person took an app's access away. */
interface ConsentRevocationTable {
  account_id: StoredId;
  client_id: StoredId;
  /** Random: another one for each revocation. */
  name: string;
  revoked_at: StoredInstant;
}

declare module '../platform/database/schema.ts' {
  interface Tables {
    consent_grant: ConsentGrantTable;
    consent_revocation: ConsentRevocationTable;
  }
}
