import type { FastifySchema } from 'fastify';
import { jsonResponse } from '../../platform/http/operation.ts';
import * as Type from '../../platform/validation/type.ts';

const IN_HEALTH = { area: 'health', caller: 'anyone' } as const;
const Ok = Type.Object({ status: Type.Unsafe<'ok'>({ type: 'string', enum: ['ok'] }) });
const response = { 200: jsonResponse('It does.', Ok) };
const examples = [{ summary: 'A node that is well', status: 200, answer: { status: 'ok' } }];

export const isLiveSchema = {
  ...IN_HEALTH,
  operationId: 'isLive',
  summary: 'Whether the process lives',
  response,
  examples,
} satisfies FastifySchema;

export const isReadySchema = {
  ...IN_HEALTH,
  operationId: 'isReady',
  summary: 'Whether the process can do its work',
  description:
    'Not while the database is away or takes no writes, while its clock and the node’s differ by more than 30 seconds, while a later version has changed it, and while the node is about to stop. The description of a 503 says which.',
  response,
  examples,
} satisfies FastifySchema;
