import type { FastifySchema } from 'fastify';
import { FORM_TYPE, JSON_TYPE, jsonResponse, refusalResponses } from '../../platform/http/operation.ts';
import { sample } from '../../platform/http/samples.ts';
import * as Type from '../../platform/validation/type.ts';
import { CREDENTIALS } from '../token/route-schemas.ts';

/** RFC 8628 §3.1. */
const DeviceAuthorizationRequest = Type.Object(
  {
    scope: Type.Optional(Type.String({ about: 'The scopes, separated by spaces. Default: openid.' })),
    ...CREDENTIALS,
    resource: Type.Optional(
      Type.Union([Type.String(), Type.Array(Type.String())], {
        about: 'Resource that the tokens are for (RFC 8707). Can be repeated in a form.',
      }),
    ),
  },
  { title: 'DeviceAuthorizationRequest' },
);

/** RFC 8628 §3.2. */
const DeviceAuthorizationResponse = Type.Object(
  {
    device_code: Type.String({ about: 'For the token request. Not shown to the user.' }),
    user_code: Type.String({ about: 'What the user types. Show it as it is.' }),
    verification_uri: Type.String({ about: 'Where the user types it. Show it, as a QR code too if you like.' }),
    expires_in: Type.Integer({ about: 'How many seconds both codes are valid: 600.' }),
    interval: Type.Integer({ about: 'How many seconds to wait before each token request: 5.' }),
  },
  { title: 'DeviceAuthorization' },
);

export const authorizeDeviceSchema = {
  area: 'tokens',
  consumes: [JSON_TYPE, FORM_TYPE],
  operationId: 'authorizeDevice',
  caller: 'client',
  summary: 'Begin the sign-in of a device',
  description:
    'RFC 8628, for a device or a program without a browser. Show the user `user_code` and `verification_uri`, and ask `/oidc/token` for the tokens every few seconds until the user has answered.',
  body: DeviceAuthorizationRequest,
  response: {
    200: jsonResponse('The codes.', DeviceAuthorizationResponse),
    ...refusalResponses({
      400: ['invalid_request', 'unauthorized_client', 'invalid_scope', 'invalid_target'],
      401: ['invalid_client'],
      429: ['rate_limit_exceeded'],
    }),
  },
  examples: [
    {
      summary: 'A public client',
      body: { client_id: sample.deviceClientId, scope: 'openid profile offline_access' },
      status: 200,
      answer: {
        device_code: 'kX9d0Zr3Wq7T…',
        user_code: 'WDJB-MJHT',
        verification_uri: 'https://id.example.com/device',
        expires_in: 600,
        interval: 5,
      },
    },
  ],
} satisfies FastifySchema;
