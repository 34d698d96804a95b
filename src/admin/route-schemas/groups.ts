import { AccessChangeRecord } from '../../access/schema.ts';
import {
  CreateGroupRequest,
  GroupMemberRecord,
  GroupOfUserRecord,
  GroupRecord,
  UpdateGroupRequest,
} from '../../groups/schema.ts';
import { Id, jsonResponse, NO_CONTENT_RESPONSE } from '../../platform/http/operation.ts';
import { sample } from '../../platform/http/samples.ts';
import * as Type from '../../platform/validation/type.ts';
import type { AdminSchema } from '../admin-app.ts';
import { pageOf, pageParameters } from '../paging.ts';
import { adminErrors, MAY_BE_MISSING, MAY_CONFLICT, MAY_HAVE_CHANGED } from './errors.ts';

const IN_GROUPS = { area: 'groups', caller: 'admin key' } as const;
const theGroup = { id: sample.groupId };
const theMember = { id: sample.groupId, userId: sample.userId };
const memberParams = Type.Object({ id: Id, userId: Id });

const analysts = {
  id: sample.groupId,
  name: 'analysts',
  displayName: 'Analysts',
  description: 'Who may see figures.',
  organizationId: null,
  source: 'local',
  createdAt: sample.moment,
  updatedAt: sample.moment,
};

const ENDS =
  'From the moment of the response on, no code or token is accepted that a person got by an assignment of the group, unless the person has another assignment to the app.';

export const createGroupSchema = {
  ...IN_GROUPS,
  operationId: 'createGroup',
  permission: 'groups.manage',
  objects: { inOrganizationOfBody: true, upstreamOfBody: true },
  summary: 'Create a group',
  body: CreateGroupRequest,
  response: {
    201: jsonResponse('The group.', GroupRecord),
    ...adminErrors({ ...MAY_BE_MISSING, ...MAY_CONFLICT }),
  },
  examples: [
    {
      summary: 'A group of the installation',
      body: { name: analysts.name, displayName: analysts.displayName, description: analysts.description },
      status: 201,
      answer: analysts,
    },
  ],
} satisfies AdminSchema;

export const listGroupsSchema = {
  ...IN_GROUPS,
  operationId: 'listGroups',
  permission: 'groups.read',
  summary: 'List groups',
  querystring: pageParameters({
    q: Type.Optional(
      Type.String({
        maxLength: 256,
        format: 'search-text',
        about: 'Part of the name or of the name for people, case-insensitive; or the ID.',
        description: 'at most 256 characters without control characters',
      }),
    ),
    organizationId: Type.Optional(
      Type.String({
        format: 'id',
        about: 'Only groups of this organization.',
        description: 'the ID of an organization',
      }),
    ),
  }),
  response: { 200: jsonResponse('A page of the list, in the order of ids.', pageOf(GroupRecord)), ...adminErrors() },
  examples: [
    { summary: 'The first page', status: 200, answer: { items: [analysts], nextCursor: null } },
    {
      summary: 'Find a group',
      query: { q: sample.groupId, limit: '10' },
      status: 200,
      answer: { items: [analysts], nextCursor: null },
    },
  ],
} satisfies AdminSchema;

export const readGroupSchema = {
  ...IN_GROUPS,
  operationId: 'readGroup',
  versioned: 'group',
  permission: 'groups.read',
  objects: { group: 'id' },
  summary: 'Get a group',
  params: Type.Object({ id: Id }),
  response: { 200: jsonResponse('The group.', GroupRecord), ...adminErrors(MAY_BE_MISSING) },
  examples: [{ summary: 'A group', params: theGroup, status: 200, answer: analysts }],
} satisfies AdminSchema;

