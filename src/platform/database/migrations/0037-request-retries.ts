import type { ColumnTypes } from './timeline.ts';

/** How often a message that was asked for could not be made, and when that is tried again. */
export const requestRetries = ({ int }: ColumnTypes): readonly string[] => [
  'ALTER TABLE mail_request ADD COLUMN attempts INTEGER NOT NULL DEFAULT 0',
  `ALTER TABLE mail_request ADD COLUMN due_at ${int} NOT NULL DEFAULT 0`,
  'CREATE INDEX mail_request_by_turn ON mail_request (due_at)',
];
