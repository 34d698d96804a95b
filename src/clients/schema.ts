import { leftOutFields } from '../claims/schema.ts';
import type { Values } from '../platform/database/statement.ts';
import { Id, Instant, nullableField } from '../platform/http/operation.ts';
import { optional, requestBody, schemasOf } from '../platform/validation/fields.ts';
import * as Type from '../platform/validation/type.ts';
import { CLIENT_FIELDS } from './fields.ts';
import { type FormerEndpoints, formerEndpoints, formerEndpointsRecord } from './former-endpoints.ts';
import { SCOPE_NAME } from './resource-fields.ts';

type ClientValues = Values<typeof CLIENT_FIELDS>;

const { name, redirectUris, type, ...fields } = schemasOf(CLIENT_FIELDS, 'schema');
const others = { ...fields, faces: formerEndpoints };

const organizationId = Type.Union([Type.String({ format: 'id' }), Type.Null()], {
  about: 'The organization that it belongs to. Default: null, for the installation.',
  description: 'the ID of an organization, or null',
});

/** The body of a request that registers a client. */
export type CreateClientRequest = Pick<ClientValues, 'name'> &
  Partial<ClientValues> &
  FormerEndpoints & { readonly organizationId?: string | null };
export const CreateClientRequest = Type.Unsafe<CreateClientRequest>(
  requestBody('CreateClientRequest', { name, ...optional({ redirectUris, type, ...others, organizationId }) }),
);

const status = Type.Unsafe<'active' | 'disabled'>({
  enum: ['active', 'disabled'],
  about: '`disabled` invalidates the codes and tokens of the client for good.',
  description: 'active or disabled',
});

/** The body of a request that changes a client. Omitted fields keep their values. */
export type UpdateClientRequest = Partial<Omit<ClientValues, 'type'> & { readonly status: 'active' | 'disabled' }> &
  FormerEndpoints;
export const UpdateClientRequest = Type.Unsafe<UpdateClientRequest>({
  ...requestBody('UpdateClientRequest', optional({ name, redirectUris, status, ...others })),
  'x-unchangeable': { type: 'An app keeps its type. Register another app instead.' },
});

/** The body of a request that adds a secret. */
export const RotateSecretRequest = requestBody('RotateSecretRequest', {
  expirePreviousIn: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 30 * 24 * 60 * 60,
      about: 'How long the previous secret stays valid, in seconds. Default: 86400, one day.',
      description: 'a whole number of seconds from 0 to 2592000',
    }),
  ),
});
export type RotateSecretRequest = Type.Static<typeof RotateSecretRequest>;

const secretFields = {
  id: Id,
  createdAt: Instant,
  lastUsedAt: nullableField(Instant, 'Updated at most once an hour; null if it was never used.'),
  expiresAt: nullableField(Instant, 'Null if it does not expire.'),
};
const clientSecret = Type.String({ about: 'Shown only once: the server stores a hash of it.' });

/** A secret in the admin API, as made by `secretView`. */
const SecretRecord = Type.Object(secretFields, { title: 'ClientSecret' });

/** The response to a rotation. */
export const CreatedClientSecret = Type.Object(
  { ...secretFields, clientSecret, secrets: Type.Array(SecretRecord, { about: 'The valid secrets.' }) },
  { title: 'CreatedClientSecret' },
);

const clientRecord = {
  clientId: Id,
  ...schemasOf(CLIENT_FIELDS, 'record'),
  faces: formerEndpointsRecord,
  organizationId: nullableField(Id, 'The organization that it belongs to; null for the installation.'),
  developerId: nullableField(Id, 'The operator who made it as a developer; null for none.'),
  hasPicture: Type.Boolean({ about: 'If false, its initials are shown.' }),
  status: Type.Unsafe<string>({ enum: ['active', 'disabled'] }),
  registeredBy: Type.Unsafe<string>({
    enum: ['operator', 'metadata', 'open', 'token', 'developer'],
    about:
      'metadata: it identified itself by the URL of a metadata document, and a person allowed it. open: it registered itself. token: it did with an initial access token. developer: a person registered it, or changed what it says of itself, whom TESSERA_DEVELOPERS alone makes a developer.',
  }),
  acceptedAt: nullableField(Instant, 'When an operator accepted an app that no operator registered; null if none has.'),
  metadataUrl: nullableField(
    Type.String(),
    'The URL of its metadata document, which is its client_id; null if that is clientId.',
  ),
  managesItself: Type.Boolean({
    about: 'Whether the app can change its registration with its registration access token.',
  }),
  initialAccessTokenId: nullableField(
    Id,
    'The initial access token with which it registered itself; null without one.',
  ),
  unusedUntil: nullableField(Instant, 'When it is removed unless a person allows it first; null for any other.'),
  consentApproval: nullableField(
    Type.Object(
      {
        scopes: Type.Array(Type.String()),
        organizationId: nullableField(Id, 'Null for everyone.'),
        approvedAt: Instant,
        approvedBy: Type.Object({ type: Type.String(), id: nullableField(Id) }),
      },
      { title: 'ConsentApproval' },
    ),
    'What people are not asked for; null for nothing.',
  ),
  claimsLeftOut: nullableField(
    Type.Object({ ...leftOutFields, at: Instant }, { title: 'ClaimsLeftOut' }),
    'The last time that tokens lacked groups or roles of a person because these were too long, to within an hour; null for never.',
  ),
  secrets: Type.Array(SecretRecord, { about: 'The valid secrets: one, or two during a rotation.' }),
  createdAt: Instant,
  updatedAt: Instant,
};

