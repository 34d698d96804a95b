import { OPERATOR_ROLES } from '../../operators/permissions.ts';
import { Id, Instant, nullableField } from '../../platform/http/operation.ts';
import * as Type from '../../platform/validation/type.ts';

/** A role of an account in the admin API, as made by `grantView`. */
export const GrantRecord = Type.Object(
  {
    userId: Id,
    role: Type.Unsafe<string>({ enum: [...OPERATOR_ROLES] }),
    organizationId: nullableField(Id, 'Null for the whole installation.'),
    expiresAt: nullableField(Instant, 'Null for a role that does not end by itself.'),
    createdAt: nullableField(Instant, 'Null for owners and admins of an organization: their membership is the role.'),
    madeBy: nullableField(Id, 'The operator who gave it; null for the command line.'),
  },
  { title: 'OperatorRole' },
);

export const keyFields = {
  id: Id,
  name: Type.String(),
  role: Type.Unsafe<string>({ enum: [...OPERATOR_ROLES] }),
  organizationId: nullableField(Id, 'Null for the whole installation.'),
  status: Type.Unsafe<string>({ enum: ['active', 'revoked', 'ended'] }),
  createdAt: Instant,
  expiresAt: nullableField(Instant, 'Null for a key that does not end by itself.'),
  lastUsedAt: nullableField(Instant, 'Updated at most once an hour; null if it was never used.'),
  revokedAt: nullableField(Instant),
  madeBy: nullableField(Id, 'The operator who made it; null for the command line.'),
};

export const AdminKeyRecord = Type.Object(keyFields, { title: 'AdminKey' });

const TouchedApp = Type.Object(
  {
    clientId: Id,
    name: Type.String(),
    acts: Type.Array(
      Type.Unsafe<string>({
        enum: ['registered', 'accepted', 'enabled', 'approved', 'secret_added'],
      }),
    ),
  },
  { title: 'TouchedApp' },
);

const ChangedSettingsRecord = Type.Object(
  {
    kind: Type.Unsafe<string>({ enum: ['app', 'organization', 'group', 'upstream'] }),
    id: Id,
    name: Type.String(),
    fields: Type.Array(Type.String(), {
      about:
        'The names of the fields that end, or ended, with `endMade`: what was added or set goes. `allowedScopes`: the scopes of this API that other apps may request.',
    }),
    left: Type.Array(Type.String(), {
      about:
        'Fields that are not wholly what they were before, for you to check: what was closed, removed or replaced in them is not given again, somebody else changed them since, or what depends on them, or they were changed too often to tell what they were. So are fields that were opened and are closed again: with `endMade`, what was issued meanwhile ends. A field may be among `fields` as well. Of an `upstream`, these alone are here.',
    }),
    disables: Type.Boolean({
      about:
        'Whether the app is, or was, disabled with `endMade`, because nothing whole is left of it: it has no redirect URI, say, or no key.',
    }),
  },
  { title: 'ChangedSettings' },
);

const TouchedUpstream = Type.Object(
  {
    upstreamId: Id,
    name: Type.String(),
    acts: Type.Array(Type.Unsafe<string>({ enum: ['registered', 'enabled', 'rights_changed', 'client_changed'] }), {
      about:
        '`rights_changed`: whom it lets in, its domains, or which claims are written. `client_changed`: the client ID, the secret or the key.',
    }),
  },
  { title: 'TouchedUpstream' },
);

const idOrNull = Type.Union([Id, Type.Null()]);
const MadeAccessRecord = Type.Object(
  {
    kind: Type.Unsafe<string>({ enum: ['assignment', 'group_member', 'member'] }),
    clientId: idOrNull,
    groupId: idOrNull,
    organizationId: idOrNull,
    userId: idOrNull,
  },
  { title: 'MadeAccess' },
);

const MadeAccountRecord = Type.Object(
  {
    userId: Id,
    acts: Type.Array(
      Type.Unsafe<string>({
        enum: [
          ...['created', 'invited', 'address_changed', 'password_set', 'username_changed', 'factor_removed'],
          ...['recovered', 'let_in_again', 'joined_through_provider', 'written_through_provider'],
        ],
      }),
      {
        about:
          '`invited`: joined by an invitation of the operator. `recovered`: by a recovery link of the operator. `let_in_again`: a ban, a suspension or a deletion was lifted. `joined_through_provider`: another provider let its person in because the operator registered, enabled or changed it. `written_through_provider`: such a provider wrote its name, language or picture.',
      },
    ),
    ends: Type.Boolean({
      about:
        'Whether it is suspended with `endMade`: the operator created it, and since then nobody set a password of their own, verified the address, or set up another way in; nor does it hold a role. Any other account goes on: look at it.',
    }),
  },
  { title: 'MadeAccount' },
);

