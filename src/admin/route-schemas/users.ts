import { ScheduleDeletionRequest } from '../../account-actions/personal-data/deletion.ts';
import {
  AccountRecord,
  BanRequest,
  CreateUserRequest,
  SuspensionRequest,
  UpdateUserRequest,
} from '../../accounts/schema.ts';
import { Id, jsonResponse, NO_CONTENT_RESPONSE } from '../../platform/http/operation.ts';
import { sample } from '../../platform/http/samples.ts';
import * as Type from '../../platform/validation/type.ts';
import type { AdminSchema } from '../admin-app.ts';
import { pageOf, pageParameters } from '../paging.ts';
import { adminErrors, MAY_BE_MISSING, MAY_CONFLICT, MAY_HAVE_CHANGED } from './errors.ts';
import { MadeRecord, queryFlag } from './operator-records.ts';

const IN_USERS = { area: 'users', caller: 'admin key' } as const;
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

const takes = Type.Object(
  {
    endMade: queryFlag(
      'Ends what the person made as an operator, and what these made. It needs the permission operators.manage.',
    ),
  },
  { additionalProperties: false },
);
const ended = Type.Boolean({ about: 'Whether that ended.' });
const DeletedUser = Type.Object({ made: MadeRecord, ended }, { title: 'DeletedUser' });
const AND_MADE = 'What the person made as an operator is listed, for those who may end it, and ends with `endMade`.';
const BarredUser = Type.Object(
  { ...AccountRecord.properties, made: Type.Optional(Type.Union([MadeRecord])), ended: Type.Optional(ended) },
  { title: 'BarredUser' },
);
const barredUser = jsonResponse('The user, and what the person made as an operator, if anything.', BarredUser);

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
  versioned: 'user',
  permission: 'users.read',
  objects: { person: 'id' },
  summary: 'Get an account',
  examples: [{ summary: 'A user', params: byId, status: 200, answer: ada }],
} satisfies AdminSchema;

