import type { StoredInstant } from '../../platform/database/schema.ts';

/** Assertions of clients that were used, until none of them could be used again. */
interface ClientAssertionTable {
  hash: string;
  expires_at: StoredInstant;
}

declare module '../../platform/database/schema.ts' {
  interface Tables {
    client_assertion: ClientAssertionTable;
  }
}