const ChangedRightRecord = Type.Object(
  {
    kind: Type.Unsafe<string>({ enum: ['role', 'member', 'assignment'] }),
    clientId: idOrNull,
    groupId: idOrNull,
    organizationId: idOrNull,
    userId: idOrNull,
    role: Type.Union([Type.String(), Type.Null()], {
      about: 'The role of an operator, of a member, or of the app; null for none.',
    }),
    expiresAt: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], { about: 'When a role ended.' }),
    asBefore: Type.Boolean({
      about:
        'Whether it is as it was before with `endMade`, as it was raised since. Otherwise it was taken away or made less, and nobody has it again by this: give it again where that was wrong.',
    }),
  },
  { title: 'ChangedRight' },
);

const MADE = {
  adminKeys: Type.Array(AdminKeyRecord),
  roles: Type.Array(GrantRecord),
  apps: Type.Array(TouchedApp, {
    about:
      'Active apps, with what was done to each; those that registered with an initial access token of the operator count as registered. With `endMade`, those that were registered or accepted, or enabled while they were disabled before, are disabled, secrets that were added end, and approvals are withdrawn.',
  }),
  unblockedDomains: Type.Array(Type.String(), {
    about:
      'Domains of apps that were unblocked and are not blocked again. With `endMade` they are, and what their apps got meanwhile ends.',
  }),
  settings: Type.Array(ChangedSettingsRecord, {
    about:
      'Apps, organizations and groups of which something was changed that may let somebody in, or lower a protection. With `endMade`, what was opened by it ends, with all that was issued to an app of which something was opened, or to the members of an organization and the people who come through another provider since then, and what was closed stays closed; what is only shown is what it was before.',
  }),
  upstreams: Type.Array(TouchedUpstream, {
    about:
      'Other providers, with what was done to each. With `endMade`, those that were registered, or enabled while they were disabled before, are disabled, and what people were signed in to through them ends; what was opened of their rights ends, and what was closed stays closed. A client ID or secret that was changed stays: check it.',
  }),
  access: Type.Array(MadeAccessRecord, {
    about:
      'Assignments to apps, members of groups, and plain members of organizations: of each kind the first 200. Also members of groups whom another provider let in by what the operator did to it. They end with `endMade`, with the others.',
  }),
  hasMoreAccess: Type.Boolean(),
  changedRights: Type.Array(ChangedRightRecord, {
    about:
      'Roles, memberships and assignments of others that were changed or taken away in the last 30 days, as they were before, and that nobody else changed since: the first ones. With `endMade`, those that were raised are as they were before; nobody gets a right by it that is not there now.',
  }),
  hasMoreChangedRights: Type.Boolean(),
  accounts: Type.Array(MadeAccountRecord, {
    about:
      'Accounts that were created or changed and are not suspended: those of the newest 50 acts, and 50 effects of what was done to other providers. With `endMade`, all that were created and have no other owner are suspended.',
  }),
  hasMoreAccounts: Type.Boolean(),
};

const OpenedAccountRecord = Type.Object(
  {
    userId: Id,
    acts: Type.Array(
      Type.Unsafe<string>({
        enum: [
          ...['created', 'address_changed', 'password_set', 'factor_removed', 'recovered'],
          ...['joined_through_provider', 'connected_to_provider', 'let_in_again'],
        ],
      }),
      {
        about:
          'How the operator, or somebody who got their rights from the operator, came to know how the person signs in. `joined_through_provider`, `connected_to_provider`: the person created or connected the account with a provider that the operator had registered or enabled. `let_in_again`: the operator lifted a ban or a suspension, or made it end sooner.',
      },
    ),
    since: Type.String({ format: 'date-time' }),
    until: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
      about:
        'When the person had taken the account back, or others decided on its ban or suspension; null where that still lets somebody in.',
    }),
    ends: Type.Boolean({
      about:
        'Whether the account loses its password, and is signed out everywhere, with `endMade`: its person recovers it by mail. One that was let in again is banned or suspended as before.',
    }),
    made: Type.Object(MADE, { title: 'MadeThrough' }),
  },
  { title: 'OpenedAccount' },
);

/** What an operator made and is still valid. */
export const MadeRecord = Type.Object(
  {
    ...MADE,
    through: Type.Array(OpenedAccountRecord, {
      about:
        'Accounts of other operators to which the operator could sign in, having set how: what was made through them meanwhile is in the lists above, and ends with `endMade`. An account whose authenticator app is older is not listed.',
    }),
  },
  { title: 'Made' },
);

/** What is answered where nothing was made. */
export const NOTHING_MADE_RECORD = {
  ...{
    adminKeys: [],
    roles: [],
    apps: [],
    unblockedDomains: [],
    settings: [],
    upstreams: [],
    access: [],
    hasMoreAccess: false,
  },
  ...{ changedRights: [], hasMoreChangedRights: false, accounts: [], hasMoreAccounts: false, through: [] },
};

/** A parameter of a query that is on with `true`. */
export const queryFlag = (about: string) =>
  Type.Optional(Type.Unsafe<'true' | 'false'>({ enum: ['true', 'false'], about, description: 'true or false' }));
