import type { ColumnTypes } from './timeline.ts';

/** Invitations to join, of operators or of members of an organization. */
export const invitations = ({ int, options }: ColumnTypes): readonly string[] => [
  `CREATE TABLE invitation (
    id ${int} PRIMARY KEY,
    hash TEXT NOT NULL UNIQUE,
    email TEXT,
    mailed INTEGER NOT NULL,
    organization_id ${int} REFERENCES organization (id) ON DELETE CASCADE,
    role TEXT,
    inviter_id ${int} REFERENCES account (id) ON DELETE CASCADE,
    admin_key_id ${int},
    created_at ${int} NOT NULL,
    expires_at ${int} NOT NULL,
    used_at ${int},
    used_by ${int} REFERENCES account (id) ON DELETE SET NULL
  ) ${options}`,
  'CREATE INDEX invitation_by_organization ON invitation (organization_id)',
  'CREATE INDEX invitation_by_inviter ON invitation (inviter_id)',
  'CREATE INDEX invitation_by_user ON invitation (used_by)',
  'CREATE INDEX invitation_by_end ON invitation (expires_at)',
];
