import type { ColumnTypes } from '../platform/database/migrations/kinds.ts';

/** Organizations, groups, invitations, and who may use which app. */
export const organizationTables = ({ int, serial, options }: ColumnTypes): readonly string[] => [
  `CREATE TABLE organization (
    id ${int} PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    domain TEXT NOT NULL,
    created_at ${int} NOT NULL,
    require_second_factor INTEGER NOT NULL DEFAULT 0
  ) ${options}`,

  // An id is never used again, so that what was issued under an earlier membership stays dead after the person has come back.
  `CREATE TABLE membership (
    id ${serial},
    account_id ${int} NOT NULL UNIQUE REFERENCES account (id) ON DELETE CASCADE,
    organization_id ${int} NOT NULL REFERENCES organization (id) ON DELETE CASCADE,
    role TEXT
  ) ${options}`,
  'CREATE INDEX membership_by_organization ON membership (organization_id)',
  // What a group of an organization refers to: who leaves the organization has left its groups.
  'CREATE UNIQUE INDEX membership_by_both ON membership (account_id, organization_id)',

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
  'CREATE INDEX invitation_by_admin_key ON invitation (admin_key_id)',

  `CREATE TABLE user_group (
    id ${int} PRIMARY KEY,
    organization_id ${int} REFERENCES organization (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    display_name TEXT NOT NULL,
    description TEXT,
    source TEXT NOT NULL,
    created_at ${int} NOT NULL,
    updated_at ${int} NOT NULL,
    deleted_at ${int}
  ) ${options}`,
  'CREATE UNIQUE INDEX user_group_name ON user_group (name) WHERE organization_id IS NULL AND deleted_at IS NULL',
  'CREATE UNIQUE INDEX user_group_by_organization ON user_group (organization_id, name) WHERE organization_id IS NOT NULL AND deleted_at IS NULL',
  'CREATE INDEX user_group_of_organization ON user_group (organization_id) WHERE organization_id IS NOT NULL',
  'CREATE INDEX user_group_deleted ON user_group (deleted_at) WHERE deleted_at IS NOT NULL',

  `CREATE TABLE group_member (
    id ${serial},
    group_id ${int} NOT NULL REFERENCES user_group (id) ON DELETE CASCADE,
    account_id ${int} NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    organization_id ${int},
    added_at ${int} NOT NULL,
    UNIQUE (group_id, account_id),
    FOREIGN KEY (account_id, organization_id) REFERENCES membership (account_id, organization_id) ON DELETE CASCADE
  ) ${options}`,
  'CREATE INDEX group_member_by_account ON group_member (account_id)',

  `CREATE TABLE app_assignment (
    id ${int} PRIMARY KEY,
    client_id ${int} NOT NULL REFERENCES client (id) ON DELETE CASCADE,
    account_id ${int} REFERENCES account (id) ON DELETE CASCADE,
    group_id ${int} REFERENCES user_group (id) ON DELETE CASCADE,
    organization_id ${int} REFERENCES organization (id) ON DELETE CASCADE,
    role TEXT NOT NULL DEFAULT '',
    created_at ${int} NOT NULL,
    ended_at ${int}
  ) ${options}`,
  'CREATE UNIQUE INDEX app_assignment_person ON app_assignment (client_id, account_id, role) WHERE account_id IS NOT NULL AND ended_at IS NULL',
  'CREATE UNIQUE INDEX app_assignment_group ON app_assignment (client_id, group_id, role) WHERE group_id IS NOT NULL AND ended_at IS NULL',
  'CREATE UNIQUE INDEX app_assignment_organization ON app_assignment (client_id, organization_id, role) WHERE organization_id IS NOT NULL AND ended_at IS NULL',
  'CREATE INDEX app_assignment_by_client ON app_assignment (client_id, id)',
  'CREATE INDEX app_assignment_ended ON app_assignment (ended_at) WHERE ended_at IS NOT NULL',
  'CREATE INDEX app_assignment_by_account ON app_assignment (account_id) WHERE account_id IS NOT NULL',
  'CREATE INDEX app_assignment_by_group ON app_assignment (group_id) WHERE group_id IS NOT NULL',
  'CREATE INDEX app_assignment_by_organization ON app_assignment (organization_id) WHERE organization_id IS NOT NULL',
];
