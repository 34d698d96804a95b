import type { StoredInstant } from '../platform/database/schema.ts';

interface RateCountTable {
  bucket: string;
  count: number;
  window_ends_at: StoredInstant;
}

declare module '../platform/database/schema.ts' {
  interface Tables {
    rate_count: RateCountTable;
  }
}
