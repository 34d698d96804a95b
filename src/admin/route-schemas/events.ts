import { EventRecord, eventFilters } from '../../audit/schema.ts';
import { jsonResponse } from '../../platform/http/operation.ts';
import { sample } from '../../platform/http/samples.ts';
import * as Type from '../../platform/validation/type.ts';
import type { AdminSchema } from '../admin-app.ts';
import { pageOf, pageParameters } from '../paging.ts';
import { adminErrors } from './errors.ts';

const query = pageParameters({
  ...eventFilters,
  order: Type.Unsafe<'asc' | 'desc'>({
    enum: ['asc', 'desc'],
    default: 'asc',
    about: 'Oldest first (asc) or newest first (desc).',
    description: 'asc or desc',
  }),
});

export const listEventsSchema = {
  area: 'audit',
  caller: 'admin key',
  operationId: 'listAuditEvents',
  permission: 'events.read',
  summary: 'List audit events',
  description:
    'In the order of recording, or reversed. With several nodes, an event may appear shortly after one with a higher ID. One request examines up to 200,000 events: a page may have fewer items than `limit`, or none, before the end. Follow `nextCursor` until it is null.',
  querystring: query,
  response: { 200: jsonResponse('A page of the list.', pageOf(EventRecord)), ...adminErrors() },
  examples: [
    {
      summary: 'Events of a client',
      query: { clientId: sample.clientId, limit: '1' },
      status: 200,
      answer: {
        items: [
          {
            id: sample.eventId,
            at: sample.moment,
            type: 'client.created',
            outcome: 'success',
            actor: { type: 'admin', id: null },
            userId: null,
            clientId: sample.clientId,
            address: '203.0.113.7',
            requestId: sample.requestId,
            details: { actorRole: 'owner' },
          },
        ],
        nextCursor: null,
      },
    },
  ],
} satisfies AdminSchema;
