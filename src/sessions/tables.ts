import type { Generated } from 'kysely';
import type { StoredId, StoredInstant, StoredJson } from '../platform/database/schema.ts';

export interface BrowserSessionTable {
  hash: string;
  sid: string;
  account_id: StoredId;
  generation: string;
  auth_time: StoredInstant;
  last_seen_at: StoredInstant;
  expires_at: StoredInstant;
  browser: string | null;
  system: string | null;
  network: string | null;
  /** The methods of the sign-in, by their names in RFC 8176. */
  amr: StoredJson;
  acr: string | null;
  /** When the person last proved who they are, by the strongest factor that was asked for, */
  proved_at: Generated<StoredInstant>;
  /** and by which. */
  proved_by: Generated<string>;
  proved_factor_since: StoredInstant | null;
  proved_after: StoredInstant | null;
}

interface InteractionTable {
  hash: string;
  browser_hash: string;
  /** Null for a client that is not on record before a person has consented. */
  client_id: StoredId | null;
  request: StoredJson;
  /** As octets; null where the request has none. */
  state: Uint8Array | null;
  created_at: StoredInstant;
  expires_at: StoredInstant;
  /** Hash of the session that signed in for this very request. */
  signed_in_session: string | null;
  /** Hash of the session with which the person chose to go on. */
  chosen_session: string | null;
  outcome: string | null;
}

declare module '../platform/database/schema.ts' {
  interface Tables {
    browser_session: BrowserSessionTable;
    interaction: InteractionTable;
  }
}
