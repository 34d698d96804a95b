import { Id, Instant, nullableField } from '../platform/http/operation.ts';
import { requestBody } from '../platform/validation/fields.ts';
import * as Type from '../platform/validation/type.ts';

const name = Type.String({
  pattern: '^[a-z0-9]([a-z0-9._-]{0,62}[a-z0-9])$',
  about: 'Unique in the installation, or in the organization of the group. Tokens name the group by it.',
  description: '2 to 64 of the characters a-z, 0-9, ".", "_" and "-", beginning and ending with a letter or digit',
});
const displayName = Type.String({
  minLength: 1,
  maxLength: 64,
  format: 'single-line',
  about: 'Name for people. Default: the name.',
  description: '1 to 64 characters on one line, at least one of them visible, without spaces around them',
});
const description = Type.Union([Type.String({ maxLength: 500, format: 'multi-line' }), Type.Null()], {
  about: 'What the group is for.',
  description: 'at most 500 characters without control characters, or null',
});

export const CreateGroupRequest = requestBody('CreateGroupRequest', {
  name,
  displayName: Type.Optional(displayName),
  description: Type.Optional(description),
  upstreamId: Type.Optional(
    Type.String({
      format: 'id',
      about: 'The provider that maintains the members, by its map. Default: operators do.',
      description: 'the ID of an upstream',
    }),
  ),
  organizationId: Type.Optional(
    Type.Union([Type.String({ format: 'id' }), Type.Null()], {
      about: 'The organization that the group belongs to: only its members can be in it. Default: none.',
      description: 'the ID of an organization, or null',
    }),
  ),
});
export type CreateGroupRequest = Type.Static<typeof CreateGroupRequest>;

export const UpdateGroupRequest = requestBody('UpdateGroupRequest', {
  name: Type.Optional(name),
  displayName: Type.Optional(displayName),
  description: Type.Optional(description),
});
export type UpdateGroupRequest = Type.Static<typeof UpdateGroupRequest>;

/** A group in the admin API, as made by `groupView`. */
export const GroupRecord = Type.Object(
  {
    id: Id,
    name: Type.String(),
    displayName: Type.String(),
    description: nullableField(Type.String()),
    organizationId: nullableField(Id, 'Null for a group of the installation.'),
    source: Type.String({ about: 'Who maintains the group: local for operators.' }),
    createdAt: Instant,
    updatedAt: Instant,
  },
  { title: 'Group' },
);

export const GroupMemberRecord = Type.Object(
  { userId: Id, username: Type.String(), addedAt: Instant },
  { title: 'GroupMember' },
);

/** A group of a person, as made by `groupOfPersonView`. */
export const GroupOfUserRecord = Type.Object(
  {
    id: Id,
    name: Type.String(),
    displayName: Type.String(),
    organizationId: nullableField(Id),
    organization: nullableField(Type.String(), 'The name of the organization.'),
    addedAt: Instant,
  },
  { title: 'GroupOfUser' },
);
