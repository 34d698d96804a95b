import type { Values } from '../platform/database/statement.ts';
import { Id, Instant, nullableField } from '../platform/http/operation.ts';
import { optional, requestBody, schemasOf } from '../platform/validation/fields.ts';
import * as Type from '../platform/validation/type.ts';
import { CLIENT_FIELDS } from './fields.ts';

type ClientValues = Values<typeof CLIENT_FIELDS>;

const { name, redirectUris, type, ...others } = schemasOf(CLIENT_FIELDS, 'schema');

/** What an operator gives to register a client. Only one that uses codes needs redirect URIs. */
export type CreateClientRequest = Pick<ClientValues, 'name'> & Partial<ClientValues>;
export const CreateClientRequest = Type.Unsafe<CreateClientRequest>(
  requestBody('CreateClientRequest', { name, ...optional({ redirectUris, type, ...others }) }),
);

const status = Type.Unsafe<'active' | 'disabled'>({
  enum: ['active', 'disabled'],
  about: 'disabled ends its codes and tokens for ever.',
  description: 'active or disabled',
});

/** What an operator may change; a field left out stays as it is. */
export type UpdateClientRequest = Partial<Omit<ClientValues, 'type'> & { readonly status: 'active' | 'disabled' }>;
export const UpdateClientRequest = Type.Unsafe<UpdateClientRequest>(
  requestBody('UpdateClientRequest', optional({ name, redirectUris, status, ...others })),
);

/** How a second secret is made. */
export const RotateSecretRequest = requestBody('RotateSecretRequest', {
  expirePreviousIn: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 30 * 24 * 60 * 60,
      about: 'Without it: 86400, a day.',
      description: 'the seconds for which the previous secret still holds, from 0 to 2592000',
    }),
  ),
});
export type RotateSecretRequest = Type.Static<typeof RotateSecretRequest>;

const secretFields = {
  id: Id,
  createdAt: Instant,
  lastUsedAt: nullableField(Instant, 'To the hour; null where it was never used.'),
  expiresAt: nullableField(Instant, 'Null is never.'),
};
const clientSecret = Type.String({ about: 'Shown this once: only its digest is kept.' });

/** A secret as operators see it: the shape of `secretView`. */
const SecretRecord = Type.Object(secretFields, { title: 'ClientSecret' });

/** The answer to a new secret. */
export const CreatedClientSecret = Type.Object(
  { ...secretFields, clientSecret, secrets: Type.Array(SecretRecord, { about: 'Those that hold now.' }) },
  { title: 'CreatedClientSecret' },
);

const clientRecord = {
  clientId: Id,
  ...schemasOf(CLIENT_FIELDS, 'record'),
  hasPicture: Type.Boolean({ about: 'Whether there is a picture; without one its letters are shown.' }),
  status: Type.Unsafe<string>({ enum: ['active', 'disabled'] }),
  secrets: Type.Array(SecretRecord, { about: 'Those that hold now: one, or two during a rotation.' }),
  createdAt: Instant,
  updatedAt: Instant,
};

/** A client as operators see it: the shape of `clientView`. */
export const ClientRecord = Type.Object(clientRecord, { title: 'Client' });

/** The answer to a registration. */
export const CreatedClient = Type.Object(
  { ...clientRecord, clientSecret: Type.Optional(clientSecret) },
  { title: 'CreatedClient' },
);
