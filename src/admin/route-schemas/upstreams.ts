import { Id, jsonResponse, NO_CONTENT_RESPONSE } from '../../platform/http/operation.ts';
import { sample } from '../../platform/http/samples.ts';
import * as Type from '../../platform/validation/type.ts';
import {
  ClaimsPreviewRecord,
  CreateUpstreamRequest,
  DisabledUpstreamRecord,
  DisableUpstreamRequest,
  IdentityRecord,
  OnlyUpstreamChangeRecord,
  OnlyUpstreamRecord,
  OnlyUpstreamRequest,
  PreviewClaimsRequest,
  RemovedIdentityRecord,
  UpdateUpstreamRequest,
  UpstreamRecord,
  UpstreamTestRecord,
} from '../../upstreams/schema.ts';
import type { AdminSchema } from '../admin-app.ts';
import { pageOf, pageParameters } from '../paging.ts';
import { adminErrors, MAY_BE_MISSING, MAY_CONFLICT, MAY_HAVE_CHANGED } from './errors.ts';

const READING = { area: 'upstreams', caller: 'admin key', permission: 'upstreams.read' } as const;
const MANAGING = { area: 'upstreams', caller: 'admin key', permission: 'upstreams.manage' } as const;
const ofUpstream = Type.Object({ id: Id });
const theUpstream = { id: sample.upstreamId };

export const createUpstreamSchema = {
  ...MANAGING,
  operationId: 'createUpstream',
  summary: 'Register another provider through which people sign in',
  description:
    'An OpenID Provider with discovery. Register `redirectUri` there. The sign-in page offers it within ten seconds.',
  body: CreateUpstreamRequest,
  response: { 201: jsonResponse('The upstream.', UpstreamRecord), ...adminErrors(MAY_CONFLICT) },
  examples: [
    {
      summary: 'Google, for everyone',
      body: {
        name: 'google',
        displayName: 'Google',
        issuer: 'https://accounts.google.com',
        clientId: '1234567890.apps.googleusercontent.com',
        clientSecret: 'the secret from the Google Cloud console',
        signUp: 'anyone',
      },
      status: 201,
    },
  ],
} satisfies AdminSchema;

export const listUpstreamsSchema = {
  ...READING,
  operationId: 'listUpstreams',
  summary: 'List the providers through which people sign in',
  querystring: pageParameters({}),
  response: {
    200: jsonResponse('A page of the list, in the order of ids.', pageOf(UpstreamRecord)),
    ...adminErrors(),
  },
  examples: [{ summary: 'The first page', query: { limit: '10' }, status: 200 }],
} satisfies AdminSchema;

export const readUpstreamSchema = {
  ...READING,
  operationId: 'readUpstream',
  versioned: 'upstream',
  summary: 'Read an upstream',
  params: ofUpstream,
  response: { 200: jsonResponse('The upstream.', UpstreamRecord), ...adminErrors(MAY_BE_MISSING) },
  examples: [{ summary: 'Read it', params: theUpstream, status: 200 }],
} satisfies AdminSchema;

export const updateUpstreamSchema = {
  ...MANAGING,
  operationId: 'updateUpstream',
  versioned: 'upstream',
  summary: 'Change an upstream',
  description: 'Its name, kind and issuer cannot be changed: register another one instead.',
  params: ofUpstream,
  body: UpdateUpstreamRequest,
  response: {
    200: jsonResponse('The upstream.', UpstreamRecord),
    ...adminErrors({ ...MAY_BE_MISSING, ...MAY_CONFLICT, ...MAY_HAVE_CHANGED }),
  },
  examples: [
    { summary: 'Another secret', params: theUpstream, body: { clientSecret: 'the next secret' }, status: 200 },
  ],
} satisfies AdminSchema;

export const disableUpstreamSchema = {
  ...MANAGING,
  operationId: 'disableUpstream',
  versioned: 'upstream',
  answersOther: true,
  summary: 'Disable an upstream',
  description:
    'Nobody signs in through it from the response on. With `endSessions`, everything ends that people were signed in to through it: sessions, codes and tokens, those with `offline_access` included. Where the call does not return, repeat it.',
  params: ofUpstream,
  body: DisableUpstreamRequest,
  response: {
    200: jsonResponse('The upstream, and what was ended.', DisabledUpstreamRecord),
    ...adminErrors({ ...MAY_BE_MISSING, ...MAY_HAVE_CHANGED }),
  },
  examples: [{ summary: 'Sign everybody out as well', params: theUpstream, body: { endSessions: true }, status: 200 }],
} satisfies AdminSchema;

export const enableUpstreamSchema = {
  ...MANAGING,
  operationId: 'enableUpstream',
  versioned: 'upstream',
  summary: 'Enable an upstream again',
  description: 'What ended when it was disabled stays ended.',
  params: ofUpstream,
  response: {
    200: jsonResponse('The upstream.', UpstreamRecord),
    ...adminErrors({ ...MAY_BE_MISSING, ...MAY_HAVE_CHANGED }),
  },
  examples: [{ summary: 'Enable it', params: theUpstream, status: 200 }],
} satisfies AdminSchema;

