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
        enum: ['registered', 'accepted', 'enabled', 'approved', 'secret_added', 'redirect_uris_changed'],
      }),
    ),
  },
  { title: 'TouchedApp' },
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

/** What an operator made and is still valid. */
export const MadeRecord = Type.Object(
  {
    adminKeys: Type.Array(AdminKeyRecord),
    roles: Type.Array(GrantRecord),
    apps: Type.Array(TouchedApp, {
      about:
        'Active apps, with what was done to each; those that registered themselves with an initial access token of the operator count as registered. With `endMade`, those that were registered, accepted or enabled are disabled, secrets that were added end, and approvals are withdrawn; redirect URIs that were changed stay: check them.',
    }),
    upstreams: Type.Array(TouchedUpstream, {
      about:
        'Other providers, with what was done to each. With `endMade`, those that were registered or enabled are disabled, and what people were signed in to through them ends; rights that were changed are put back. A client ID or secret that was changed stays: check it.',
    }),
    access: Type.Array(MadeAccessRecord, {
      about:
        'Assignments to apps, members of groups, and plain members of organizations: of each kind the first 200. They end with `endMade`, with the others.',
    }),
    hasMoreAccess: Type.Boolean(),
  },
  { title: 'Made' },
);

/** A parameter of a query that is on with `true`. */
export const queryFlag = (about: string) =>
  Type.Optional(Type.Unsafe<'true' | 'false'>({ enum: ['true', 'false'], about, description: 'true or false' }));
