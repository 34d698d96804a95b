import { ENDPOINT_SETS } from '../../claims/endpoint-set.ts';
import { CLIENT_FIELDS } from '../../clients/fields.ts';
import { formerNames } from '../../clients/former-endpoints.ts';
import {
  ClientRecord,
  CreateClientRequest,
  CreatedClient,
  CreatedClientSecret,
  RotateSecretRequest,
  UpdateClientRequest,
} from '../../clients/schema.ts';
import { Id, jsonResponse, NO_CONTENT_RESPONSE } from '../../platform/http/operation.ts';
import { sample } from '../../platform/http/samples.ts';
import { initialValues } from '../../platform/validation/fields.ts';
import * as Type from '../../platform/validation/type.ts';
import type { AdminSchema } from '../admin-app.ts';
import { pageOf, pageParameters } from '../paging.ts';
import { adminErrors, MAY_BE_MISSING, MAY_CONFLICT, MAY_HAVE_CHANGED } from './errors.ts';

const IN_CLIENTS = { area: 'clients', caller: 'admin key' } as const;
const IN_SECRETS = { area: 'secrets', caller: 'admin key' } as const;
const params = Type.Object({ clientId: Id });
const byId = { clientId: sample.clientId };

const secret = { id: sample.secretId, createdAt: sample.moment, lastUsedAt: null, expiresAt: null };
const notes = {
  clientId: sample.clientId,
  ...initialValues(CLIENT_FIELDS, {
    name: 'Acme Notes',
    homepageUrl: 'https://acme.example/',
    redirectUris: [sample.redirectUri],
    scopes: ['openid', 'email'],
    owner: 'Acme Ltd',
  }),
  faces: formerNames(ENDPOINT_SETS),
  organizationId: null,
  developerId: null,
  hasPicture: false,
  claimsLeftOut: null,
  consentApproval: null,
  registeredBy: 'operator',
  acceptedAt: null,
  metadataUrl: null,
  managesItself: false,
  initialAccessTokenId: null,
  unusedUntil: null,
  status: 'active',
  secrets: [secret],
  createdAt: sample.moment,
  updatedAt: sample.moment,
};

export const createClientSchema = {
  ...IN_CLIENTS,
  operationId: 'createClient',
  permission: 'apps.create',
  objects: { inOrganizationOfBody: true },
  summary: 'Register a client',
  body: CreateClientRequest,
  response: {
    201: jsonResponse('The client and its `clientSecret`, which is shown only once.', CreatedClient),
    ...adminErrors({ ...MAY_BE_MISSING, ...MAY_CONFLICT }),
  },
  examples: [
    {
      summary: 'A web app',
      body: {
        name: 'Acme Notes',
        owner: 'Acme Ltd',
        homepageUrl: 'https://acme.example/',
        redirectUris: [sample.redirectUri],
        scopes: ['openid', 'email'],
      },
      status: 201,
      answer: { ...notes, clientSecret: sample.clientSecret },
    },
    {
      summary: 'A public client',
      body: { name: 'Acme Notes for phones', type: 'public', redirectUris: ['com.acme.notes:/callback'] },
      status: 201,
      answer: {
        ...notes,
        name: 'Acme Notes for phones',
        owner: null,
        homepageUrl: null,
        redirectUris: ['com.acme.notes:/callback'],
        scopes: null,
        type: 'public',
        requirePkce: true,
        secrets: [],
      },
    },
  ],
} satisfies AdminSchema;

export const listClientsSchema = {
  ...IN_CLIENTS,
  operationId: 'listClients',
  permission: 'apps.read',
  summary: 'List clients',
  querystring: pageParameters({}),
  response: { 200: jsonResponse('A page of the list, in the order of ids.', pageOf(ClientRecord)), ...adminErrors() },
  // The record is shown where one is registered.
  examples: [{ summary: 'The first page', query: { limit: '1' }, status: 200 }],
} satisfies AdminSchema;

const theClient = {
  ...IN_CLIENTS,
  params,
  response: { 200: jsonResponse('The client.', ClientRecord), ...adminErrors(MAY_BE_MISSING) },
};

export const readClientSchema = {
  ...theClient,
  operationId: 'readClient',
  versioned: 'client',
  permission: 'apps.read',
  objects: { app: ['clientId'] },
  summary: 'Get a client',
  examples: [{ summary: 'A web app', params: byId, status: 200 }],
} satisfies AdminSchema;

export const updateClientSchema = {
  ...theClient,
  operationId: 'updateClient',
  versioned: 'client',
  permission: 'apps.manage',
  objects: { app: ['clientId'] },
  summary: 'Update a client',
  description:
    'Omitted fields stay unchanged. After a new owner or redirect URI, users are asked for consent again. `disabled` invalidates codes and tokens for good. Who may use the app (`access`, `requireSecondFactor`) is changed with the permission `apps.assign`, and so is an app enabled that somebody else disabled.',
  body: UpdateClientRequest,
  response: { ...theClient.response, ...adminErrors({ ...MAY_BE_MISSING, ...MAY_CONFLICT, ...MAY_HAVE_CHANGED }) },
  examples: [
    {
      summary: 'Disable it',
      params: byId,
      body: { status: 'disabled' },
      status: 200,
      answer: { ...notes, status: 'disabled' },
    },
  ],
} satisfies AdminSchema;

export const deleteClientSchema = {
  ...IN_CLIENTS,
  operationId: 'deleteClient',
  versioned: 'client',
  permission: 'apps.manage',
  objects: { app: ['clientId'] },
  summary: 'Delete a client',
  description: 'Also deletes its secrets, codes, tokens and consents.',
  params,
  response: { 204: NO_CONTENT_RESPONSE, ...adminErrors({ ...MAY_BE_MISSING, ...MAY_CONFLICT, ...MAY_HAVE_CHANGED }) },
  examples: [{ summary: 'Delete it', params: byId, status: 204 }],
} satisfies AdminSchema;

export const rotateSecretSchema = {
  ...IN_SECRETS,
  operationId: 'rotateSecret',
  versioned: 'client',
  answersOther: true,
  permission: 'apps.manage',
  objects: { app: ['clientId'] },
  summary: 'Create a client secret',
  description:
    'The previous secret expires after a day, or as requested. At most two secrets are valid. Codes and tokens stay valid. `conflict` for a client without secrets.',
  params,
  body: RotateSecretRequest,
  response: {
    201: jsonResponse('The new secret and its `clientSecret`, which is shown only once.', CreatedClientSecret),
    ...adminErrors({ ...MAY_BE_MISSING, ...MAY_CONFLICT, ...MAY_HAVE_CHANGED }),
  },
  examples: [
    {
      summary: 'The previous secret expires in an hour',
      params: byId,
      body: { expirePreviousIn: 3600 },
      status: 201,
      answer: { ...secret, clientSecret: sample.clientSecret, secrets: [secret] },
    },
  ],
} satisfies AdminSchema;

export const endSecretSchema = {
  ...IN_SECRETS,
  operationId: 'endSecret',
  versioned: 'client',
  permission: 'apps.manage',
  objects: { app: ['clientId'] },
  summary: 'Delete a client secret',
  description: '`conflict` for the only secret of a client: create another one first.',
  params: Type.Object({ clientId: Id, id: Id }),
  response: { 204: NO_CONTENT_RESPONSE, ...adminErrors({ ...MAY_BE_MISSING, ...MAY_CONFLICT, ...MAY_HAVE_CHANGED }) },
  examples: [{ summary: 'The previous secret', params: { ...byId, id: sample.secretId }, status: 204 }],
} satisfies AdminSchema;
