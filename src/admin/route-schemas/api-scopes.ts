import { AllowedScopesRecord, AllowScopesRequest, ApiScopesRecord } from '../../clients/schema.ts';
import { Id, jsonResponse, NO_CONTENT_RESPONSE } from '../../platform/http/operation.ts';
import { sample } from '../../platform/http/samples.ts';
import * as Type from '../../platform/validation/type.ts';
import type { AdminSchema } from '../admin-app.ts';
import { pageOf, pageParameters } from '../paging.ts';
import { adminErrors, MAY_BE_MISSING, MAY_CONFLICT, MAY_HAVE_CHANGED } from './errors.ts';

const IN_API_SCOPES = { area: 'api-scopes', caller: 'admin key' } as const;
const ofApi = Type.Object({ clientId: Id });
const ofBoth = Type.Object({ clientId: Id, allowedClientId: Id });
const theApi = { clientId: sample.apiId };
const both = { clientId: sample.apiId, allowedClientId: sample.clientId };
const allowed = { apiId: sample.apiId, clientId: sample.clientId, scopes: ['notes.read', 'notes.write'] };

export const allowScopesSchema = {
  ...IN_API_SCOPES,
  operationId: 'allowApiScopes',
  versioned: 'allowed scopes',
  permission: 'apps.manage',
  objects: { app: ['clientId', 'allowedClientId'] },
  summary: 'Let a client request scopes of an API',
  description:
    'The client in `clientId` is the API, which declares them in `resourceScopes`. What the client could request before and is not in the list ends at once: in its grants, codes and tokens, and for good.',
  params: ofBoth,
  body: AllowScopesRequest,
  response: {
    200: jsonResponse('What the client may request.', AllowedScopesRecord),
    ...adminErrors({ ...MAY_BE_MISSING, ...MAY_CONFLICT, ...MAY_HAVE_CHANGED }),
  },
  examples: [
    {
      summary: 'Two scopes',
      params: both,
      body: { scopes: ['notes.read', 'notes.write'] },
      status: 200,
      answer: allowed,
    },
  ],
} satisfies AdminSchema;

export const readAllowedScopesSchema = {
  ...IN_API_SCOPES,
  operationId: 'readAllowedApiScopes',
  versioned: 'allowed scopes',
  permission: 'apps.read',
  objects: { app: ['clientId', 'allowedClientId'] },
  summary: 'Get the scopes of an API that a client may request',
  params: ofBoth,
  response: {
    200: jsonResponse('What the client may request.', AllowedScopesRecord),
    ...adminErrors(MAY_BE_MISSING),
  },
  examples: [{ summary: 'Two scopes', params: both, status: 200, answer: allowed }],
} satisfies AdminSchema;

export const disallowScopesSchema = {
  ...IN_API_SCOPES,
  operationId: 'disallowApiScopes',
  versioned: 'allowed scopes',
  permission: 'apps.manage',
  objects: { app: ['clientId', 'allowedClientId'] },
  summary: 'Take all scopes of an API away from a client',
  description: 'They end at once in the grants, codes and tokens of the client, and for good.',
  params: ofBoth,
  response: { 204: NO_CONTENT_RESPONSE, ...adminErrors({ ...MAY_BE_MISSING, ...MAY_CONFLICT, ...MAY_HAVE_CHANGED }) },
  examples: [{ summary: 'Take them away', params: both, status: 204 }],
} satisfies AdminSchema;

export const listAllowedClientsSchema = {
  ...IN_API_SCOPES,
  operationId: 'listAllowedClients',
  permission: 'apps.read',
  objects: { app: ['clientId'] },
  summary: 'List the clients that may request scopes of an API',
  params: ofApi,
  querystring: pageParameters({}),
  response: {
    200: jsonResponse('A page of the list, in the order of ids.', pageOf(AllowedScopesRecord)),
    ...adminErrors(MAY_BE_MISSING),
  },
  examples: [
    { summary: 'The first page', params: theApi, status: 200, answer: { items: [allowed], nextCursor: null } },
  ],
} satisfies AdminSchema;

export const listApiScopesSchema = {
  ...IN_API_SCOPES,
  operationId: 'listApiScopes',
  permission: 'apps.read',
  objects: { app: ['clientId'] },
  summary: 'List the scopes of APIs that a client may request',
  params: ofApi,
  response: {
    200: jsonResponse('All of them, by API; those of disabled APIs are left out.', pageOf(ApiScopesRecord)),
    ...adminErrors(MAY_BE_MISSING),
  },
  examples: [
    {
      summary: 'Of one API',
      params: { clientId: sample.clientId },
      status: 200,
      answer: {
        items: [
          {
            apiId: sample.apiId,
            name: 'Acme Notes API',
            resource: 'https://api.acme.example/notes',
            scopes: ['notes.read', 'notes.write'],
          },
        ],
        nextCursor: null,
      },
    },
  ],
} satisfies AdminSchema;
