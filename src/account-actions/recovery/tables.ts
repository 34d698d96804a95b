import type { StoredInstant } from '../../platform/database/schema.ts';

/** Links and codes that were asked for: they are made later, so that the answer does not depend on the account. */
interface MailRequestTable {
  id: string;
  purpose: string;
  /** What was typed, and by whom, sealed. */
  sealed: string;
  created_at: StoredInstant;
  /** How often the message could not be made. */
  attempts: number;
  /** When it is tried next. */
  due_at: StoredInstant;
}

declare module '../../platform/database/schema.ts' {
  interface Tables {
    mail_request: MailRequestTable;
  }
}
