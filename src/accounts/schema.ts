import type { Values } from '../platform/database/statement.ts';
import { Id, Instant, nullableField } from '../platform/http/operation.ts';
import { optional, requestBody, schemasOf } from '../platform/validation/fields.ts';
import * as Type from '../platform/validation/type.ts';
import { PROFILE_FIELDS } from './fields.ts';

type ProfileValues = Values<typeof PROFILE_FIELDS>;

/** Any Unicode characters but controls, which nobody types. They are compared as `normalizePassword` writes them. */
export const password = Type.String({
  minLength: 8,
  maxLength: 256,
  format: 'password',
  description: '8 to 256 characters without control characters',
});

const { username, displayName, email, ...others } = schemasOf(PROFILE_FIELDS, 'schema');

/** The body of a request that creates an account. */
export type CreateUserRequest = Pick<ProfileValues, 'username' | 'displayName' | 'email'> & UpdateUserRequest;
export const CreateUserRequest = Type.Unsafe<CreateUserRequest>(
  requestBody('CreateUserRequest', { username, displayName, email, ...optional({ password, ...others }) }),
);

/** The body of a request that changes an account. Omitted fields keep their values. */
export type UpdateUserRequest = Partial<ProfileValues & { readonly password: string }>;
export const UpdateUserRequest = Type.Unsafe<UpdateUserRequest>(
  requestBody('UpdateUserRequest', optional({ username, displayName, email, password, ...others })),
);

const reason = Type.Optional(
  Type.String({
    maxLength: 500,
    format: 'multi-line',
    about: 'The reason. Operators see it; the user does not.',
    description: 'at most 500 characters without control characters',
  }),
);

export const BanRequest = requestBody('BanRequest', {
  until: Type.Optional(
    Type.Union([Type.String({ format: 'instant' }), Type.Null()], {
      description: 'an ISO 8601 time with its offset, such as 2030-01-31T12:00:00Z, in the future, or null',
    }),
  ),
  reason,
});
export type BanRequest = Type.Static<typeof BanRequest>;

export const SuspensionRequest = requestBody('SuspensionRequest', { reason });
export type SuspensionRequest = Type.Static<typeof SuspensionRequest>;

const textOrNull = nullableField(Type.String());

/** An account in the admin API, as made by `accountView`. */
export const AccountRecord = Type.Object(
  {
    id: Id,
    ...schemasOf(PROFILE_FIELDS, 'record'),
    hasPicture: Type.Boolean({ about: 'Whether the account has a picture. Without one, the initials are shown.' }),
    hasPassword: Type.Boolean({ about: 'Whether the user can sign in with a password.' }),
    status: Type.Unsafe<string>({ enum: ['active', 'banned', 'suspended'] }),
    ban: nullableField(
      Type.Object({ since: Instant, until: nullableField(Instant, 'Null for a permanent ban.'), reason: textOrNull }),
      'The ban in force; null if there is none.',
    ),
    suspension: nullableField(Type.Object({ since: Instant, reason: textOrNull }), 'Null if there is none.'),
    deletion: nullableField(
      Type.Object({ requestedAt: Instant, dueAt: Instant }),
      'If the person asked for the deletion of the account, until `dueAt` they can come back; if an operator did, they cannot.',
    ),
    createdAt: Instant,
    updatedAt: Instant,
  },
  { title: 'User' },
);
