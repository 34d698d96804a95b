import {
  AccessChangeRecord,
  AppAccessRecord,
  AssignmentRecord,
  CreateAssignmentRequest,
  UpdateAssignmentRequest,
} from '../../access/schema.ts';
import { Id, jsonResponse } from '../../platform/http/operation.ts';
import { sample } from '../../platform/http/samples.ts';
import * as Type from '../../platform/validation/type.ts';
import type { AdminSchema } from '../admin-app.ts';
import { pageOf, pageParameters } from '../paging.ts';
import { adminErrors, MAY_BE_MISSING, MAY_CONFLICT, MAY_HAVE_CHANGED } from './errors.ts';

const IN_ACCESS = { area: 'access', caller: 'admin key' } as const;
const theClient = { clientId: sample.clientId };
const theAssignment = { clientId: sample.clientId, id: sample.assignmentId };

const ofGroup = {
  id: sample.assignmentId,
  clientId: sample.clientId,
  userId: null,
  groupId: sample.groupId,
  organizationId: null,
  role: null,
  createdAt: sample.moment,
};

export const createAssignmentSchema = {
  ...IN_ACCESS,
  operationId: 'createAssignment',
  permission: 'apps.assign',
  objects: { app: ['clientId'], assigned: true },
  summary: 'Assign a person, a group or an organization to an app',
  description:
    'Says who may use an app with `access: assigned`, and in which role. An organization’s owners choose who is in it and in its groups: everyone that they add may use the app.',
  params: Type.Object({ clientId: Id }),
  body: CreateAssignmentRequest,
  response: {
    201: jsonResponse('The assignment.', AssignmentRecord),
    ...adminErrors({ ...MAY_BE_MISSING, ...MAY_CONFLICT }),
  },
  examples: [
    {
      summary: 'A group',
      params: theClient,
      body: { groupId: sample.groupId },
      status: 201,
      answer: ofGroup,
    },
  ],
} satisfies AdminSchema;

export const listAssignmentsSchema = {
  ...IN_ACCESS,
  operationId: 'listAssignments',
  permission: 'apps.read',
  objects: { app: ['clientId'] },
  summary: 'List who is assigned to an app',
  params: Type.Object({ clientId: Id }),
  querystring: pageParameters({}),
  response: {
    200: jsonResponse('A page of the list, in the order of ids.', pageOf(AssignmentRecord)),
    ...adminErrors(MAY_BE_MISSING),
  },
  examples: [
    { summary: 'The first page', params: theClient, status: 200, answer: { items: [ofGroup], nextCursor: null } },
  ],
} satisfies AdminSchema;

export const readAssignmentSchema = {
  ...IN_ACCESS,
  operationId: 'readAssignment',
  versioned: 'assignment',
  permission: 'apps.read',
  objects: { app: ['clientId'] },
  summary: 'Get an assignment',
  params: Type.Object({ clientId: Id, id: Id }),
  response: { 200: jsonResponse('The assignment.', AssignmentRecord), ...adminErrors(MAY_BE_MISSING) },
  examples: [{ summary: 'Of a group', params: theAssignment, status: 200, answer: ofGroup }],
} satisfies AdminSchema;

export const updateAssignmentSchema = {
  ...IN_ACCESS,
  operationId: 'updateAssignment',
  versioned: 'assignment',
  permission: 'apps.assign',
  objects: { app: ['clientId'] },
  summary: 'Change the role of an assignment',
  description: 'Nothing ends: new tokens, UserInfo and introspection give the new role.',
  params: Type.Object({ clientId: Id, id: Id }),
  body: UpdateAssignmentRequest,
  response: {
    200: jsonResponse('The assignment.', AssignmentRecord),
    ...adminErrors({ ...MAY_BE_MISSING, ...MAY_CONFLICT, ...MAY_HAVE_CHANGED }),
  },
  examples: [{ summary: 'No role', params: theAssignment, body: { role: null }, status: 200, answer: ofGroup }],
} satisfies AdminSchema;

export const removeAssignmentSchema = {
  ...IN_ACCESS,
  operationId: 'removeAssignment',
  versioned: 'assignment',
  permission: 'apps.assign',
  objects: { app: ['clientId'] },
  summary: 'Take an assignment away',
  description:
    'From the moment of the response on, no code or token is accepted that a person got by this assignment, unless the person has another one to the app. Assigned again, the person signs in again.',
  params: Type.Object({ clientId: Id, id: Id }),
  response: {
    200: jsonResponse('What ended with it.', AccessChangeRecord),
    ...adminErrors({ ...MAY_BE_MISSING, ...MAY_CONFLICT, ...MAY_HAVE_CHANGED }),
  },
  examples: [{ summary: 'Take it away', params: theAssignment, status: 200, answer: { kept: 0, ended: 0 } }],
} satisfies AdminSchema;

export const readAppAccessSchema = {
  ...IN_ACCESS,
  operationId: 'readAppAccess',
  permission: 'users.read',
  objects: { app: ['clientId'], person: 'userId' },
  summary: 'Tell whether a user may use an app, and why',
  description:
    'Gives the user’s roles, every assignment that reaches the user (of the user, of a group, of an organization), and what keeps the user from the app: `client_disabled`, `client_without_sign_in` (the app does not use `authorization_code`), `account_banned`, `account_suspended`, `not_assigned`.',
  params: Type.Object({ clientId: Id, userId: Id }),
  response: {
    200: jsonResponse('Whether the user may use the app, and why.', AppAccessRecord),
    ...adminErrors(MAY_BE_MISSING),
  },
  examples: [
    {
      summary: 'By a group',
      params: { ...theClient, userId: sample.userId },
      status: 200,
      answer: {
        clientId: sample.clientId,
        userId: sample.userId,
        allowed: true,
        access: 'assigned',
        roles: ['viewer'],
        assignments: [
          {
            id: sample.assignmentId,
            userId: null,
            groupId: sample.groupId,
            organizationId: null,
            name: 'analysts',
            role: 'viewer',
          },
        ],
        obstacles: [],
      },
    },
  ],
} satisfies AdminSchema;
