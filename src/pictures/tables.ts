import type { StoredId } from '../platform/database/schema.ts';

/** Pictures of people and of apps: each is of one of them. */
interface PictureTable {
  name: string;
  account_id: StoredId | null;
  client_id: StoredId | null;
  bytes: Uint8Array;
}

declare module '../platform/database/schema.ts' {
  interface Tables {
    picture: PictureTable;
  }
}
