import type { FastifySchema } from 'fastify';
import { mailStatuses } from '../../mail/store.ts';
import { Id, Instant, jsonResponse, nullableField } from '../../platform/http/operation.ts';
import * as Type from '../../platform/validation/type.ts';
import { pageOf, pageParameters } from '../paging.ts';
import { adminErrors, MAY_BE_MISSING, MAY_CONFLICT } from './errors.ts';

const MailRecord = Type.Object(
  {
    id: Id,
    kind: Type.String({ about: 'What the message is about, such as `recovery`.' }),
    status: Type.Unsafe<string>({ enum: [...mailStatuses] }),
    recipient: Type.String(),
    userId: nullableField(Id),
    attempts: Type.Integer(),
    problem: nullableField(Type.String(), 'Why the last attempt failed.'),
    createdAt: Instant,
    expiresAt: Type.String({ format: 'date-time', about: 'It is not sent after this instant.' }),
    dueAt: nullableField(Instant, 'The next attempt; null unless it waits.'),
    settledAt: nullableField(Instant, 'When it was sent, given up or expired.'),
  },
  { title: 'Mail' },
);

const IN_MAIL = { area: 'mail', caller: 'admin key' } as const;

export const listMailSchema = {
  ...IN_MAIL,
  operationId: 'listMail',
  summary: 'List mail',
  description:
    'Newest first, never with its content. `dead` messages were given up and can be sent again until they expire. Sent and expired messages are listed for a day.',
  querystring: pageParameters({
    status: Type.Optional(
      Type.Unsafe<(typeof mailStatuses)[number]>({
        enum: [...mailStatuses],
        about: 'Only messages with this status.',
        description: `one of ${mailStatuses.join(', ')}`,
      }),
    ),
  }),
  response: { 200: jsonResponse('A page of the list.', pageOf(MailRecord)), ...adminErrors() },
  examples: [
    {
      summary: 'What was given up',
      query: { status: 'dead' },
      status: 200,
      answer: { items: [], nextCursor: null },
    },
  ],
} satisfies FastifySchema;

export const retryMailSchema = {
  ...IN_MAIL,
  operationId: 'retryMail',
  summary: 'Send a message again that was given up',
  description: 'It is due at once. A message that has expired is not sent any more: its content was erased.',
  params: Type.Object({ id: Type.String({ description: 'the id of a message' }) }),
  response: { 200: jsonResponse('The message.', MailRecord), ...adminErrors({ ...MAY_BE_MISSING, ...MAY_CONFLICT }) },
  examples: [
    {
      summary: 'A message that is not listed any more',
      params: { id: '71' },
      status: 404,
      answer: {
        error: 'not_found',
        error_description: 'There is no message 71. List them with: tessera mail list',
      },
    },
  ],
} satisfies FastifySchema;
