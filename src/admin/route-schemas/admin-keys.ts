import { CreateAdminKeyRequest } from '../../account-actions/makers/admin-keys.ts';
import { Id, jsonResponse } from '../../platform/http/operation.ts';
import { sample } from '../../platform/http/samples.ts';
import * as Type from '../../platform/validation/type.ts';
import type { AdminSchema } from '../admin-app.ts';
import { pageOf, pageParameters } from '../paging.ts';
import { adminErrors, MAY_BE_MISSING, MAY_HAVE_CHANGED } from './errors.ts';
import { AdminKeyRecord, keyFields, MadeRecord, NOTHING_MADE_RECORD, queryFlag } from './operator-records.ts';

const OF_OPERATORS = { area: 'operators', caller: 'admin key' } as const;
const params = Type.Object({ id: Id });
const byId = { id: sample.adminKeyId };

const key = {
  ...{ id: sample.adminKeyId, name: 'help desk', role: 'support', organizationId: null, status: 'active' },
  ...{
    createdAt: sample.moment,
    expiresAt: '2036-01-31T12:00:00.000Z',
    lastUsedAt: null,
    revokedAt: null,
    madeBy: null,
  },
};

export const createAdminKeySchema = {
  ...OF_OPERATORS,
  operationId: 'createAdminKey',
  permission: 'operators.manage',
  objects: { inOrganizationOfBody: true },
  summary: 'Create an admin key',
  description:
    'Nobody makes a key with a permission that they lack, or for longer than they hold it themselves. The answer shows the key, this once.',
  body: CreateAdminKeyRequest,
  response: {
    201: jsonResponse(
      'The key.',
      Type.Object(
        { ...keyFields, adminKey: Type.String({ about: 'Shown only once: the server stores a hash of it.' }) },
        { title: 'CreatedAdminKey' },
      ),
    ),
    ...adminErrors(MAY_BE_MISSING),
  },
  examples: [
    {
      summary: 'A key of the help desk',
      body: { name: 'help desk', role: 'support', expiresAt: '2036-01-31T12:00:00Z' },
      status: 201,
      answer: { ...key, adminKey: sample.adminKey },
    },
  ],
} satisfies AdminSchema;

export const listAdminKeysSchema = {
  ...OF_OPERATORS,
  operationId: 'listAdminKeys',
  permission: 'operators.read',
  summary: 'List admin keys',
  description: 'Revoked ones and those that have ended included; never the keys themselves.',
  querystring: pageParameters({}),
  response: { 200: jsonResponse('A page of the list.', pageOf(AdminKeyRecord)), ...adminErrors() },
  examples: [{ summary: 'The first page', status: 200 }],
} satisfies AdminSchema;

export const readAdminKeySchema = {
  ...OF_OPERATORS,
  operationId: 'readAdminKey',
  versioned: 'admin key',
  permission: 'operators.read',
  objects: { adminKey: 'id' },
  summary: 'Read an admin key',
  description: 'With the valid keys and roles that were made with it.',
  params,
  response: {
    200: jsonResponse('The key.', Type.Object({ ...keyFields, made: MadeRecord }, { title: 'AdminKeyWithMade' })),
    ...adminErrors(MAY_BE_MISSING),
  },
  examples: [{ summary: 'Read it', params: byId, status: 200 }],
} satisfies AdminSchema;

const counts = <P extends Type.TProperties>(fields: P, title: string) => Type.Object(fields, { title });
const invitations = Type.Integer({ about: 'Invitations that nobody had accepted.' });

export const revokeAdminKeySchema = {
  ...OF_OPERATORS,
  operationId: 'revokeAdminKey',
  versioned: 'admin key',
  permission: 'operators.manage',
  objects: { adminKey: 'id' },
  summary: 'Revoke an admin key',
  description:
    'Once this has answered, no request with the key changes anything. Its invitations, recovery links and initial access tokens that nobody used end as well. The keys and roles that it made, and the apps that it registered or changed, are listed, and end with `endMade`.',
  params,
  querystring: Type.Object(
    {
      takeOver: queryFlag(
        'Keeps the invitations, as if they were made on the command line; recovery links always end.',
      ),
      endMade: queryFlag('Ends what it made, and what these made.'),
    },
    { additionalProperties: false },
  ),
  response: {
    200: jsonResponse(
      'What ended.',
      Type.Object(
        {
          ended: counts(
            { invitations, recoveryLinks: Type.Integer(), initialAccessTokens: Type.Integer() },
            'EndedWithAdminKey',
          ),
          takenOver: counts({ invitations }, 'TakenOver'),
          made: MadeRecord,
        },
        { title: 'RevokedAdminKey' },
      ),
    ),
    ...adminErrors({ ...MAY_BE_MISSING, ...MAY_HAVE_CHANGED }),
  },
  examples: [
    {
      summary: 'Revoke it',
      params: byId,
      status: 200,
      answer: {
        ended: { invitations: 0, recoveryLinks: 0, initialAccessTokens: 0 },
        takenOver: { invitations: 0 },
        made: NOTHING_MADE_RECORD,
      },
    },
  ],
} satisfies AdminSchema;
