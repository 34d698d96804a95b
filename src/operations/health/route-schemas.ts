import type { FastifySchema } from 'fastify';
import { jsonResponse } from '../../platform/http/operation.ts';
import * as Type from '../../platform/validation/type.ts';

const IN_HEALTH = { area: 'health', caller: 'anyone' } as const;
const Ok = Type.Object({ status: Type.Unsafe<'ok'>({ type: 'string', enum: ['ok'] }) });
const response = { 200: jsonResponse('It does.', Ok) };
const examples = [{ summary: 'A healthy node', status: 200, answer: { status: 'ok' } }];

export const isLiveSchema = {
  ...IN_HEALTH,
  operationId: 'isLive',
  summary: 'Liveness',
  response,
  examples,
} satisfies FastifySchema;

export const isReadySchema = {
  ...IN_HEALTH,
  operationId: 'isReady',
  summary: 'Readiness',
  description:
    '503 if the database is unavailable or read-only, if its clock and the node’s differ by more than 30 seconds, if its schema needs a later version, or if the node is stopping. The description says which.',
  response,
  examples,
} satisfies FastifySchema;
