import { ConnectionRecord } from '../../account-actions/connections/connections.ts';
import {
  AccountRecord,
  BanRequest,
  CreateUserRequest,
  SuspensionRequest,
  UpdateUserRequest,
} from '../../accounts/schema.ts';
import { Id, Instant, jsonResponse, NO_CONTENT_RESPONSE } from '../../platform/http/operation.ts';
import { sample } from '../../platform/http/samples.ts';
import * as Type from '../../platform/validation/type.ts';
import { SessionRecord } from '../../sessions/list.ts';
import type { AdminSchema } from '../admin-app.ts';
import { pageOf, pageParameters } from '../paging.ts';
import { adminErrors, MAY_BE_MISSING, MAY_CONFLICT } from './errors.ts';

const IN_USERS = { area: 'users', caller: 'admin key' } as const;
const IN_SESSIONS = { area: 'sessions', caller: 'admin key' } as const;
const params = Type.Object({ id: Id });
const byId = { id: sample.userId };
const reason = 'Sends advertisements.';

const ada = {
  id: sample.userId,
  username: sample.username,
  displayName: 'Ada Lovelace',
  email: 'ada@example.com',
  emailVerified: true,
  about: '',
  language: 'en',
  theme: null,
  website: null,
  location: 'London',
  birthDate: null,
  phone: null,
  socialLinks: [],
  avatarColor: '#5b2a86',
  hasPicture: false,
  hasPassword: false,
  status: 'active',
  ban: null,
  suspension: null,
  deletion: null,
  createdAt: sample.moment,
  updatedAt: sample.moment,
};
const banned = { ...ada, status: 'banned', ban: { since: sample.moment, until: '2036-01-31T12:00:00.000Z', reason } };
const suspended = { ...ada, status: 'suspended', suspension: { since: sample.moment, reason } };

export const createUserSchema = {
  ...IN_USERS,
  operationId: 'createUser',
  permission: 'users.create',
  summary: 'Create an account',
  description: 'Without a password, the user cannot sign in yet.',
  body: CreateUserRequest,
  response: { 201: jsonResponse('The user.', AccountRecord), ...adminErrors(MAY_CONFLICT) },
  examples: [
    {
      summary: 'A user without a password',
      body: {
        username: sample.username,
        displayName: 'Ada Lovelace',
        email: 'ada@example.com',
        emailVerified: true,
        location: 'London',
      },
      status: 201,
      answer: ada,
    },
  ],
} satisfies AdminSchema;

const searchQuery = pageParameters({
  q: Type.Optional(
    Type.String({
      maxLength: 256,
      format: 'search-text',
      about: 'Part of the username, name or email address, case-insensitive; or the ID.',
      description: 'at most 256 characters without control characters',
    }),
  ),
});
export const listUsersSchema = {
  ...IN_USERS,
  operationId: 'listUsers',
  permission: 'users.read',
  summary: 'List or search accounts',
  description:
    'With `q`, the account whose ID, username or email address it is comes first. For the others, one request examines up to 50,000 accounts: a page may have fewer items than `limit`, or none, before the end. Follow `nextCursor` until it is null.',
  querystring: searchQuery,
  response: {
    200: jsonResponse(
      'A page of the list, in the order of ids. An account that `q` names comes first.',
      pageOf(AccountRecord),
    ),
    ...adminErrors(),
  },
  examples: [
    {
      summary: 'Find a user',
      query: { q: sample.userId, limit: '10' },
      status: 200,
      answer: { items: [ada], nextCursor: null },
    },
  ],
} satisfies AdminSchema;

const theUser = {
  ...IN_USERS,
  params,
  response: { 200: jsonResponse('The user.', AccountRecord), ...adminErrors(MAY_BE_MISSING) },
};

export const readUserSchema = {
  ...theUser,
  operationId: 'readUser',
  permission: 'users.read',
  objects: { person: 'id' },
  summary: 'Get an account',
  examples: [{ summary: 'A user', params: byId, status: 200, answer: ada }],
} satisfies AdminSchema;

