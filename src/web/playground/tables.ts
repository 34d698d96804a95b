import type { StoredId, StoredInstant } from '../../platform/database/schema.ts';

/** Visits to the playground. */
export interface PlaygroundVisitTable {
  browser_hash: string;
  client_id: StoredId;
  /** Grows with every act of the visit, so that none is done twice. */
  turn: number;
  /** What was seen on the wire so far, with tokens and the client's secret. */
  sealed: string;
  expires_at: StoredInstant;
}

declare module '../../platform/database/schema.ts' {
  interface Tables {
    playground_visit: PlaygroundVisitTable;
  }
}
