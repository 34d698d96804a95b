import {
  CreatedInitialAccessToken,
  CreateInitialAccessTokenRequest,
  InitialAccessTokenRecord,
} from '../../clients/initial-access-tokens.ts';
import { BlockedDomainRecord, ClientRecord, UnregisteredClientRecord } from '../../clients/schema.ts';
import { Id, jsonResponse, NO_CONTENT_RESPONSE } from '../../platform/http/operation.ts';
import { sample } from '../../platform/http/samples.ts';
import * as Type from '../../platform/validation/type.ts';
import type { AdminSchema } from '../admin-app.ts';
import { pageOf, pageParameters } from '../paging.ts';
import { adminErrors, MAY_BE_MISSING, MAY_CONFLICT, MAY_HAVE_CHANGED } from './errors.ts';
import { queryFlag } from './operator-records.ts';

const IN_UNREGISTERED = { area: 'unregistered', caller: 'admin key', permission: 'apps.admit' } as const;
const TO_SEE = { ...IN_UNREGISTERED, permission: 'apps.review' } as const;
const ofClient = Type.Object({ clientId: Id });
const theClient = { clientId: sample.metadataClientId };
const ofDomain = Type.Object({ domain: Type.String({ maxLength: 255, description: 'a domain name' }) });
const blocked = { domain: '.example.net', createdAt: sample.moment };

export const listUnregisteredSchema = {
  ...TO_SEE,
  operationId: 'listUnregisteredClients',
  summary: 'List the apps that no operator has registered or accepted',
  description:
    'One that identified itself by a metadata document, and that a person allowed, has its URL in `metadataUrl`. One that registered itself may be allowed by nobody yet: then `unusedUntil` says when it is removed.',
  querystring: pageParameters({}),
  response: {
    200: jsonResponse('A page of the list, in the order of ids.', pageOf(UnregisteredClientRecord)),
    ...adminErrors({}),
  },
  examples: [{ summary: 'The first page', query: { limit: '10' }, status: 200 }],
} satisfies AdminSchema;

export const acceptClientSchema = {
  ...IN_UNREGISTERED,
  operationId: 'acceptClient',
  versioned: 'client',
  objects: { app: ['clientId'] },
  summary: 'Accept an app that no operator registered',
  description:
    'It passes for a registered one: the consent page has no warning, and remembers what was decided. If its metadata document changes its name or redirect URIs, the acceptance ends, and so it does where a developer by the policy of the installation changes what people see of it or one of its addresses.',
  params: ofClient,
  response: {
    200: jsonResponse('The client.', ClientRecord),
    ...adminErrors({ ...MAY_BE_MISSING, ...MAY_CONFLICT, ...MAY_HAVE_CHANGED }),
  },
  examples: [{ summary: 'Accept it', params: theClient, status: 200 }],
} satisfies AdminSchema;

export const endAcceptanceSchema = {
  ...IN_UNREGISTERED,
  operationId: 'endClientAcceptance',
  versioned: 'client',
  objects: { app: ['clientId'] },
  summary: 'No longer accept an app',
  description:
    'People are warned and asked again at their next authorization. Tokens from before go on. An app that registered itself and leads to a domain that was blocked while it was accepted is disabled, which ends everything that was issued to it.',
  params: ofClient,
  response: { 204: NO_CONTENT_RESPONSE, ...adminErrors({ ...MAY_BE_MISSING, ...MAY_CONFLICT, ...MAY_HAVE_CHANGED }) },
  examples: [{ summary: 'No longer accept it', params: theClient, status: 204 }],
} satisfies AdminSchema;

export const listBlockedDomainsSchema = {
  ...TO_SEE,
  operationId: 'listBlockedDomains',
  summary: 'List the blocked domains',
  response: { 200: jsonResponse('All of them.', pageOf(BlockedDomainRecord)), ...adminErrors({}) },
  examples: [{ summary: 'The list', status: 200 }],
} satisfies AdminSchema;