export const updateGroupSchema = {
  ...IN_GROUPS,
  operationId: 'updateGroup',
  versioned: 'group',
  permission: 'groups.manage',
  objects: { group: 'id' },
  summary: 'Change a group',
  description: 'Tokens name the group by `name`: apps that compare it must know the new one.',
  params: Type.Object({ id: Id }),
  body: UpdateGroupRequest,
  response: {
    200: jsonResponse('The group.', GroupRecord),
    ...adminErrors({ ...MAY_BE_MISSING, ...MAY_CONFLICT, ...MAY_HAVE_CHANGED }),
  },
  examples: [
    {
      summary: 'Another name for people',
      params: theGroup,
      body: { displayName: 'Analysts and friends' },
      status: 200,
      answer: { ...analysts, displayName: 'Analysts and friends' },
    },
  ],
} satisfies AdminSchema;

export const deleteGroupSchema = {
  ...IN_GROUPS,
  operationId: 'deleteGroup',
  versioned: 'group',
  permission: 'groups.manage',
  objects: { group: 'id' },
  summary: 'Delete a group',
  description: ENDS,
  params: Type.Object({ id: Id }),
  response: {
    200: jsonResponse('What ended with it.', AccessChangeRecord),
    ...adminErrors({ ...MAY_BE_MISSING, ...MAY_CONFLICT, ...MAY_HAVE_CHANGED }),
  },
  examples: [{ summary: 'Delete it', params: theGroup, status: 200, answer: { kept: 0, ended: 0 } }],
} satisfies AdminSchema;

export const listGroupMembersSchema = {
  ...IN_GROUPS,
  operationId: 'listGroupMembers',
  permission: 'groups.read',
  objects: { group: 'id' },
  summary: 'List the members of a group',
  params: Type.Object({ id: Id }),
  querystring: pageParameters({}),
  response: {
    200: jsonResponse('A page of the list, in the order of the users’ ids.', pageOf(GroupMemberRecord)),
    ...adminErrors(MAY_BE_MISSING),
  },
  examples: [
    {
      summary: 'The first page',
      params: theGroup,
      status: 200,
      answer: {
        items: [{ userId: sample.userId, username: sample.username, addedAt: sample.moment }],
        nextCursor: null,
      },
    },
  ],
} satisfies AdminSchema;

export const addGroupMemberSchema = {
  ...IN_GROUPS,
  operationId: 'addGroupMember',
  permission: 'groups.manage',
  objects: { group: 'id', person: 'userId' },
  summary: 'Add a user to a group',
  description: 'A group of an organization has members of that organization only: `conflict` for anybody else.',
  params: memberParams,
  response: { 204: NO_CONTENT_RESPONSE, ...adminErrors({ ...MAY_BE_MISSING, ...MAY_CONFLICT }) },
  examples: [{ summary: 'Add the user', params: theMember, status: 204 }],
} satisfies AdminSchema;

export const removeGroupMemberSchema = {
  ...IN_GROUPS,
  operationId: 'removeGroupMember',
  permission: 'groups.manage',
  objects: { group: 'id', person: 'userId' },
  summary: 'Remove a user from a group',
  description: ENDS,
  params: memberParams,
  response: {
    200: jsonResponse('What ended with it.', AccessChangeRecord),
    ...adminErrors({ ...MAY_BE_MISSING, ...MAY_CONFLICT }),
  },
  examples: [{ summary: 'Remove the user', params: theMember, status: 200, answer: { kept: 0, ended: 0 } }],
} satisfies AdminSchema;

export const listGroupsOfUserSchema = {
  ...IN_GROUPS,
  operationId: 'listGroupsOfUser',
  permission: 'groups.read',
  objects: { person: 'id' },
  summary: 'List the groups of a user',
  params: Type.Object({ id: Id }),
  querystring: pageParameters({}),
  response: {
    200: jsonResponse('A page of the list, in the order of the groups’ ids.', pageOf(GroupOfUserRecord)),
    ...adminErrors(MAY_BE_MISSING),
  },
  examples: [
    {
      summary: 'In one group',
      params: { id: sample.userId },
      status: 200,
      answer: {
        items: [
          {
            id: sample.groupId,
            name: analysts.name,
            displayName: analysts.displayName,
            organizationId: null,
            organization: null,
            addedAt: sample.moment,
          },
        ],
        nextCursor: null,
      },
    },
  ],
} satisfies AdminSchema;
