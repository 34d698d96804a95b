import { AccessChangeRecord } from '../../access/schema.ts';
import {
  CreateOrganizationRequest,
  MembershipRecord,
  OrganizationRecord,
  OrganizationWithMembers,
  SetMembershipRequest,
  UpdateOrganizationRequest,
} from '../../account-actions/organizations/organizations.ts';
import { Id, jsonResponse, NO_CONTENT_RESPONSE } from '../../platform/http/operation.ts';
import { sample } from '../../platform/http/samples.ts';
import * as Type from '../../platform/validation/type.ts';
import type { AdminSchema } from '../admin-app.ts';
import { pageOf, pageParameters } from '../paging.ts';
import { adminErrors, MAY_BE_MISSING, MAY_CONFLICT, MAY_HAVE_CHANGED } from './errors.ts';
import { GrantRecord, MadeRecord, queryFlag } from './operator-records.ts';

const IN_ORGANIZATIONS = { area: 'organizations', caller: 'admin key' } as const;
const memberParams = Type.Object({ id: Id, userId: Id });
const takes = Type.Object(
  { endMade: queryFlag('Ends what the person made in the role that is taken away, and what these made.') },
  { additionalProperties: false },
);
const theMember = { id: sample.organizationId, userId: sample.userId };

const engines = {
  id: sample.organizationId,
  name: 'analytical-engines',
  domain: 'engines.example',
  requireSecondFactor: false,
  createdAt: sample.moment,
};

export const createOrganizationSchema = {
  ...IN_ORGANIZATIONS,
  operationId: 'createOrganization',
  permission: 'organizations.create',
  summary: 'Create an organization',
  body: CreateOrganizationRequest,
  response: { 201: jsonResponse('The organization.', OrganizationRecord), ...adminErrors(MAY_CONFLICT) },
  examples: [
    {
      summary: 'A company',
      body: { name: engines.name, domain: engines.domain },
      status: 201,
      answer: engines,
    },
  ],
} satisfies AdminSchema;

export const listOrganizationsSchema = {
  ...IN_ORGANIZATIONS,
  operationId: 'listOrganizations',
  permission: 'organizations.read',
  summary: 'List organizations',
  querystring: pageParameters({}),
  response: {
    200: jsonResponse('A page of the list, in the order of ids.', pageOf(OrganizationRecord)),
    ...adminErrors(),
  },
  examples: [{ summary: 'The first page', status: 200, answer: { items: [engines], nextCursor: null } }],
} satisfies AdminSchema;

export const readOrganizationSchema = {
  ...IN_ORGANIZATIONS,
  operationId: 'readOrganization',
  versioned: 'organization',
  permission: 'organizations.read',
  objects: { organization: 'id' },
  summary: 'Get an organization and its members',
  params: Type.Object({ id: Id }),
  response: {
    200: jsonResponse('The organization and its members.', OrganizationWithMembers),
    ...adminErrors(MAY_BE_MISSING),
  },
  examples: [
    {
      summary: 'A company',
      params: { id: sample.organizationId },
      status: 200,
      answer: { ...engines, members: [{ userId: sample.userId, username: sample.username, role: 'MEMBER' }] },
    },
  ],
} satisfies AdminSchema;

export const updateOrganizationSchema = {
  ...IN_ORGANIZATIONS,
  operationId: 'updateOrganization',
  versioned: 'organization',
  permission: 'organizations.update',
  objects: { organization: 'id' },
  summary: 'Change what an organization requires of its members',
  description: 'It counts from the next authorization of each member. Tokens from before stay valid.',
  params: Type.Object({ id: Id }),
  body: UpdateOrganizationRequest,
  response: {
    200: jsonResponse('The organization.', OrganizationRecord),
    ...adminErrors({ ...MAY_BE_MISSING, ...MAY_HAVE_CHANGED }),
  },
  examples: [
    {
      summary: 'Require a second factor',
      params: { id: sample.organizationId },
      body: { requireSecondFactor: true },
      status: 200,
      answer: { ...engines, requireSecondFactor: true },
    },
  ],
} satisfies AdminSchema;

