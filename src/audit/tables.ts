import type { Generated } from 'kysely';
import type { StoredId, StoredInstant, StoredJson } from '../platform/database/schema.ts';

interface AuditEventTable {
  id: Generated<StoredId>;
  at: StoredInstant;
  type: string;
  outcome: string;
  actor_type: string;
  actor_id: StoredId | null;
  account_id: StoredId | null;
  client_id: StoredId | null;
  address: string | null;
  request_id: string | null;
  details: StoredJson;
}

/** How many events of a type there were in an hour. */
interface EventCountTable {
  hour: number;
  type: string;
  reason: string;
  /** `0` for none. */
  client_id: string;
  count: number;
}

/** Up to which event they are counted: one row. */
interface CountedEventTable {
  id: string;
  last_event: string;
}

declare module '../platform/database/schema.ts' {
  interface Tables {
    audit_event: AuditEventTable;
    event_count: EventCountTable;
    counted_event: CountedEventTable;
  }
}
