import { ConnectionRecord } from '../../account-actions/connections/connections.ts';
import { Id, Instant, jsonResponse, NO_CONTENT_RESPONSE } from '../../platform/http/operation.ts';
import { sample } from '../../platform/http/samples.ts';
import * as Type from '../../platform/validation/type.ts';
import { SessionRecord } from '../../sessions/list.ts';
import type { AdminSchema } from '../admin-app.ts';
import { pageOf } from '../paging.ts';
import { adminErrors, MAY_BE_MISSING, MAY_CONFLICT } from './errors.ts';

const IN_SESSIONS = { area: 'sessions', caller: 'admin key' } as const;
const params = Type.Object({ id: Id });
const byId = { id: sample.userId };

export const listConnectionsSchema = {
  ...IN_SESSIONS,
  operationId: 'listConnections',
  permission: 'users.read',
  objects: { person: 'id' },
  summary: 'List the apps with access to an account',
  params,
  response: {
    200: jsonResponse('All of them, on one page.', pageOf(ConnectionRecord)),
    ...adminErrors({ ...MAY_BE_MISSING, ...MAY_CONFLICT }),
  },
  examples: [
    {
      summary: 'Of a user',
      params: byId,
      status: 200,
      answer: {
        items: [
          {
            clientId: sample.clientId,
            name: 'Acme Notes',
            owner: 'Acme Ltd',
            homepageUrl: null,
            scopes: ['openid', 'email'],
            declinedScopes: ['phone'],
            resources: [],
            connectedAt: sample.moment,
            lastUsedAt: sample.moment,
            lastNetwork: '192.0.2.x',
          },
        ],
        nextCursor: null,
      },
    },
  ],
} satisfies AdminSchema;

export const revokeConnectionSchema = {
  ...IN_SESSIONS,
  operationId: 'revokeConnection',
  permission: 'users.revoke_connections',
  objects: { person: 'id' },
  summary: 'Revoke an app’s access',
  description:
    'Same as when the user does it: from the next request on, every token of the app for this user answers 403. Succeeds if the app has no access.',
  params: Type.Object({ id: Id, clientId: Id }),
  response: { 204: NO_CONTENT_RESPONSE, ...adminErrors(MAY_BE_MISSING) },
  examples: [{ summary: 'Revoke it', params: { ...byId, clientId: sample.clientId }, status: 204 }],
} satisfies AdminSchema;

export const listSessionsSchema = {
  ...IN_SESSIONS,
  operationId: 'listUserSessions',
  permission: 'users.read',
  objects: { person: 'id' },
  summary: 'List the sessions of a user',
  params,
  response: {
    200: jsonResponse('All valid sessions, at most 64, on one page.', pageOf(SessionRecord)),
    ...adminErrors(MAY_BE_MISSING),
  },
  examples: [
    {
      summary: 'Of a user',
      params: byId,
      status: 200,
      answer: {
        items: [
          {
            id: sample.sessionId,
            browser: 'Firefox',
            system: 'Linux',
            network: '203.0.113.x',
            apps: [{ clientId: sample.clientId, name: 'Acme Notes' }],
            signedInAt: sample.moment,
            lastUsedAt: sample.moment,
            endsAt: sample.moment,
          },
        ],
        nextCursor: null,
      },
    },
  ],
} satisfies AdminSchema;

export const endSessionSchema = {
  ...IN_SESSIONS,
  operationId: 'endUserSession',
  permission: 'users.end_sessions',
  objects: { person: 'id' },
  summary: 'End a session',
  description: 'Also revokes the codes and tokens that were issued in it, and notifies apps with back-channel logout.',
  params: Type.Object({ id: Id, sessionId: Type.String() }),
  response: {
    200: jsonResponse(
      'What was done.',
      Type.Object(
        { ended: Type.Boolean({ about: 'False where the user has no such session, or it ended before.' }) },
        { title: 'EndedSession' },
      ),
    ),
    ...adminErrors(MAY_BE_MISSING),
  },
  examples: [
    {
      summary: 'End it',
      params: { ...byId, sessionId: sample.sessionId },
      status: 200,
      answer: { ended: false },
    },
  ],
} satisfies AdminSchema;

const RecoveryLinkRequest = Type.Object(
  {
    resetFactors: Type.Optional(
      Type.Boolean({
        about: 'Whether using the link also removes the authenticator app, recovery codes and passkeys.',
      }),
    ),
    address: Type.Optional(
      Type.String({
        maxLength: 254,
        about:
          'Required where the address was changed in the last seven days: the earlier address, which the account gets back, or keep for the present one. Ends everything of the account at once.',
        description: 'an earlier address of the user, or keep',
      }),
    ),
  },
  { additionalProperties: false },
);
const RecoveryLinkRecord = Type.Object(
  {
    url: Type.String({ about: 'The link, for the user alone. It is shown only once.' }),
    expiresAt: Instant,
    email: Type.String({ about: 'The address of the account. A person who reads it can recover the account by mail.' }),
  },
  { title: 'RecoveryLink' },
);

export const createRecoveryLinkSchema = {
  ...IN_SESSIONS,
  operationId: 'createRecoveryLink',
  permission: 'users.recovery_link',
  handsOut: true,
  objects: { person: 'id' },
  summary: 'Create a link that recovers an account',
  description:
    'The link sets a new password, once, within 30 minutes. Using it ends all sessions, codes and tokens. An authenticator app is kept, and a code of it is asked for, unless it is reset. The user is told by mail. A new link replaces the earlier one. An unused link ends when the admin key that made it is revoked. Where the address was changed in the last seven days, decide which address is the owner’s: the decision ends all sessions, tokens and links and the password, removes what was added since the change, and leaves only this link. Without it, the answer is 409 and names the addresses.',
  params,
  body: RecoveryLinkRequest,
  response: {
    201: jsonResponse('The link.', RecoveryLinkRecord),
    ...adminErrors({ ...MAY_BE_MISSING, ...MAY_CONFLICT }),
  },
  examples: [
    {
      summary: 'A link that keeps the second factor',
      params: byId,
      body: {},
      status: 201,
      answer: {
        url: 'https://id.example.com/recover/link?token=…',
        expiresAt: sample.moment,
        email: 'ada@example.com',
      },
    },
  ],
} satisfies AdminSchema;

export const endSessionsSchema = {
  ...IN_SESSIONS,
  operationId: 'signOutUser',
  permission: 'users.end_sessions',
  objects: { person: 'id' },
  summary: 'Sign a user out everywhere',
  description: 'Ends all sessions, codes and tokens of the account. Consents are kept.',
  params,
  response: { 204: NO_CONTENT_RESPONSE, ...adminErrors(MAY_BE_MISSING) },
  examples: [{ summary: 'Sign out', params: byId, status: 204 }],
} satisfies AdminSchema;
