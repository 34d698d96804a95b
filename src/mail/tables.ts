import type { Generated } from 'kysely';
import type { StoredId, StoredInstant } from '../platform/database/schema.ts';

/** Links and codes that were sent by mail. */
export interface ChallengeTable {
  /** The secret of the link is stored as a hash. */
  hash: string;
  purpose: string;
  /** Null where there is no account yet. */
  account_id: StoredId | null;
  /** The account's generation when it was created. */
  generation: string | null;
  /** The address that it was sent to, in lower case. */
  address: string;
  /** The browser that asked for it; null where an operator did. */
  browser_hash: string | null;
  code_hash: string | null;
  /** What it confirms, sealed. */
  sealed: string | null;
  /** The admin key that handed it out; null for the command line, and for what people ask for themselves. */
  admin_key_id: StoredId | null;
  created_at: StoredInstant;
  expires_at: StoredInstant;
  used_at: StoredInstant | null;
}

/** Messages that wait to be sent, or were sent lately: see src/mail/README.md. */
export interface MailTable {
  id: Generated<StoredId>;
  /** Random; names the message in its `Message-ID`, the same in every attempt. */
  message_id: string;
  kind: string;
  account_id: StoredId | null;
  recipient: string;
  /** In lower case; `-` in a row of an earlier version, and nothing once the recipient was erased. */
  recipient_domain: Generated<string>;
  /** 0 where people wait for it, 1 for a notice: see `mail/rules/slots.ts`. */
  priority: Generated<number>;
  /** The challenge whose link it carries. */
  challenge_hash: string | null;
  /** The content; null once it was sent or can no longer be sent. */
  sealed: string | null;
  status: string;
  attempts: number;
  /** The attempts whose result is not known: the server may have accepted the message. */
  unconfirmed: number;
  /** When it is tried next, by whichever process comes first; while one is at it, when that one has given up. */
  due_at: StoredInstant;
  created_at: StoredInstant;
  expires_at: StoredInstant;
  /** When it was sent, given up or expired. */
  settled_at: StoredInstant | null;
  /** Why the last attempt failed. */
  problem: string | null;
}

declare module '../platform/database/schema.ts' {
  interface Tables {
    challenge: ChallengeTable;
    mail: MailTable;
  }
}
