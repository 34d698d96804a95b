import type { StoredId, StoredInstant } from '../../platform/database/schema.ts';

/** What people asked to take along of their data: one for each account. */
interface DataExportTable {
  account_id: StoredId;
  /** Random; another request has another one. */
  id: string;
  /** The account's generation when it was asked for: the export ends with it. */
  generation: string;
  /** `waiting`, `ready` or `failed`. */
  state: string;
  /** How many pieces are made. */
  pieces: number;
  /** How many events are in them, and the id of the last one. */
  events: number;
  last_event: StoredId | null;
  /** How large they are, before they are encrypted. */
  bytes: number;
  /** How often the next piece was begun. */
  attempts: number;
  /** When it is continued, by whichever process comes first; while one is at it, when that one has given up. */
  due_at: StoredInstant;
  created_at: StoredInstant;
}

interface DataExportPieceTable {
  account_id: StoredId;
  number: number;
  /** JSON, encrypted. */
  sealed: string;
}

declare module '../../platform/database/schema.ts' {
  interface Tables {
    data_export: DataExportTable;
    data_export_piece: DataExportPieceTable;
  }
}
