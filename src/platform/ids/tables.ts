import type { StoredInstant } from '../database/schema.ts';

interface NodeLeaseTable {
  node: number;
  holder: string;
  expires_at: StoredInstant;
}

declare module '../database/schema.ts' {
  interface Tables {
    node_lease: NodeLeaseTable;
  }
}
