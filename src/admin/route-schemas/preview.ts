import { Id, jsonResponse } from '../../platform/http/operation.ts';
import { sample } from '../../platform/http/samples.ts';
import * as Type from '../../platform/validation/type.ts';
import { PreviewRecord, PreviewRequest } from '../../protocol/preview/schema.ts';
import type { AdminSchema } from '../admin-app.ts';
import { adminErrors, MAY_BE_MISSING, MAY_CONFLICT } from './errors.ts';

export const previewTokensSchema = {
  area: 'access',
  caller: 'admin key',
  operationId: 'previewTokens',
  permission: 'apps.preview',
  objects: { app: ['clientId'] },
  summary: 'Tell what the tokens of a user would say in an app',
  description:
    'The claims of the ID token, and the responses of UserInfo and introspection, if the app asked for these scopes, resources and claims, and the user allowed them all. Nothing is issued. `access` says whether the user may use the app. Claims that each token or sign-in has of its own (`iat`, `exp`, `jti`, `at_hash`, `sid`, `family`, `auth_time`, `amr`, `acr`, `nonce`) are not shown. Each call is recorded as the event `access.previewed`.',
  params: Type.Object({ clientId: Id }),
  body: PreviewRequest,
  response: {
    200: jsonResponse('What the tokens would say.', PreviewRecord),
    ...adminErrors({ ...MAY_BE_MISSING, ...MAY_CONFLICT }),
  },
  examples: [
    {
      summary: 'A scope that the app is not registered for',
      params: { clientId: sample.clientId },
      body: { userId: sample.userId, scope: 'openid groups' },
      status: 200,
      answer: {
        access: {
          clientId: sample.clientId,
          userId: sample.userId,
          allowed: true,
          access: 'everyone',
          roles: [],
          assignments: [],
          obstacles: [],
        },
        endpoints: [
          {
            endpoints: 'v2',
            error: 'invalid_scope',
            errorDescription:
              'unknown scope groups: leave it out; the scopes are openid profile offline_access email details phone social organization.read',
            scope: '',
            ignoredScopes: [],
            idToken: null,
            userinfo: null,
            introspection: null,
            leftOut: [],
          },
          {
            endpoints: 'oidc',
            error: null,
            errorDescription: null,
            scope: 'openid',
            ignoredScopes: ['groups'],
            idToken: { iss: 'https://id.example.com', aud: sample.clientId, sub: sample.userId },
            userinfo: { sub: sample.userId },
            introspection: {
              active: true,
              client_id: sample.clientId,
              scope: 'openid',
              sub: sample.userId,
              token_type: 'Bearer',
              aud: 'https://id.example.com/oidc/userinfo',
              iss: 'https://id.example.com',
            },
            leftOut: [],
          },
        ],
      },
    },
  ],
} satisfies AdminSchema;
