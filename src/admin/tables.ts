import type {} from '../platform/database/schema.ts';

/** A request of the admin API that is done once. */
interface IdempotentRequestTable {
  hash: string;
  fingerprint: string;
  status: number | null;
  /** Sealed. */
  answer: string | null;
  expires_at: number;
}

declare module '../platform/database/schema.ts' {
  interface Tables {
    idempotent_request: IdempotentRequestTable;
  }
}
