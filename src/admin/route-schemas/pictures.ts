import type { FastifySchema } from 'fastify';
import { AccountRecord } from '../../accounts/schema.ts';
import { ClientRecord } from '../../clients/schema.ts';
import { PICTURE_TYPES } from '../../pictures/pictures.ts';
import { Id, jsonResponse } from '../../platform/http/operation.ts';
import { sample } from '../../platform/http/samples.ts';
import * as Type from '../../platform/validation/type.ts';
import { adminErrors, MAY_BE_MISSING } from './errors.ts';

const OF_USER = {
  area: 'users',
  caller: 'admin key',
  params: Type.Object({ id: Id }),
  response: { 200: jsonResponse('The user.', AccountRecord), ...adminErrors(MAY_BE_MISSING) },
} as const;
const OF_CLIENT = {
  area: 'clients',
  caller: 'admin key',
  params: Type.Object({ clientId: Id }),
  response: { 200: jsonResponse('The client.', ClientRecord), ...adminErrors(MAY_BE_MISSING) },
} as const;

const FILE = {
  description:
    'The body is the file: a JPEG, PNG or WebP picture of at most 1 MiB and 16 million pixels. The square of its middle is kept, of at most 512 by 512 pixels, and nothing of the file beside.',
  consumes: PICTURE_TYPES,
  // Whatever it is, it is read as a picture.
  body: Type.Unsafe<unknown>({}),
} as const;
const user = { summary: 'Of a person', params: { id: sample.userId }, status: 200 };
const client = { summary: 'Of an app', params: { clientId: sample.clientId }, status: 200 };

export const setUserPictureSchema = {
  ...OF_USER,
  ...FILE,
  operationId: 'setUserPicture',
  summary: 'Give a person a picture',
  examples: [{ ...user, file: sample.picture }],
} satisfies FastifySchema;

export const removeUserPictureSchema = {
  ...OF_USER,
  operationId: 'removeUserPicture',
  summary: 'Take a person’s picture away',
  description: 'The initials stand for the person again. Harmless where there is none.',
  examples: [user],
} satisfies FastifySchema;

export const setClientPictureSchema = {
  ...OF_CLIENT,
  ...FILE,
  operationId: 'setClientPicture',
  summary: 'Give a client a picture',
  description: `${FILE.description} People see it where they sign in to the app, where they allow it, and among their connected apps.`,
  examples: [{ ...client, file: sample.picture }],
} satisfies FastifySchema;

export const removeClientPictureSchema = {
  ...OF_CLIENT,
  operationId: 'removeClientPicture',
  summary: 'Take a client’s picture away',
  description: 'Its letters stand for it again. Harmless where there is none.',
  examples: [client],
} satisfies FastifySchema;