export const updateUserSchema = {
  ...theUser,
  operationId: 'updateUser',
  versioned: 'user',
  permission: 'users.update',
  objects: { person: 'id' },
  summary: 'Update an account',
  description:
    'Omitted fields stay unchanged. A new password ends all sessions and tokens of the user, and keeps the factors, the address and the rights of earlier addresses. A new address also ends all links and those rights, and keeps the password and the factors; where the user had it in the last seven days, what was added since is removed. To give an account back to its owner, create a recovery link.',
  body: UpdateUserRequest,
  response: { ...theUser.response, ...adminErrors({ ...MAY_BE_MISSING, ...MAY_CONFLICT, ...MAY_HAVE_CHANGED }) },
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

/** Who may not. */
const NOT_OWN = 'Nobody does so to their own account, nor to who gave them their rights in the last seven days.';

export const deleteUserSchema = {
  ...IN_USERS,
  operationId: 'deleteUser',
  versioned: 'user',
  permission: 'users.delete',
  objects: { person: 'id' },
  summary: 'Delete an account',
  description: `Its tokens become invalid immediately. The username and email address can be used again; the ID is never reused. ${NOT_OWN} ${AND_MADE} Without any, the answer is 204.`,
  params,
  querystring: takes,
  response: {
    200: jsonResponse('What the person made as an operator.', DeletedUser),
    204: NO_CONTENT_RESPONSE,
    ...adminErrors({ ...MAY_BE_MISSING, ...MAY_CONFLICT, ...MAY_HAVE_CHANGED }),
  },
  examples: [{ summary: 'Delete it', params: byId, status: 204 }],
} satisfies AdminSchema;

export const banUserSchema = {
  ...theUser,
  operationId: 'banUser',
  versioned: 'user',
  permission: 'users.ban',
  objects: { person: 'id' },
  summary: 'Ban an account',
  description: `When the call returns, all sessions and tokens are invalid, and stay so. The ban ends at \`until\`; another call replaces the end. ${AND_MADE}`,
  querystring: takes,
  body: BanRequest,
  response: { 200: barredUser, ...adminErrors({ ...MAY_BE_MISSING, ...MAY_CONFLICT, ...MAY_HAVE_CHANGED }) },
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
  versioned: 'user',
  permission: 'users.ban',
  objects: { person: 'id' },
  summary: 'Lift a ban',
  description: 'The user can sign in again. Tokens from before the ban stay invalid.',
  response: { ...theUser.response, ...adminErrors({ ...MAY_BE_MISSING, ...MAY_HAVE_CHANGED }) },
  examples: [{ summary: 'By ID', params: byId, status: 200, answer: ada }],
} satisfies AdminSchema;

export const suspendUserSchema = {
  ...theUser,
  operationId: 'suspendUser',
  versioned: 'user',
  permission: 'users.suspend',
  objects: { person: 'id' },
  summary: 'Suspend an account',
  description: `Like a ban without an end date. ${AND_MADE}`,
  querystring: takes,
  body: SuspensionRequest,
  response: { 200: barredUser, ...adminErrors({ ...MAY_BE_MISSING, ...MAY_CONFLICT, ...MAY_HAVE_CHANGED }) },
  examples: [{ summary: 'With a reason', params: byId, body: { reason }, status: 200, answer: suspended }],
} satisfies AdminSchema;

export const reinstateUserSchema = {
  ...theUser,
  operationId: 'reinstateUser',
  versioned: 'user',
  permission: 'users.reinstate',
  objects: { person: 'id' },
  summary: 'Lift a suspension',
  response: { ...theUser.response, ...adminErrors({ ...MAY_BE_MISSING, ...MAY_HAVE_CHANGED }) },
  examples: [{ summary: 'By ID', params: byId, status: 200, answer: ada }],
} satisfies AdminSchema;

export const scheduleDeletionSchema = {
  ...theUser,
  operationId: 'scheduleUserDeletion',
  versioned: 'user',
  permission: 'users.delete',
  objects: { person: 'id' },
  summary: 'Suspend a user now, and delete the account later',
  description: `Every session, code and token ends at once. Asked for again, it changes the day. \`DELETE\` on the same address calls the deletion off; the suspension is lifted by itself. ${NOT_OWN} ${AND_MADE}`,
  querystring: takes,
  body: ScheduleDeletionRequest,
  response: { 200: barredUser, ...adminErrors({ ...MAY_BE_MISSING, ...MAY_HAVE_CHANGED }) },
  examples: [
    {
      summary: 'In thirty days',
      params: byId,
      body: { days: 30, reason: 'Left the company' },
      status: 200,
      answer: {
        ...ada,
        status: 'suspended',
        suspension: { since: sample.moment, reason: 'Left the company' },
        deletion: { requestedAt: sample.moment, dueAt: '2036-03-02T12:00:00.000Z' },
      },
    },
  ],
} satisfies AdminSchema;

export const cancelDeletionSchema = {
  ...theUser,
  operationId: 'cancelUserDeletion',
  versioned: 'user',
  permission: 'users.delete',
  objects: { person: 'id', keepsPerson: true },
  summary: 'Cancel a deletion',
  description:
    'The user is told by mail, and can sign in again. Sessions and tokens from before stay invalid. Succeeds if no deletion was asked for. A suspension stays.',
  response: { ...theUser.response, ...adminErrors({ ...MAY_BE_MISSING, ...MAY_HAVE_CHANGED }) },
  examples: [{ summary: 'By ID', params: byId, status: 200, answer: ada }],
} satisfies AdminSchema;

export const releaseUsernameSchema = {
  ...IN_USERS,
  operationId: 'releaseUsername',
  permission: 'users.update',
  summary: 'Release a held username',
  description: 'Lets anyone take a username that is held after a change or a deletion.',
  params: Type.Object({ username: Type.String({ maxLength: 64 }) }),
  response: { 204: NO_CONTENT_RESPONSE, ...adminErrors(MAY_BE_MISSING) },
  examples: [{ summary: 'Release it', params: { username: sample.heldUsername }, status: 204 }],
} satisfies AdminSchema;
