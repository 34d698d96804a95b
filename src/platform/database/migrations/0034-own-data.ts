import type { ColumnTypes } from './timeline.ts';

/**
 * What people see of their own account: recent activity, and the export.
 *
 * The index of events leaves out the types that every use of an app records, so that tokens cost no more to write. A statement uses
 * it only with the same condition: see `audit/activity-store.ts`.
 */
export const ownData = ({ int, options }: ColumnTypes): readonly string[] => [
  `CREATE INDEX audit_event_of_account ON audit_event (account_id, (-id))
   WHERE account_id IS NOT NULL
   AND type NOT IN ('authorization.issued', 'token.issued', 'token.refreshed', 'token.repeated', 'token.refused', 'token.revoked')`,
  `CREATE TABLE data_export (
    account_id ${int} PRIMARY KEY REFERENCES account (id) ON DELETE CASCADE,
    id TEXT NOT NULL,
    generation TEXT NOT NULL,
    state TEXT NOT NULL,
    pieces ${int} NOT NULL,
    events ${int} NOT NULL,
    last_event ${int},
    bytes ${int} NOT NULL,
    attempts ${int} NOT NULL,
    due_at ${int} NOT NULL,
    created_at ${int} NOT NULL
  ) ${options}`,
  "CREATE INDEX data_export_due ON data_export (due_at) WHERE state = 'waiting'",
  'CREATE INDEX data_export_by_time ON data_export (created_at)',
  `CREATE TABLE data_export_piece (
    account_id ${int} NOT NULL REFERENCES data_export (account_id) ON DELETE CASCADE,
    number ${int} NOT NULL,
    sealed TEXT NOT NULL,
    PRIMARY KEY (account_id, number)
  ) ${options}`,
];
