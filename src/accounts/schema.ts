import { Id, Instant, nullableField } from '../platform/http/operation.ts';
import * as Type from '../platform/validation/type.ts';

const nullable = <S extends Type.TSchema>(schema: S, description: string) =>
  Type.Union([schema, Type.Null()], { description: `${description}, or null` });

const username = Type.String({
  pattern: '^[a-z0-9_.-]{3,32}$',
  about: 'The name to sign in with; unique, whatever the case of its letters.',
  description: '3 to 32 of the characters a-z, 0-9, "_", "." and "-"',
});
const displayName = Type.String({
  minLength: 1,
  maxLength: 64,
  format: 'single-line',
  about: 'The name that people see.',
  description: '1 to 64 characters on one line, at least one of them visible, without spaces around them',
});
const email = Type.String({
  maxLength: 254,
  format: 'email',
  about: 'Unique, and a name to sign in with too.',
  description: 'an email address such as ada@example.com',
});

/** 8 to 256 characters, any of Unicode, verified exactly as typed. */
export const password = Type.String({ minLength: 8, maxLength: 256, description: '8 to 256 characters' });

const socialLink = Type.Object(
  {
    platform: Type.String({
      pattern: '^[a-z0-9][a-z0-9_.-]{0,31}$',
      description: 'an identifier such as github, of at most 32 characters a-z, 0-9, "_", "." and "-"',
    }),
    url: Type.String({ format: 'https-url', description: 'a full https address' }),
    label: Type.String({
      minLength: 1,
      maxLength: 64,
      format: 'single-line',
      description: '1 to 64 characters on one line, at least one of them visible',
    }),
  },
  { additionalProperties: false, description: 'an object with platform, url and label', title: 'SocialLink' },
);

const optionalFields = {
  password: Type.Optional(password),
  emailVerified: Type.Optional(
    Type.Boolean({ about: 'Whether the address was shown to be the person’s.', description: 'true or false' }),
  ),
  about: Type.Optional(
    Type.String({
      maxLength: 500,
      format: 'multi-line',
      description: 'at most 500 characters without control characters',
    }),
  ),
  language: Type.Optional(Type.String({ format: 'language-code', description: 'a language code such as en or pt-BR' })),
  theme: Type.Optional(
    nullable(Type.Unsafe<'light' | 'dark' | 'system'>({ enum: ['light', 'dark', 'system'] }), 'light, dark or system'),
  ),
  website: Type.Optional(nullable(Type.String({ format: 'https-url' }), 'a full https address')),
  location: Type.Optional(
    nullable(
      Type.String({ minLength: 1, maxLength: 100, format: 'single-line' }),
      '1 to 100 characters on one line, at least one of them visible',
    ),
  ),
  birthDate: Type.Optional(
    nullable(Type.String({ format: 'calendar-date' }), 'a real date in the past, as YYYY-MM-DD'),
  ),
  phone: Type.Optional(
    nullable(Type.String({ format: 'phone' }), 'a phone number in E.164 form, such as +905551234567'),
  ),
  socialLinks: Type.Optional(Type.Array(socialLink, { maxItems: 20, description: 'a list of at most 20 links' })),
  avatarColor: Type.Optional(Type.String({ pattern: '^#[0-9a-f]{6}$', description: 'a colour such as #5b2a86' })),
};

/** What an operator gives to make an account. */
export const CreateUserRequest = Type.Object(
  { username, displayName, email, ...optionalFields },
  { additionalProperties: false, description: 'a JSON object', title: 'CreateUserRequest' },
);
export type CreateUserRequest = Type.Static<typeof CreateUserRequest>;

/** What an operator may change; a field left out stays as it is. */
export const UpdateUserRequest = Type.Object(
  {
    username: Type.Optional(username),
    displayName: Type.Optional(displayName),
    email: Type.Optional(email),
    ...optionalFields,
  },
  { additionalProperties: false, description: 'a JSON object', title: 'UpdateUserRequest' },
);
export type UpdateUserRequest = Type.Static<typeof UpdateUserRequest>;

const reason = Type.Optional(
  Type.String({
    maxLength: 500,
    format: 'multi-line',
    about: 'Why; operators see it, the person does not.',
    description: 'at most 500 characters without control characters',
  }),
);

export const BanRequest = Type.Object(
  {
    until: Type.Optional(
      nullable(
        Type.String({ format: 'instant' }),
        'an instant of ISO 8601 with its offset, such as 2030-01-31T12:00:00Z, in the future',
      ),
    ),
    reason,
  },
  { additionalProperties: false, description: 'a JSON object', title: 'BanRequest' },
);
export type BanRequest = Type.Static<typeof BanRequest>;

export const SuspensionRequest = Type.Object(
  { reason },
  { additionalProperties: false, description: 'a JSON object', title: 'SuspensionRequest' },
);
export type SuspensionRequest = Type.Static<typeof SuspensionRequest>;

const text = Type.String();
const textOrNull = nullableField(text);

/** An account as operators see it: the shape of `accountView`. */
export const AccountRecord = Type.Object(
  {
    id: Id,
    username: text,
    displayName: text,
    email: text,
    emailVerified: Type.Boolean(),
    about: text,
    language: text,
    theme: Type.Unsafe<string | null>({ enum: ['light', 'dark', 'system', null] }),
    website: textOrNull,
    location: textOrNull,
    birthDate: nullableField(Type.String({ format: 'calendar-date' })),
    phone: textOrNull,
    socialLinks: Type.Array(socialLink),
    avatarColor: text,
    hasPicture: Type.Boolean({ about: 'Whether there is a picture; without one the initials are shown.' }),
    hasPassword: Type.Boolean({ about: 'Whether the person can sign in with a password.' }),
    status: Type.Unsafe<string>({ enum: ['active', 'banned', 'suspended'] }),
    ban: nullableField(
      Type.Object({ since: Instant, until: nullableField(Instant, 'Null is for ever.'), reason: textOrNull }),
      'The ban that is in force; null where there is none.',
    ),
    suspension: nullableField(Type.Object({ since: Instant, reason: textOrNull }), 'Null where there is none.'),
    createdAt: Instant,
    updatedAt: Instant,
  },
  { title: 'User' },
);
