import { LastSignInsRecord } from '../../audit/last-sign-ins.ts';
import { Id, Instant, jsonResponse, NO_CONTENT_RESPONSE, nullableField } from '../../platform/http/operation.ts';
import { sample } from '../../platform/http/samples.ts';
import * as Type from '../../platform/validation/type.ts';
import type { AdminSchema } from '../admin-app.ts';
import { pageOf } from '../paging.ts';
import { adminErrors, MAY_BE_MISSING, MAY_CONFLICT } from './errors.ts';

const ABOUT_PERSON = {
  area: 'sessions',
  caller: 'admin key',
  objects: { person: 'id' },
  params: Type.Object({ id: Id }),
} as const;

export const sendRecoverySchema = {
  ...ABOUT_PERSON,
  operationId: 'sendRecovery',
  permission: 'users.send_recovery',
  summary: 'Send recovery to a user',
  description:
    'A link, to the verified address; the answer does not show it. It is refused while the address may be another person’s: not verified, or changed in the last seven days.',
  response: { 204: NO_CONTENT_RESPONSE, ...adminErrors({ ...MAY_BE_MISSING, ...MAY_CONFLICT }) },
  examples: [{ summary: 'Send it', params: { id: sample.operatorId }, status: 204 }],
} satisfies AdminSchema;

const FactorRecord = Type.Object(
  {
    id: Type.String({ about: '`totp`, or the ID of a passkey.' }),
    kind: Type.Unsafe<string>({ enum: ['totp', 'passkey'] }),
    name: nullableField(Type.String(), 'The name that the person gave to a passkey.'),
    createdAt: Instant,
  },
  { title: 'Factor' },
);

export const listFactorsSchema = {
  ...ABOUT_PERSON,
  operationId: 'listFactorsOfUser',
  permission: 'users.read',
  summary: 'List the factors of a user',
  description: 'Beside the password: the authenticator app and the passkeys.',
  response: { 200: jsonResponse('All factors, on one page.', pageOf(FactorRecord)), ...adminErrors(MAY_BE_MISSING) },
  examples: [
    { summary: 'Of a user', params: { id: sample.userId }, status: 200, answer: { items: [], nextCursor: null } },
  ],
} satisfies AdminSchema;

export const readLastSignInsSchema = {
  ...ABOUT_PERSON,
  operationId: 'readLastSignInsOfUser',
  permission: 'users.read',
  summary: 'Tell when a user last signed in, and why it last failed',
  description: 'From the audit trail, as far as it is kept.',
  response: { 200: jsonResponse('The last sign-ins.', LastSignInsRecord), ...adminErrors(MAY_BE_MISSING) },
  examples: [
    {
      summary: 'A user who never signed in',
      params: { id: sample.userId },
      status: 200,
      answer: { succeeded: null, failed: null },
    },
  ],
} satisfies AdminSchema;

export const removeFactorSchema = {
  ...ABOUT_PERSON,
  operationId: 'removeFactorOfUser',
  permission: 'users.remove_factor',
  summary: 'Remove a factor that a user lost',
  description:
    'Every session and token from before ends, and the person is told by mail. The last way into the account stays, and so does the last second factor of a person of whom one is required.',
  params: Type.Object({ id: Id, factorId: Type.String() }),
  response: {
    200: jsonResponse(
      'What was done.',
      Type.Object({ removed: Type.Boolean({ about: 'Whether there was such a factor.' }) }, { title: 'RemovedFactor' }),
    ),
    ...adminErrors({ ...MAY_BE_MISSING, ...MAY_CONFLICT }),
  },
  examples: [
    {
      summary: 'The authenticator app',
      params: { id: sample.userId, factorId: 'totp' },
      status: 200,
      answer: { removed: false },
    },
  ],
} satisfies AdminSchema;

export const unlockUserSchema = {
  ...ABOUT_PERSON,
  operationId: 'unlockUser',
  permission: 'users.unlock',
  summary: 'Unlock a user',
  description: 'Ends the wait after too many failed attempts to sign in. The person is told by mail.',
  response: { 204: NO_CONTENT_RESPONSE, ...adminErrors(MAY_BE_MISSING) },
  examples: [{ summary: 'Unlock', params: { id: sample.userId }, status: 204 }],
} satisfies AdminSchema;

export const remindVerificationSchema = {
  ...ABOUT_PERSON,
  operationId: 'remindUserToVerify',
  permission: 'users.remind_verification',
  summary: 'Ask a user to verify their address',
  description:
    'Sends a message to the address of the account, with the page where the person signs in and verifies it. The message has no code and opens nothing by itself.',
  response: {
    200: jsonResponse(
      'What was done.',
      Type.Object(
        { sent: Type.Boolean({ about: 'False where the address is verified already.' }) },
        { title: 'RemindedUser' },
      ),
    ),
    ...adminErrors({ ...MAY_BE_MISSING, ...MAY_CONFLICT }),
  },
  examples: [{ summary: 'Ask', params: { id: sample.operatorId }, status: 200, answer: { sent: false } }],
} satisfies AdminSchema;
