import { ApproveScopeRequest, AskScopeRequest, DeclineScopeRequest, ScopeRequestRecord } from '../../clients/schema.ts';
import { Id, jsonResponse, NO_CONTENT_RESPONSE } from '../../platform/http/operation.ts';
import { sample } from '../../platform/http/samples.ts';
import * as Type from '../../platform/validation/type.ts';
import type { AdminSchema } from '../admin-app.ts';
import { pageOf, pageParameters } from '../paging.ts';
import { adminErrors, MAY_BE_MISSING, MAY_CONFLICT } from './errors.ts';

const IN_REQUESTS = { area: 'api-scopes', caller: 'admin key' } as const;
const ofClient = Type.Object({ clientId: Id });
const ofRequest = Type.Object({ clientId: Id, id: Id });
const theClient = { clientId: sample.clientId };
const theRequest = { clientId: sample.clientId, id: sample.scopeRequestId };
const decided = {
  200: jsonResponse('The request, as it was decided.', ScopeRequestRecord),
  ...adminErrors({ ...MAY_BE_MISSING, ...MAY_CONFLICT }),
};

export const askForScopeSchema = {
  ...IN_REQUESTS,
  operationId: 'askForScope',
  permission: 'apps.manage',
  objects: { app: ['clientId'] },
  summary: 'Ask operators for one more scope of a client',
  description:
    'For the app of a developer, which requests `openid profile email` by itself. The request waits for an operator, who is told; until then the app goes on with the scopes that it has. At most ten of an app wait.',
  params: ofClient,
  body: AskScopeRequest,
  response: {
    201: jsonResponse('The request.', ScopeRequestRecord),
    ...adminErrors({ ...MAY_BE_MISSING, ...MAY_CONFLICT }),
  },
  examples: [
    {
      summary: 'The groups of a person',
      params: theClient,
      body: { scope: 'groups', reason: 'To show each person the boards of their teams.' },
      status: 201,
    },
  ],
} satisfies AdminSchema;

export const listScopeRequestsSchema = {
  ...IN_REQUESTS,
  operationId: 'listScopeRequests',
  permission: 'apps.read',
  objects: { app: ['clientId'] },
  summary: 'List the scope requests of a client',
  params: ofClient,
  response: {
    200: jsonResponse('The newest fifty, the newest first.', pageOf(ScopeRequestRecord)),
    ...adminErrors(MAY_BE_MISSING),
  },
  examples: [{ summary: 'All of them', params: theClient, status: 200, answer: { items: [], nextCursor: null } }],
} satisfies AdminSchema;

export const withdrawScopeRequestSchema = {
  ...IN_REQUESTS,
  operationId: 'withdrawScopeRequest',
  permission: 'apps.manage',
  objects: { app: ['clientId'] },
  summary: 'Withdraw a scope request',
  description: 'While no operator has decided on it.',
  params: ofRequest,
  response: { 204: NO_CONTENT_RESPONSE, ...adminErrors({ ...MAY_BE_MISSING, ...MAY_CONFLICT }) },
  examples: [{ summary: 'Withdraw it', params: theRequest, status: 204 }],
} satisfies AdminSchema;

export const approveScopeSchema = {
  ...IN_REQUESTS,
  operationId: 'approveScopeRequest',
  permission: 'apps.approve',
  objects: { app: ['clientId'] },
  summary: 'Approve a scope request',
  description:
    'From then on the client may request the scope. For a scope of an API, the caller also needs `apps.manage` for the API. Who asked is told. It is refused where they may not manage the client any more.',
  params: ofRequest,
  body: ApproveScopeRequest,
  response: decided,
  examples: [{ summary: 'With a reason', params: theRequest, body: { answer: 'As discussed.' }, status: 200 }],
} satisfies AdminSchema;

export const declineScopeSchema = {
  ...IN_REQUESTS,
  operationId: 'declineScopeRequest',
  permission: 'apps.approve',
  objects: { app: ['clientId'] },
  summary: 'Decline a scope request',
  description: 'Who asked is told, and sees the reason.',
  params: ofRequest,
  body: DeclineScopeRequest,
  response: decided,
  examples: [
    { summary: 'With a reason', params: theRequest, body: { answer: 'Use the scope roles instead.' }, status: 200 },
  ],
} satisfies AdminSchema;

export const listWaitingSchema = {
  ...IN_REQUESTS,
  operationId: 'listWaitingScopeRequests',
  permission: 'apps.read',
  summary: 'List the scope requests that wait',
  description: 'Of all clients that the caller reaches.',
  querystring: pageParameters({}),
  response: {
    200: jsonResponse('A page of the list, in the order of ids.', pageOf(ScopeRequestRecord)),
    ...adminErrors(),
  },
  examples: [{ summary: 'The first page', query: { limit: '1' }, status: 200 }],
} satisfies AdminSchema;
