import { Id, jsonResponse } from '../../platform/http/operation.ts';
import { sample } from '../../platform/http/samples.ts';
import * as Type from '../../platform/validation/type.ts';
import { ClientStepRecord, ListedStepRecord, TraceRecord } from '../../traces/schema.ts';
import type { AdminSchema } from '../admin-app.ts';
import { pageOf, pageParameters } from '../paging.ts';
import { adminErrors, MAY_BE_MISSING } from './errors.ts';

const RequestId = Type.String({ format: 'uuid', description: 'a correlation ID' });

const refused = {
  at: sample.moment,
  requestId: sample.requestId,
  step: 'userinfo',
  outcome: 'failure',
  clientId: null,
  userId: null,
  method: 'GET',
  path: '/api/v2/oauth/userinfo',
  status: 401,
  error: 'invalid_token',
  description: 'The request has no Authorization header. Send Authorization: Bearer <access_token>.',
  reason: 'no token sent',
  rule: 'RFC 6750 §3.1',
  expected: 'an access token of this service that is in force',
  received: 'no token sent',
  remedy: 'Refresh the token; if that fails, send the user through authorization again.',
};

export const readTraceSchema = {
  area: 'audit',
  caller: 'admin key',
  operationId: 'readTrace',
  permission: 'traces.read',
  summary: 'Explain a refusal by its correlation ID',
  description:
    'The steps of the authorization that a request belongs to, in order of time: what each expected and received, and what to do. ' +
    'The ID is that of `x-request-id`, of an error page or of the log. Secrets, codes and tokens are masked.',
  params: Type.Object({ id: RequestId }),
  response: { 200: jsonResponse('The trace.', TraceRecord), ...adminErrors(MAY_BE_MISSING) },
  examples: [
    {
      summary: 'UserInfo without a token',
      params: { id: sample.requestId },
      status: 200,
      answer: {
        requestId: sample.requestId,
        clientId: null,
        userId: null,
        steps: [refused],
      },
    },
  ],
} satisfies AdminSchema;

export const readAppLogSchema = {
  area: 'audit',
  caller: 'admin key',
  operationId: 'listClientTraceSteps',
  permission: 'apps.traces',
  objects: { app: ['clientId'] },
  summary: 'Read the log of a client',
  description:
    'What the client sent and was told, in the order of recording, or reversed. People are named by ID, and by name while they let the client read it (`profile`); what only operators are told is left out.',
  params: Type.Object({ clientId: Id }),
  querystring: pageParameters({
    requestId: Type.Optional(
      Type.String({
        format: 'uuid',
        about: 'Only the steps of the flow that this request took part in, in the order of recording.',
        description: 'a correlation ID',
      }),
    ),
    order: Type.Unsafe<'asc' | 'desc'>({ enum: ['asc', 'desc'], default: 'asc', description: 'asc or desc' }),
  }),
  response: { 200: jsonResponse('A page of the list.', pageOf(ClientStepRecord)), ...adminErrors(MAY_BE_MISSING) },
  examples: [
    {
      summary: 'The newest',
      params: { clientId: sample.operatorClientId },
      query: { order: 'desc', limit: '1' },
      status: 200,
      answer: { items: [], nextCursor: null },
    },
  ],
} satisfies AdminSchema;

export const listTraceStepsSchema = {
  area: 'audit',
  caller: 'admin key',
  operationId: 'listTraceSteps',
  permission: 'traces.read',
  summary: 'List steps of authorizations',
  description: 'In the order of recording, or reversed. A new step takes up to a second to appear.',
  querystring: pageParameters({
    clientId: Type.Optional(Type.String({ format: 'id', about: 'Only steps of this client.', description: 'an id' })),
    order: Type.Unsafe<'asc' | 'desc'>({ enum: ['asc', 'desc'], default: 'asc', description: 'asc or desc' }),
  }),
  response: { 200: jsonResponse('A page of the list.', pageOf(ListedStepRecord)), ...adminErrors() },
  examples: [
    {
      summary: 'The newest of a client',
      query: { clientId: sample.clientId, order: 'desc', limit: '1' },
      status: 200,
      answer: { items: [], nextCursor: null },
    },
  ],
} satisfies AdminSchema;
