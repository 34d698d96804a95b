import type { Generated } from 'kysely';
import type { StoredId, StoredInstant, StoredJson } from '../platform/database/schema.ts';

/** The steps of authorizations: see src/traces/README.md. */
export interface TraceStepTable {
  id: Generated<StoredId>;
  at: StoredInstant;
  /** Each ring has a bounded number of rows. */
  ring: string;
  request_id: string;
  client_id: StoredId | null;
  account_id: StoredId | null;
  step: string;
  outcome: string;
  /** The digest of what the step was about: a pending request, a code or a token family. */
  flow: string | null;
  /** The digest of what the step issued. */
  leads_to: string | null;
  facts: StoredJson;
}

declare module '../platform/database/schema.ts' {
  interface Tables {
    trace_step: TraceStepTable;
  }
}
