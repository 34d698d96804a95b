import type { StoredId, StoredInstant, StoredJson } from '../../platform/database/schema.ts';

/** An act of an operator on many people: see `account-actions/bulk`. */
export interface BulkActTable {
  id: StoredId;
  /** The operator, */
  account_id: StoredId;
  /** and the session in which they began it: it ends with either. */
  sid: string;
  act: string;
  /** What was typed for it. */
  parameters: StoredJson;
  /** The request that began it, for the events. */
  origin: StoredJson;
  /** `frozen`, `running`, or how it ended. */
  state: string;
  /** How many names in the pasted list were nobody's. */
  unknown: number;
  /** How many people were on the list. */
  total: number;
  /** When it is continued, by whichever process comes first; while one is at it, when that one has given up. */
  due_at: StoredInstant;
  created_at: StoredInstant;
  ended_at: StoredInstant | null;
}

/** A person on the list of such an act. */
interface BulkActPersonTable {
  bulk_act_id: StoredId;
  /** The place in the list, from 1. */
  number: number;
  account_id: StoredId;
  /** `waiting`, `done`, `nothing`, `refused` or `failed`. */
  outcome: string;
  /** Why it was refused. */
  reason: string | null;
}

declare module '../../platform/database/schema.ts' {
  interface Tables {
    bulk_act: BulkActTable;
    bulk_act_person: BulkActPersonTable;
  }
}
