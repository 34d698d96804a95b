import { GrantRoleRequest } from '../../account-actions/operators/grants.ts';
import { OPERATOR_ROLES, type OperatorRole } from '../../operators/permissions.ts';
import { Id, jsonResponse } from '../../platform/http/operation.ts';
import { sample } from '../../platform/http/samples.ts';
import * as Type from '../../platform/validation/type.ts';
import type { AdminSchema } from '../admin-app.ts';
import { pageOf, pageParameters } from '../paging.ts';
import { adminErrors, MAY_BE_MISSING, MAY_CONFLICT, MAY_HAVE_CHANGED } from './errors.ts';
import { GrantRecord, MadeRecord, NOTHING_MADE_RECORD, queryFlag } from './operator-records.ts';

const OF_OPERATORS = { area: 'operators', caller: 'admin key' } as const;

const params = Type.Object({
  id: Id,
  role: Type.Unsafe<OperatorRole>({ enum: [...OPERATOR_ROLES], description: `one of ${OPERATOR_ROLES.join(', ')}` }),
});

export const listOperatorsSchema = {
  ...OF_OPERATORS,
  operationId: 'listOperators',
  permission: 'operators.read',
  summary: 'List the roles of operators',
  description: 'Owners and admins of an organization are listed as its members.',
  querystring: pageParameters({}),
  response: { 200: jsonResponse('A page of the list.', pageOf(GrantRecord)), ...adminErrors() },
  examples: [{ summary: 'The first page', status: 200 }],
} satisfies AdminSchema;

export const listRolesSchema = {
  ...OF_OPERATORS,
  operationId: 'listRolesOfUser',
  versioned: 'roles',
  permission: 'operators.read',
  objects: { person: 'id' },
  summary: 'List the roles of a user',
  description: 'Every role, also that of a membership. The `ETag` is the version of all of them.',
  params: Type.Object({ id: Id }),
  response: { 200: jsonResponse('The roles.', pageOf(GrantRecord)), ...adminErrors(MAY_BE_MISSING) },
  examples: [{ summary: 'The roles', params: { id: sample.operatorId }, status: 200 }],
} satisfies AdminSchema;

const ended = Type.Boolean({ about: 'Whether that ended.' });
const GivenRole = Type.Object(
  {
    ...GrantRecord.properties,
    made: Type.Optional(Type.Union([MadeRecord])),
    ended: Type.Optional(ended),
  },
  { title: 'GivenRole' },
);

export const grantRoleSchema = {
  ...OF_OPERATORS,
  operationId: 'grantRole',
  versioned: 'roles',
  permission: 'operators.manage',
  objects: { person: 'id', inOrganizationOfBody: true },
  summary: 'Give a role to a user',
  description:
    'Or change its end. Nobody gives a role with a permission that they lack, or for longer than they hold it themselves: where the role ends sooner than before, the keys and roles that the person gave for longer are listed, and end with `endMade`. `owner` and `admin` of an organization are roles of the membership. `conflict` while an operator who lacks a permission of the role, or holds it for less long, may sign in as the person by what they set: the description says what to do first.',
  params,
  querystring: Type.Object(
    {
      endMade: queryFlag(
        'Ends the keys and roles that the person gave for longer than the role lasts now, and what these made.',
      ),
    },
    { additionalProperties: false },
  ),
  body: GrantRoleRequest,
  response: {
    200: jsonResponse('The role, and what the person made that outlasts it, if it ends sooner than before.', GivenRole),
    ...adminErrors({ ...MAY_BE_MISSING, ...MAY_CONFLICT, ...MAY_HAVE_CHANGED }),
  },
  examples: [
    {
      summary: 'The help desk, until the end of the contract',
      params: { id: sample.userId, role: 'support' },
      body: { expiresAt: '2036-01-31T12:00:00Z' },
      status: 200,
      answer: {
        ...{ userId: sample.userId, role: 'support', organizationId: null },
        ...{ expiresAt: '2036-01-31T12:00:00.000Z', createdAt: sample.moment, madeBy: sample.adminKeyId },
      },
    },
  ],
} satisfies AdminSchema;

export const revokeRoleSchema = {
  ...OF_OPERATORS,
  operationId: 'revokeRole',
  versioned: 'roles',
  permission: 'operators.manage',
  objects: { person: 'id', inOrganizationOfQuery: true },
  summary: 'Take a role away from a user',
  description:
    'The keys and roles that the person made, and the apps that the person registered or changed, are listed, and end with `endMade`. The last owner of the installation stays.',
  params,
  querystring: Type.Object(
    {
      organizationId: Type.Optional(Type.String({ format: 'id', about: 'Of the role.', description: 'an ID' })),
      endMade: queryFlag('Ends what the person made, and what these made.'),
    },
    { additionalProperties: false },
  ),
  response: {
    200: jsonResponse('What the person made.', Type.Object({ made: MadeRecord, ended }, { title: 'RevokedRole' })),
    ...adminErrors({ ...MAY_BE_MISSING, ...MAY_CONFLICT, ...MAY_HAVE_CHANGED }),
  },
  examples: [
    {
      summary: 'Take it away',
      params: { id: sample.operatorId, role: 'support' },
      status: 200,
      answer: {
        made: NOTHING_MADE_RECORD,
        ended: false,
      },
    },
  ],
} satisfies AdminSchema;
