import type { ColumnTypes } from './timeline.ts';

/** The steps of authorizations, for the operator who looks for the reason of a refusal by its correlation id. */
export const traces = ({ int, serial, options }: ColumnTypes): readonly string[] => [
  `CREATE TABLE trace_step (
    id ${serial},
    at ${int} NOT NULL,
    ring TEXT NOT NULL,
    request_id TEXT NOT NULL,
    client_id ${int} REFERENCES client (id) ON DELETE CASCADE,
    account_id ${int} REFERENCES account (id) ON DELETE CASCADE,
    step TEXT NOT NULL,
    outcome TEXT NOT NULL,
    flow TEXT,
    leads_to TEXT,
    facts TEXT NOT NULL
  ) ${options}`,
  'CREATE INDEX trace_step_by_request ON trace_step (request_id)',
  'CREATE INDEX trace_step_by_ring ON trace_step (ring, id)',
  'CREATE INDEX trace_step_by_flow ON trace_step (flow) WHERE flow IS NOT NULL',
  'CREATE INDEX trace_step_by_next_flow ON trace_step (leads_to) WHERE leads_to IS NOT NULL',
  'CREATE INDEX trace_step_by_client ON trace_step (client_id) WHERE client_id IS NOT NULL',
  'CREATE INDEX trace_step_by_account ON trace_step (account_id) WHERE account_id IS NOT NULL',
];