export const deleteOrganizationSchema = {
  ...IN_ORGANIZATIONS,
  operationId: 'deleteOrganization',
  versioned: 'organization',
  permission: 'organizations.delete',
  objects: { organization: 'id' },
  summary: 'Delete an organization',
  description:
    'With its groups, memberships, assignments and invitations; the accounts stay. From the moment of the response on, no code or token is accepted that a person got by an assignment of the organization or its groups, unless the person has another assignment to the app.',
  params: Type.Object({ id: Id }),
  response: {
    200: jsonResponse('What ended with it.', AccessChangeRecord),
    ...adminErrors({ ...MAY_BE_MISSING, ...MAY_HAVE_CHANGED }),
  },
  examples: [
    { summary: 'Delete it', params: { id: sample.organizationId }, status: 200, answer: { kept: 0, ended: 0 } },
  ],
} satisfies AdminSchema;

export const readMemberSchema = {
  ...IN_ORGANIZATIONS,
  operationId: 'readMember',
  versioned: 'membership',
  permission: 'organizations.read',
  objects: { organization: 'id' },
  summary: 'Get a membership',
  params: memberParams,
  response: { 200: jsonResponse('The membership.', MembershipRecord), ...adminErrors(MAY_BE_MISSING) },
  examples: [
    {
      summary: 'A member with a role',
      params: theMember,
      status: 200,
      answer: { organizationId: sample.organizationId, userId: sample.userId, role: 'MEMBER' },
    },
  ],
} satisfies AdminSchema;

const taken = { made: MadeRecord, ended: Type.Boolean({ about: 'Whether that ended.' }) };
const RemovedMembership = Type.Object(
  {
    roles: Type.Optional(
      Type.Array(GrantRecord, { about: 'The roles of the organization that the person held beside, and that ended.' }),
    ),
    made: Type.Optional(Type.Union([MadeRecord])),
    ended: Type.Optional(taken.ended),
  },
  { title: 'RemovedMembership' },
);
const SetMembership = Type.Object(
  {
    ...MembershipRecord.properties,
    made: Type.Optional(Type.Union([MadeRecord])),
    ended: Type.Optional(taken.ended),
  },
  { title: 'SetMembership' },
);

export const setMemberSchema = {
  ...IN_ORGANIZATIONS,
  operationId: 'setMember',
  versioned: 'membership',
  permission: 'members.manage',
  objects: { organization: 'id', person: 'userId' },
  summary: 'Add a member, or change the role',
  description:
    'A user can be a member of one organization only: `conflict` if it is another one, or while an operator who lacks a permission of the role may sign in as the person by what they set. Where this takes a role away, the keys and roles that the person made in the organization and that no role of theirs covers any more are listed, as are apps and members, and end with `endMade`.',
  params: memberParams,
  querystring: takes,
  body: SetMembershipRequest,
  response: {
    200: jsonResponse(
      'The membership, and what the person made in a role that is taken away, if anything.',
      SetMembership,
    ),
    ...adminErrors({ ...MAY_BE_MISSING, ...MAY_CONFLICT, ...MAY_HAVE_CHANGED }),
  },
  examples: [
    {
      summary: 'With a role',
      params: theMember,
      body: { role: 'ADMIN' },
      status: 200,
      answer: { organizationId: sample.organizationId, userId: sample.userId, role: 'ADMIN' },
    },
  ],
} satisfies AdminSchema;

export const removeMemberSchema = {
  ...IN_ORGANIZATIONS,
  operationId: 'removeMember',
  versioned: 'membership',
  permission: 'members.manage',
  objects: { organization: 'id', person: 'userId' },
  summary: 'Remove a member',
  description:
    'Other roles of the organization that the person held end with it, and are listed. Where the person was an owner or admin, or held such a role, the keys and roles that they made in the organization and that no role of theirs covers any more are listed, as are apps and members, and end with `endMade`. Without any, the answer is 204.',
  params: memberParams,
  querystring: takes,
  response: {
    200: jsonResponse('The roles that ended with it, and what the person made, if anything.', RemovedMembership),
    204: NO_CONTENT_RESPONSE,
    ...adminErrors({ ...MAY_BE_MISSING, ...MAY_CONFLICT, ...MAY_HAVE_CHANGED }),
  },
  examples: [{ summary: 'Remove it', params: theMember, status: 204 }],
} satisfies AdminSchema;