export const testUpstreamSchema = {
  ...MANAGING,
  operationId: 'testUpstream',
  summary: 'Test an upstream',
  description:
    'Fetches the metadata and the keys, and redeems a code that is none, by which the provider says whether it knows the client. Nobody is signed in. A step that cannot be made is left out after one that failed.',
  params: ofUpstream,
  response: {
    200: jsonResponse('What was found.', UpstreamTestRecord),
    ...adminErrors(MAY_BE_MISSING),
  },
  examples: [{ summary: 'Test it', params: theUpstream, status: 200 }],
} satisfies AdminSchema;

export const deleteUpstreamSchema = {
  ...MANAGING,
  operationId: 'deleteUpstream',
  versioned: 'upstream',
  summary: 'Delete an upstream that is disabled',
  description:
    'Everything that people are signed in to through it ends, and what they connected is deleted, too. Who has no other way to sign in recovers the account by mail, or asks an operator.',
  params: ofUpstream,
  response: { 204: NO_CONTENT_RESPONSE, ...adminErrors({ ...MAY_BE_MISSING, ...MAY_CONFLICT, ...MAY_HAVE_CHANGED }) },
  examples: [{ summary: 'Delete it', params: { id: sample.upstreamToDeleteId }, status: 204 }],
} satisfies AdminSchema;

const ofOrganization = Type.Object({ id: Id });
const theOrganization = { id: sample.organizationId };

export const readOnlyUpstreamSchema = {
  ...READING,
  operationId: 'readOnlyUpstream',
  versioned: 'only upstream',
  summary: 'Read through which provider alone the members of an organization use its apps',
  params: ofOrganization,
  response: { 200: jsonResponse('The provider.', OnlyUpstreamRecord), ...adminErrors(MAY_BE_MISSING) },
  examples: [{ summary: 'As they like', params: theOrganization, status: 200, answer: { upstreamId: null } }],
} satisfies AdminSchema;

export const requireUpstreamSchema = {
  ...MANAGING,
  operationId: 'requireUpstream',
  versioned: 'only upstream',
  summary: 'Let the members of an organization use its apps only through one provider',
  description:
    'It counts from the next code that is issued to a member, in the apps of the organization and in those to which it assigns them. Owners of the organization keep a local way in.',
  params: ofOrganization,
  body: OnlyUpstreamRequest,
  response: {
    200: jsonResponse('The provider, and what ended.', OnlyUpstreamChangeRecord),
    ...adminErrors({ ...MAY_BE_MISSING, ...MAY_HAVE_CHANGED }),
  },
  examples: [
    {
      summary: 'Through the provider of the company',
      params: theOrganization,
      body: { upstreamId: sample.upstreamId, endSessions: true },
      status: 200,
    },
  ],
} satisfies AdminSchema;

export const previewClaimsSchema = {
  ...MANAGING,
  operationId: 'previewClaims',
  summary: 'Show what a sign-in with a token of an upstream would do',
  description:
    'Whom it signs in, and what it writes into the account by the map of the upstream. The signature, the times and the audience are not checked, and nothing is written.',
  params: ofUpstream,
  body: PreviewClaimsRequest,
  response: { 200: jsonResponse('What it would do.', ClaimsPreviewRecord), ...adminErrors(MAY_BE_MISSING) },
  examples: [
    {
      summary: 'Claims of an ID token',
      params: theUpstream,
      body: { token: '{"sub":"1234","name":"Ada Lovelace"}' },
      status: 200,
    },
  ],
} satisfies AdminSchema;

const ofPerson = { area: 'upstreams', caller: 'admin key', objects: { person: 'id' } } as const;

export const listIdentitiesSchema = {
  ...ofPerson,
  operationId: 'listIdentitiesOfUser',
  permission: 'users.read',
  summary: 'List the providers that a user connected',
  description:
    'Each with the ID by which the provider knows the person. What it calls them is shown to its owner alone.',
  params: Type.Object({ id: Id }),
  response: { 200: jsonResponse('All of them, on one page.', pageOf(IdentityRecord)), ...adminErrors(MAY_BE_MISSING) },
  examples: [
    {
      summary: 'A user who connected none',
      params: { id: sample.userId },
      status: 200,
      answer: { items: [], nextCursor: null },
    },
  ],
} satisfies AdminSchema;

export const removeIdentitySchema = {
  ...ofPerson,
  operationId: 'removeIdentityOfUser',
  permission: 'users.remove_factor',
  summary: 'Remove a provider that a user connected',
  description:
    'Every session and token from before ends, and the person is told by mail. The last way into the account stays: a recovery link, once it is used, removes every provider that was connected.',
  params: Type.Object({ id: Id, identityId: Type.String() }),
  response: {
    200: jsonResponse('What was done.', RemovedIdentityRecord),
    ...adminErrors({ ...MAY_BE_MISSING, ...MAY_CONFLICT }),
  },
  examples: [
    {
      summary: 'One that is not connected',
      params: { id: sample.userId, identityId: 'dGhlIGlkZW50aXR5' },
      status: 200,
      answer: { removed: false, ended: { sessions: 0 } },
    },
  ],
} satisfies AdminSchema;
