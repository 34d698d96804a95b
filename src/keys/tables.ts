import type { StoredInstant, StoredJson } from '../platform/database/schema.ts';

/** The key that encrypts what is stored for people, itself encrypted with the secret of the server. */
interface DataKeyTable {
  id: number;
  sealed: string;
  created_at: StoredInstant;
}

interface SigningKeyTable {
  kid: string;
  sealed: string;
  created_at: StoredInstant;
  /** When the next key took over; null for the key that signs. */
  retired_at: StoredInstant | null;
}

/** Key pairs that sign ID tokens. */
export interface IdTokenKeyTable {
  kid: string;
  alg: string;
  /** The private key. */
  sealed: string;
  public_jwk: StoredJson;
  created_at: StoredInstant;
  /** Published from the moment it was made; signs from here until the next of its algorithm does. */
  signs_from: StoredInstant;
  /** When a client last gave up the algorithm. */
  given_up_at: StoredInstant | null;
}

interface KeySetTable {
  id: number;
  version: string;
}

declare module '../platform/database/schema.ts' {
  interface Tables {
    data_key: DataKeyTable;
    signing_key: SigningKeyTable;
    id_token_key: IdTokenKeyTable;
    key_set: KeySetTable;
  }
}
