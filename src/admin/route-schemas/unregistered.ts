import { BlockedDomainRecord, ClientRecord, UnregisteredClientRecord } from '../../clients/schema.ts';
import { Id, jsonResponse, NO_CONTENT_RESPONSE } from '../../platform/http/operation.ts';
import { sample } from '../../platform/http/samples.ts';
import * as Type from '../../platform/validation/type.ts';
import type { AdminSchema } from '../admin-app.ts';
import { pageOf, pageParameters } from '../paging.ts';
import { adminErrors, MAY_BE_MISSING, MAY_CONFLICT } from './errors.ts';

const IN_UNREGISTERED = { area: 'unregistered', caller: 'admin key', permission: 'apps.admit' } as const;
const ofClient = Type.Object({ clientId: Id });
const theClient = { clientId: sample.metadataClientId };
const ofDomain = Type.Object({ domain: Type.String({ maxLength: 255, description: 'a domain name' }) });
const blocked = { domain: '.example.net', createdAt: sample.moment };

export const listUnregisteredSchema = {
  ...IN_UNREGISTERED,
  operationId: 'listUnregisteredClients',
  summary: 'List the apps that no operator has registered or accepted',
  description:
    'Each was allowed by a person. One that identified itself by a metadata document has its URL in `metadataUrl`.',
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
  objects: { app: ['clientId'] },
  summary: 'Accept an app that no operator registered',
  description:
    'It passes for a registered one: the consent page has no warning, and remembers what was decided. If its metadata document changes its name or redirect URIs, the acceptance ends.',
  params: ofClient,
  response: { 200: jsonResponse('The client.', ClientRecord), ...adminErrors({ ...MAY_BE_MISSING, ...MAY_CONFLICT }) },
  examples: [{ summary: 'Accept it', params: theClient, status: 200 }],
} satisfies AdminSchema;

export const endAcceptanceSchema = {
  ...IN_UNREGISTERED,
  operationId: 'endClientAcceptance',
  objects: { app: ['clientId'] },
  summary: 'No longer accept an app',
  description: 'People are warned and asked again at their next authorization. Tokens from before go on.',
  params: ofClient,
  response: { 204: NO_CONTENT_RESPONSE, ...adminErrors({ ...MAY_BE_MISSING, ...MAY_CONFLICT }) },
  examples: [{ summary: 'No longer accept it', params: theClient, status: 204 }],
} satisfies AdminSchema;

export const listBlockedDomainsSchema = {
  ...IN_UNREGISTERED,
  operationId: 'listBlockedDomains',
  summary: 'List the blocked domains',
  response: { 200: jsonResponse('All of them.', pageOf(BlockedDomainRecord)), ...adminErrors({}) },
  examples: [{ summary: 'The list', status: 200 }],
} satisfies AdminSchema;

export const blockDomainSchema = {
  ...IN_UNREGISTERED,
  operationId: 'blockDomain',
  summary: 'Block a domain of metadata documents',
  description:
    'Everything that was issued to the apps of the domain is invalid at once, and for good. A domain is exact; with a dot in front, everything below it is blocked as well.',
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