export const blockDomainSchema = {
  ...IN_UNREGISTERED,
  operationId: 'blockDomain',
  summary: 'Block a domain of apps that no operator registered',
  description:
    'Its metadata documents are refused, and so are apps with a redirect URI there that register themselves, or that a developer by the policy registers; those that nobody accepted are disabled. Everything that was issued to the apps of the domain is invalid at once, and for good. A domain is exact; with a dot in front, everything below it is blocked as well.',
  params: ofDomain,
  response: { 200: jsonResponse('The domain.', BlockedDomainRecord), ...adminErrors({}) },
  examples: [{ summary: 'A domain and all below it', params: { domain: blocked.domain }, status: 200 }],
} satisfies AdminSchema;

export const unblockDomainSchema = {
  ...IN_UNREGISTERED,
  operationId: 'unblockDomain',
  summary: 'Unblock a domain',
  description: 'Its apps may ask people again. What was issued to them before stays invalid.',
  params: ofDomain,
  response: { 204: NO_CONTENT_RESPONSE, ...adminErrors(MAY_BE_MISSING) },
  examples: [{ summary: 'Unblock it', params: { domain: sample.blockedDomain }, status: 204 }],
} satisfies AdminSchema;

export const endSelfRegistrationSchema = {
  ...IN_UNREGISTERED,
  operationId: 'endSelfRegistration',
  objects: { app: ['clientId'] },
  summary: 'Take over the registration of an app that registered itself',
  description: 'The app can no longer change or delete it; operators can change all of it. Tokens go on.',
  params: ofClient,
  response: { 204: NO_CONTENT_RESPONSE, ...adminErrors({ ...MAY_BE_MISSING, ...MAY_CONFLICT }) },
  examples: [{ summary: 'Take it over', params: { clientId: sample.selfRegisteredId }, status: 204 }],
} satisfies AdminSchema;

const initialToken = {
  id: sample.initialTokenId,
  name: 'Partner portal',
  status: 'active',
  uses: 0,
  mostUses: 5,
  createdAt: sample.moment,
  expiresAt: '2026-07-31T09:00:00.000Z',
  lastUsedAt: null,
  revokedAt: null,
};

export const createInitialTokenSchema = {
  ...IN_UNREGISTERED,
  operationId: 'createInitialAccessToken',
  handsOut: true,
  summary: 'Create an initial access token',
  description:
    'With it, apps can register themselves where `TESSERA_REGISTRATION` is token or open, and pass for apps that an operator registered. It ends with the admin key that made it. The answer shows it, this once.',
  body: CreateInitialAccessTokenRequest,
  response: { 201: jsonResponse('The token.', CreatedInitialAccessToken), ...adminErrors(MAY_CONFLICT) },
  examples: [
    {
      summary: 'For five apps, for 30 days',
      body: { name: 'Partner portal', days: 30, mostUses: 5 },
      status: 201,
      answer: { ...initialToken, initialAccessToken: sample.initialAccessToken },
    },
  ],
} satisfies AdminSchema;

export const listInitialTokensSchema = {
  ...TO_SEE,
  operationId: 'listInitialAccessTokens',
  summary: 'List initial access tokens',
  description: 'Those that ended included; never the tokens themselves.',
  querystring: pageParameters({}),
  response: { 200: jsonResponse('A page of the list.', pageOf(InitialAccessTokenRecord)), ...adminErrors({}) },
  examples: [{ summary: 'The first page', status: 200 }],
} satisfies AdminSchema;

export const revokeInitialTokenSchema = {
  ...IN_UNREGISTERED,
  operationId: 'revokeInitialAccessToken',
  summary: 'Revoke an initial access token',
  description:
    'Once this has answered, no app registers with it. Apps that have go on, unless `endApps` disables them.',
  params: Type.Object({ id: Id }),
  querystring: Type.Object(
    { endApps: queryFlag('Disables the apps that registered with it; everything that was issued to them is invalid.') },
    { additionalProperties: false },
  ),
  response: {
    200: jsonResponse(
      'What became of the apps.',
      Type.Object(
        { clientIds: Type.Array(Id, { about: 'The apps that registered with it.' }), appsEnded: Type.Boolean() },
        { title: 'RevokedInitialAccessToken' },
      ),
    ),
    ...adminErrors(MAY_BE_MISSING),
  },
  examples: [
    {
      summary: 'Revoke it',
      params: { id: sample.initialTokenId },
      status: 200,
      answer: { clientIds: [], appsEnded: false },
    },
  ],
} satisfies AdminSchema;