export const updateUserSchema = {
  ...theUser,
  operationId: 'updateUser',
  permission: 'users.update',
  objects: { person: 'id' },
  summary: 'Update an account',
  description:
    'Omitted fields stay unchanged. A new password ends all sessions and tokens of the user, and keeps the factors, the address and the rights of earlier addresses. A new address also ends all links and those rights, and keeps the password and the factors; where the user had it in the last seven days, what was added since is removed. To give an account back to its owner, create a recovery link.',
  body: UpdateUserRequest,
  response: { ...theUser.response, ...adminErrors({ ...MAY_BE_MISSING, ...MAY_CONFLICT }) },
  examples: [
    {
      summary: 'A new location',
      params: byId,
      body: { location: 'Marylebone' },
      status: 200,
      answer: { ...ada, location: 'Marylebone' },
    },
  ],
} satisfies AdminSchema;

export const deleteUserSchema = {
  ...IN_USERS,
  operationId: 'deleteUser',
  permission: 'users.delete',
  objects: { person: 'id' },
  summary: 'Delete an account',
  description:
    'Its tokens become invalid immediately. The username and email address can be used again; the ID is never reused.',
  params,
  response: { 204: NO_CONTENT_RESPONSE, ...adminErrors({ ...MAY_BE_MISSING, ...MAY_CONFLICT }) },
  examples: [{ summary: 'Delete it', params: byId, status: 204 }],
} satisfies AdminSchema;

export const banUserSchema = {
  ...theUser,
  operationId: 'banUser',
  permission: 'users.ban',
  objects: { person: 'id' },
  summary: 'Ban an account',
  description:
    'When the call returns, all sessions and tokens are invalid, and stay so. The ban ends at `until`; another call replaces the end.',
  body: BanRequest,
  response: { ...theUser.response, ...adminErrors({ ...MAY_BE_MISSING, ...MAY_CONFLICT }) },
  examples: [
    {
      summary: 'Until a date',
      params: byId,
      body: { until: '2036-01-31T12:00:00Z', reason },
      status: 200,
      answer: banned,
    },
  ],
} satisfies AdminSchema;

export const unbanUserSchema = {
  ...theUser,
  operationId: 'unbanUser',
  permission: 'users.ban',
  objects: { person: 'id' },
  summary: 'Lift a ban',
  description: 'The user can sign in again. Tokens from before the ban stay invalid.',
  examples: [{ summary: 'By ID', params: byId, status: 200, answer: ada }],
} satisfies AdminSchema;

export const suspendUserSchema = {
  ...theUser,
  operationId: 'suspendUser',
  permission: 'users.suspend',
  objects: { person: 'id' },
  summary: 'Suspend an account',
  description: 'Like a ban without an end date.',
  body: SuspensionRequest,
  response: { ...theUser.response, ...adminErrors({ ...MAY_BE_MISSING, ...MAY_CONFLICT }) },
  examples: [{ summary: 'With a reason', params: byId, body: { reason }, status: 200, answer: suspended }],
} satisfies AdminSchema;

export const reinstateUserSchema = {
  ...theUser,
  operationId: 'reinstateUser',
  permission: 'users.reinstate',
  objects: { person: 'id' },
  summary: 'Lift a suspension',
  examples: [{ summary: 'By ID', params: byId, status: 200, answer: ada }],
} satisfies AdminSchema;

export const cancelDeletionSchema = {
  ...theUser,
  operationId: 'cancelUserDeletion',
  permission: 'users.delete',
  objects: { person: 'id' },
  summary: 'Cancel a deletion that the user asked for',
  description:
    'The user is told by mail, and can sign in again. Sessions and tokens from before stay invalid. Succeeds if no deletion was asked for.',
  examples: [{ summary: 'By ID', params: byId, status: 200, answer: ada }],
} satisfies AdminSchema;

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
  description:
    'Also revokes the codes and tokens that were issued in it, and notifies apps with back-channel logout. Succeeds if it has already ended.',
  params: Type.Object({ id: Id, sessionId: Type.String() }),
  response: { 204: NO_CONTENT_RESPONSE, ...adminErrors(MAY_BE_MISSING) },
  examples: [{ summary: 'End it', params: { ...byId, sessionId: sample.sessionId }, status: 204 }],
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
