export const OPERATOR_ROLES = ['owner', 'admin', 'support', 'auditor', 'developer'] as const;
export type OperatorRole = (typeof OPERATOR_ROLES)[number];

/** A role as it is stored. Nothing is decided by a role of a later version: reading it fails. */
export const operatorRole = {
  decode(stored: unknown): OperatorRole {
    const role = OPERATOR_ROLES.find((name) => name === stored);
    if (role === undefined) throw new TypeError(`${stored} is not a role of operators`);
    return role;
  },
  encode: (role: OperatorRole) => role,
};

/** Where a permission counts: in an organization as well, for a role of that organization, or in the whole installation only. */
type Reach = 'organization' | 'installation';

interface PermissionRow {
  readonly reach: Reach;
  readonly roles: readonly OperatorRole[];
  readonly about: string;
}

const row = (reach: Reach, roles: readonly OperatorRole[], about: string): PermissionRow => ({ reach, roles, about });

const OWNER = ['owner'] as const;
const ADMINS = ['owner', 'admin'] as const;
const HELP_DESK = [...ADMINS, 'support'] as const;
const READERS = [...ADMINS, 'auditor'] as const;

/**
 * The permissions, and the roles that hold each of them: decisions §12. A developer's permissions reach only the apps that the
 * developer made. A role of an organization never reaches an account.
 */
const TABLE = {
  'users.read': row('installation', [...HELP_DESK, 'auditor'], 'See people, their state, sessions and connections.'),
  'users.create': row('installation', ADMINS, 'Create accounts.'),
  'users.update': row('installation', ADMINS, 'Change accounts: profile, address, password, picture.'),
  'users.ban': row('installation', ADMINS, 'Ban people, and lift bans.'),
  'users.suspend': row('installation', HELP_DESK, 'Suspend people.'),
  'users.reinstate': row('installation', ADMINS, 'Lift suspensions.'),
  'users.delete': row('installation', ADMINS, 'Delete accounts, and call deletions off.'),
  'users.end_sessions': row('installation', HELP_DESK, 'End the sessions of people.'),
  'users.revoke_connections': row('installation', ADMINS, 'Take the access of an app away from a person.'),
  'users.send_recovery': row('installation', HELP_DESK, 'Send recovery to the verified address of a person.'),
  'users.recovery_link': row('installation', ADMINS, 'Make recovery links, and see them.'),
  'users.remove_factor': row(
    'installation',
    HELP_DESK,
    'Remove a factor that a person lost, or a provider that they connected.',
  ),
  'users.remind_verification': row('installation', HELP_DESK, 'Ask a person by mail to verify their address.'),
  'users.unlock': row('installation', HELP_DESK, 'End the wait after too many failed sign-ins.'),
  'organizations.create': row('installation', ADMINS, 'Create organizations.'),
  'organizations.read': row('organization', READERS, 'See organizations and their members.'),
  'organizations.update': row('organization', OWNER, 'Change what an organization requires of its members.'),
  'organizations.delete': row('installation', ADMINS, 'Delete organizations.'),
  'members.manage': row('organization', ADMINS, 'Change the members of organizations, and their roles.'),
  'groups.read': row('organization', READERS, 'See groups and their members.'),
  'groups.manage': row('organization', ADMINS, 'Create, change and delete groups, and change their members.'),
  'invitations.read': row('organization', READERS, 'See invitations.'),
  'invitations.manage': row('organization', ADMINS, 'Invite people, and revoke invitations.'),
  'apps.read': row('organization', [...READERS, 'developer'], 'See apps.'),
  'apps.create': row('organization', [...ADMINS, 'developer'], 'Register apps.'),
  'apps.manage': row('organization', [...ADMINS, 'developer'], 'Change and delete apps, their secrets and scopes.'),
  'apps.traces': row(
    'organization',
    [...READERS, 'developer'],
    'See what an app sent and was told, with people by ID, and by name where they let the app read it.',
  ),
  'apps.assign': row(
    'organization',
    ADMINS,
    'Decide who may use an app, in which role and whether with a second factor, and enable apps that others disabled.',
  ),
  'apps.approve': row('organization', ADMINS, 'Approve the scopes of an app for the people who use it.'),
  'apps.review': row(
    'installation',
    READERS,
    'See apps that no operator registered, blocked domains, and initial access tokens.',
  ),
  'apps.admit': row(
    'installation',
    ADMINS,
    'Accept apps that no operator registered, block their domains, and let apps register themselves.',
  ),
  'apps.preview': row('installation', ADMINS, 'See what the tokens of a person would say in an app.'),
  'access.end': row('installation', ADMINS, 'End what people got without the second factor that is required since.'),
  'events.read': row('installation', READERS, 'Read the audit trail.'),
  'traces.read': row('installation', READERS, 'Read the steps of authorizations.'),
  'service.read': row('installation', READERS, 'See the settings of the service, its health, and what it counts.'),
  'upstreams.read': row('installation', READERS, 'See the other providers through which people sign in.'),
  'upstreams.manage': row('installation', OWNER, 'Register, change, disable and delete such providers.'),
  'mail.read': row('installation', READERS, 'See which messages wait, were sent or were given up.'),
  'mail.manage': row('installation', ADMINS, 'Send a test message.'),
  'operators.read': row('organization', READERS, 'See operators and admin keys.'),
  'operators.manage': row('organization', ADMINS, 'Give and take away roles, and make and revoke admin keys.'),
} as const satisfies Readonly<Record<string, PermissionRow>>;

export type Permission = keyof typeof TABLE;

export const PERMISSIONS: Readonly<Record<Permission, PermissionRow>> = TABLE;

export const permissionNames = Object.keys(TABLE) as readonly Permission[];

/**
 * Permissions with which an operator hands out what outlasts the act (a role, a key, a link, an app, a secret), or ends it. Their acts come
 * one after the other: see `admin-keys/hand-out.ts`.
 */
const MAKING: ReadonlySet<Permission> = new Set([
  'operators.manage',
  'organizations.update',
  'members.manage',
  'invitations.manage',
  'groups.manage',
  'apps.create',
  'apps.manage',
  'apps.assign',
  'apps.approve',
  'apps.admit',
  'upstreams.manage',
  'users.recovery_link',
  'users.create',
  'users.update',
  'users.remove_factor',
  'users.reinstate',
  'users.ban',
  'users.suspend',
  'users.delete',
]);

export const handsOut = (permission: Permission | undefined): boolean =>
  permission !== undefined && MAKING.has(permission);

/** Permissions with which an operator may get into the account of somebody else: by a password, an address, a link, or without a factor. */
const TAKING_OVER: ReadonlySet<Permission> = new Set(['users.update', 'users.recovery_link', 'users.remove_factor']);

export const takesOver = (permission: Permission): boolean => TAKING_OVER.has(permission);
