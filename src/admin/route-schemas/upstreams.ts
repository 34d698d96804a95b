import { Id, jsonResponse, NO_CONTENT_RESPONSE } from '../../platform/http/operation.ts';
import { sample } from '../../platform/http/samples.ts';
import * as Type from '../../platform/validation/type.ts';
import {
  ClaimsPreviewRecord,
  CreateUpstreamRequest,
  DisabledUpstreamRecord,
  DisableUpstreamRequest,
  OnlyUpstreamChangeRecord,
  OnlyUpstreamRecord,
  OnlyUpstreamRequest,
  PreviewClaimsRequest,
  UpdateUpstreamRequest,
  UpstreamRecord,
  UpstreamTestRecord,
} from '../../upstreams/schema.ts';
import type { AdminSchema } from '../admin-app.ts';
import { pageOf, pageParameters } from '../paging.ts';
import { adminErrors, MAY_BE_MISSING, MAY_CONFLICT } from './errors.ts';

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
  summary: 'Read an upstream',
  params: ofUpstream,
  response: { 200: jsonResponse('The upstream.', UpstreamRecord), ...adminErrors(MAY_BE_MISSING) },
  examples: [{ summary: 'Read it', params: theUpstream, status: 200 }],
} satisfies AdminSchema;

export const updateUpstreamSchema = {
  ...MANAGING,
  operationId: 'updateUpstream',
  summary: 'Change an upstream',
  description: 'Its name, kind and issuer cannot be changed: register another one instead.',
  params: ofUpstream,
  body: UpdateUpstreamRequest,
  response: {
    200: jsonResponse('The upstream.', UpstreamRecord),
    ...adminErrors({ ...MAY_BE_MISSING, ...MAY_CONFLICT }),
  },
  examples: [
    { summary: 'Another secret', params: theUpstream, body: { clientSecret: 'the next secret' }, status: 200 },
  ],
} satisfies AdminSchema;

export const disableUpstreamSchema = {
  ...MANAGING,
  operationId: 'disableUpstream',
  summary: 'Disable an upstream',
  description:
    'Nobody signs in through it from the response on. With `endSessions`, everything ends that people were signed in to through it: sessions, codes and tokens, those with `offline_access` included. Where the call does not return, repeat it.',
  params: ofUpstream,
  body: DisableUpstreamRequest,
  response: {
    200: jsonResponse('The upstream, and what was ended.', DisabledUpstreamRecord),
    ...adminErrors(MAY_BE_MISSING),
  },
  examples: [{ summary: 'Sign everybody out as well', params: theUpstream, body: { endSessions: true }, status: 200 }],
} satisfies AdminSchema;

export const enableUpstreamSchema = {
  ...MANAGING,
  operationId: 'enableUpstream',
  summary: 'Enable an upstream again',
  description: 'What ended when it was disabled stays ended.',
  params: ofUpstream,
  response: { 200: jsonResponse('The upstream.', UpstreamRecord), ...adminErrors(MAY_BE_MISSING) },
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
  summary: 'Delete an upstream that is disabled',
  description:
    'What people connected through it is deleted, too. Who has no other way to sign in recovers the account by mail, or asks an operator.',
  params: ofUpstream,
  response: { 204: NO_CONTENT_RESPONSE, ...adminErrors({ ...MAY_BE_MISSING, ...MAY_CONFLICT }) },
  examples: [{ summary: 'Delete it', params: { id: sample.upstreamToDeleteId }, status: 204 }],
} satisfies AdminSchema;

const ofOrganization = Type.Object({ id: Id });
const theOrganization = { id: sample.organizationId };

export const readOnlyUpstreamSchema = {
  ...READING,
  operationId: 'readOnlyUpstream',
  summary: 'Read through which provider alone the members of an organization use its apps',
  params: ofOrganization,
  response: { 200: jsonResponse('The provider.', OnlyUpstreamRecord), ...adminErrors(MAY_BE_MISSING) },
  examples: [{ summary: 'As they like', params: theOrganization, status: 200, answer: { upstreamId: null } }],
} satisfies AdminSchema;

export const requireUpstreamSchema = {
  ...MANAGING,
  operationId: 'requireUpstream',
  summary: 'Let the members of an organization use its apps only through one provider',
  description:
    'It counts from the next code that is issued to a member, in the apps of the organization and in those to which it assigns them. Owners of the organization keep a local way in.',
  params: ofOrganization,
  body: OnlyUpstreamRequest,
  response: {
    200: jsonResponse('The provider, and what ended.', OnlyUpstreamChangeRecord),
    ...adminErrors(MAY_BE_MISSING),
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