/** A client in the admin API, as made by `clientView`. */
export const ClientRecord = Type.Object(clientRecord, { title: 'Client' });

/** The response to a registration. */
export const CreatedClient = Type.Object(
  { ...clientRecord, clientSecret: Type.Optional(clientSecret) },
  { title: 'CreatedClient' },
);

/** An app that no operator registered, as made by `unregisteredView`. */
export const UnregisteredClientRecord = Type.Object(
  {
    clientId: Id,
    name: Type.String({ about: 'The app chose it itself.' }),
    registeredBy: clientRecord.registeredBy,
    metadataUrl: clientRecord.metadataUrl,
    redirectUris: Type.Array(Type.String()),
    createdAt: Instant,
    unusedUntil: clientRecord.unusedUntil,
  },
  { title: 'UnregisteredClient' },
);

export const BlockedDomainRecord = Type.Object(
  { domain: Type.String(), createdAt: Instant },
  { title: 'BlockedDomain' },
);

/** The body of a request that says which scopes of an API a client may request. */
export const AllowScopesRequest = requestBody('AllowScopesRequest', {
  scopes: Type.Array(SCOPE_NAME, {
    minItems: 1,
    maxItems: 50,
    uniqueItems: true,
    about: 'All scopes that the client may request. What it could request before and is not among them ends at once.',
    description: 'a list of 1 to 50 different scopes that the API declares',
  }),
});
export type AllowScopesRequest = Type.Static<typeof AllowScopesRequest>;

/** Which scopes of an API a client may request. */
export const AllowedScopesRecord = Type.Object(
  { apiId: Id, clientId: Id, scopes: Type.Array(Type.String()) },
  { title: 'AllowedScopes' },
);

/** The scopes of one API that a client may request, as the client sees it. */
export const ApiScopesRecord = Type.Object(
  { apiId: Id, name: Type.String(), resource: Type.String(), scopes: Type.Array(Type.String()) },
  { title: 'ApiScopes' },
);

/** The body of a request that approves scopes of a client with `consent: operator`. */
export const ApproveConsentRequest = requestBody('ApproveConsentRequest', {
  scopes: Type.Array(Type.String({ maxLength: 64, description: 'the name of a scope' }), {
    minItems: 1,
    maxItems: 100,
    uniqueItems: true,
    about: 'Scopes that people are not asked for; others still show the consent page.',
    description: 'a list of 1 to 100 different scopes that the client may request',
  }),
  organizationId: Type.Optional(
    Type.Union([Type.String({ format: 'id' }), Type.Null()], {
      about: 'Only for the members of this organization. Default: null, for everyone.',
      description: 'the ID of an organization, or null',
    }),
  ),
});
export type ApproveConsentRequest = Type.Static<typeof ApproveConsentRequest>;

const requestText = (about: string) =>
  Type.String({
    minLength: 1,
    maxLength: 500,
    format: 'multi-line',
    about,
    description: '1 to 500 characters without control characters',
  });

/** The body of a request that asks operators for one more scope of a client. */
export const AskScopeRequest = requestBody('AskScopeRequest', {
  scope: SCOPE_NAME,
  resource: Type.Optional(
    Type.Union([Type.String({ minLength: 1, maxLength: 512 }), Type.Null()], {
      about: 'The resource of the API whose scope it is. Default: null, for a scope about the person.',
      description: 'a string of 1 to 512 characters, or null',
    }),
  ),
  reason: requestText('What the app needs it for, as the operator reads it.'),
});
export type AskScopeRequest = Type.Static<typeof AskScopeRequest>;

/** The body of a request that approves a scope request. */
export const ApproveScopeRequest = requestBody('ApproveScopeRequest', {
  answer: Type.Optional(
    Type.Union([requestText('Why, as the developer reads it. Default: null.'), Type.Null()], {
      description: '1 to 500 characters without control characters, or null',
    }),
  ),
});
export type ApproveScopeRequest = Type.Static<typeof ApproveScopeRequest>;

/** The body of a request that declines a scope request. */
export const DeclineScopeRequest = requestBody('DeclineScopeRequest', {
  answer: requestText('Why, as the developer reads it.'),
});
export type DeclineScopeRequest = Type.Static<typeof DeclineScopeRequest>;

/** A scope request in the admin API, as made by `scopeRequestView`. */
export const ScopeRequestRecord = Type.Object(
  {
    id: Id,
    clientId: Id,
    scope: Type.String(),
    resource: nullableField(Type.String(), 'The resource of the API whose scope it is; null for one about the person.'),
    reason: Type.String(),
    askedBy: nullableField(Id, 'The account or admin key that asked; null for the command line on the server.'),
    askedAt: Instant,
    status: Type.Unsafe<string>({
      enum: ['waiting', 'approved', 'declined', 'ended'],
      about: '`ended`: who asked may not manage the app any more, so that it cannot be approved.',
    }),
    decidedBy: nullableField(Id, 'The account or admin key that decided; null for none, or the command line.'),
    decidedAt: nullableField(Instant, 'Null until an operator decides.'),
    answer: nullableField(Type.String(), 'Why, in the words of the operator.'),
  },
  { title: 'ScopeRequest' },
);
