import { AccountRecord } from '../../accounts/schema.ts';
import { ClientRecord } from '../../clients/schema.ts';
import { PICTURE_TYPES } from '../../pictures/pictures.ts';
import { Id, jsonResponse } from '../../platform/http/operation.ts';
import { sample } from '../../platform/http/samples.ts';
import * as Type from '../../platform/validation/type.ts';
import type { AdminSchema } from '../admin-app.ts';
import { adminErrors, MAY_BE_MISSING, MAY_CONFLICT, MAY_HAVE_CHANGED } from './errors.ts';

const OF_USER = {
  area: 'users',
  caller: 'admin key',
  versioned: 'user',
  params: Type.Object({ id: Id }),
  response: {
    200: jsonResponse('The user.', AccountRecord),
    ...adminErrors({ ...MAY_BE_MISSING, ...MAY_HAVE_CHANGED }),
  },
} as const;
const OF_CLIENT = {
  area: 'clients',
  caller: 'admin key',
  versioned: 'client',
  params: Type.Object({ clientId: Id }),
  response: {
    200: jsonResponse('The client.', ClientRecord),
    ...adminErrors({ ...MAY_BE_MISSING, ...MAY_CONFLICT, ...MAY_HAVE_CHANGED }),
  },
} as const;

const FILE = {
  description:
    'The body is a JPEG, PNG or WebP file of at most 1 MiB and 16 million pixels. It is cropped to a square of at most 512 by 512 pixels, and its metadata is removed.',
  consumes: PICTURE_TYPES,
  // The picture itself is validated when it is decoded.
  body: Type.Unsafe<unknown>({}),
} as const;
const user = { summary: 'Of a user', params: { id: sample.userId }, status: 200 };
const client = { summary: 'Of a client', params: { clientId: sample.clientId }, status: 200 };

export const setUserPictureSchema = {
  ...OF_USER,
  ...FILE,
  operationId: 'setUserPicture',
  permission: 'users.update',
  objects: { person: 'id' },
  summary: 'Set the picture of a user',
  examples: [{ ...user, file: sample.picture }],
} satisfies AdminSchema;

export const removeUserPictureSchema = {
  ...OF_USER,
  operationId: 'removeUserPicture',
  permission: 'users.update',
  objects: { person: 'id' },
  summary: 'Remove the picture of a user',
  description: 'The initials are shown instead. Succeeds if there is no picture.',
  examples: [user],
} satisfies AdminSchema;

export const setClientPictureSchema = {
  ...OF_CLIENT,
  ...FILE,
  operationId: 'setClientPicture',
  permission: 'apps.manage',
  objects: { app: ['clientId'] },
  summary: 'Set the picture of a client',
  description: `${FILE.description} It is shown on the sign-in and consent pages, and in the list of connected apps.`,
  examples: [{ ...client, file: sample.picture }],
} satisfies AdminSchema;

export const removeClientPictureSchema = {
  ...OF_CLIENT,
  operationId: 'removeClientPicture',
  permission: 'apps.manage',
  objects: { app: ['clientId'] },
  summary: 'Remove the picture of a client',
  description: 'The initials are shown instead. Succeeds if there is no picture.',
  examples: [client],
} satisfies AdminSchema;
