import { mailStatuses } from '../../mail/store.ts';
import { Id, Instant, jsonResponse, nullableField } from '../../platform/http/operation.ts';
import * as Type from '../../platform/validation/type.ts';
import type { AdminSchema } from '../admin-app.ts';
import { pageOf, pageParameters } from '../paging.ts';
import { adminErrors } from './errors.ts';

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
  permission: 'mail.read',
  summary: 'List mail',
  description:
    'Newest first, never with its content. `dead` messages were given up, are listed for two weeks and cannot be sent again: the person asks for another one. Sent and expired messages are listed for a day.',
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
} satisfies AdminSchema;
