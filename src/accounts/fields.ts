import { bit, json, plain, storedField, type Values } from '../platform/database/statement.ts';
import { nullableField } from '../platform/http/operation.ts';
import { declareField } from '../platform/validation/fields.ts';
import * as Type from '../platform/validation/type.ts';

export interface SocialLink {
  readonly platform: string;
  readonly url: string;
  readonly label: string;
}

export const SocialLinkSchema = Type.Object(
  {
    platform: Type.String({
      pattern: '^[a-z0-9][a-z0-9_.-]{0,31}$',
      description: 'an identifier such as github, of at most 32 characters a-z, 0-9, "_", "." and "-"',
    }),
    url: Type.String({ format: 'https-url', description: 'an absolute https URL' }),
    label: Type.String({
      minLength: 1,
      maxLength: 64,
      format: 'single-line',
      description: '1 to 64 characters on one line, at least one of them visible',
    }),
  },
  { additionalProperties: false, description: 'an object with platform, url and label', title: 'SocialLink' },
);

const text = Type.String();
const textOrNull = nullableField(text);

/** A string, or null where the user gave none. */
const nullableText = (schema: Type.TSchema, description: string) =>
  ({
    codec: plain<string | null>(),
    initial: null,
    schema: Type.Union([schema, Type.Null()], { description: `${description}, or null` }),
    record: textOrNull,
  }) as const;

/**
 * The fields of a user's profile, each declared once. To add one, also add its column to the table (tables.ts)
 * and a migration; requests, responses, the API document, the command line and the stored row are derived from this.
 */
export const PROFILE_FIELDS = {
  username: declareField({
    column: 'username',
    codec: plain<string>(),
    schema: Type.String({
      pattern: '^[a-z0-9_.-]{3,32}$',
      about: 'The name to sign in with. Unique, case-insensitively.',
      description: '3 to 32 of the characters a-z, 0-9, "_", "." and "-"',
    }),
    record: text,
    option: { flags: '--username <name>', about: '3 to 32 characters of a-z, 0-9, _, . and -', kind: 'text' },
  }),
  displayName: declareField({
    column: 'display_name',
    codec: plain<string>(),
    schema: Type.String({
      minLength: 1,
      maxLength: 64,
      format: 'single-line',
      about: 'Display name.',
      description: '1 to 64 characters on one line, at least one of them visible, without spaces around them',
    }),
    record: text,
    option: { flags: '--display-name <name>', about: 'display name', kind: 'text' },
  }),
  email: declareField({
    column: 'email',
    codec: plain<string>(),
    schema: Type.String({
      maxLength: 254,
      format: 'email',
      about: 'Unique. Can also be used to sign in.',
      description: 'an email address such as ada@example.com',
    }),
    record: text,
    option: { flags: '--email <address>', about: 'email address', kind: 'text' },
  }),
  emailVerified: declareField({
    column: 'email_verified',
    codec: bit,
    initial: false,
    schema: Type.Boolean({ about: 'Whether the email address is verified.', description: 'true or false' }),
    record: Type.Boolean(),
    option: {
      flags: '--email-verified',
      about: 'mark the email address as verified',
      kind: 'switch',
      aboutOff: 'mark the email address as not verified',
    },
  }),
  about: declareField({
    column: 'about',
    codec: plain<string>(),
    initial: '',
    schema: Type.String({
      maxLength: 500,
      format: 'multi-line',
      description: 'at most 500 characters without control characters',
    }),
    record: text,
    option: { flags: '--about <text>', about: 'description of at most 500 characters', kind: 'text' },
  }),
  language: declareField({
    column: 'language',
    codec: plain<string>(),
    initial: 'en',
    schema: Type.String({
      format: 'language-tag',
      about: 'A language tag of BCP 47. Apps get its language of two letters as `language`, and the whole as `locale`.',
      description: 'a language tag such as en, pt-BR or zh-Hant, whose language has two letters',
    }),
    record: text,
    option: { flags: '--language <tag>', about: 'language tag, such as en or pt-BR', kind: 'text' },
  }),
  theme: declareField({
    column: 'theme',
    codec: plain<'light' | 'dark' | 'system' | null>(),
    initial: null,
    schema: Type.Union([Type.Unsafe<'light' | 'dark' | 'system'>({ enum: ['light', 'dark', 'system'] }), Type.Null()], {
      description: 'light, dark or system, or null',
    }),
    record: Type.Unsafe<string | null>({ enum: ['light', 'dark', 'system', null] }),
    option: {
      flags: '--theme <theme>',
      about: 'preferred theme: light, dark or system; "" for none',
      kind: 'nullable text',
    },
  }),
  website: declareField({
    column: 'website',
    ...nullableText(Type.String({ format: 'https-url' }), 'an absolute https URL'),
    option: { flags: '--website <url>', about: 'https URL; "" for none', kind: 'nullable text' },
  }),
  location: declareField({
    column: 'location',
    ...nullableText(
      Type.String({ minLength: 1, maxLength: 100, format: 'single-line' }),
      '1 to 100 characters on one line, at least one of them visible',
    ),
    option: { flags: '--location <text>', about: 'free text; "" for none', kind: 'nullable text' },
  }),
  birthDate: declareField({
    column: 'birth_date',
    ...nullableText(Type.String({ format: 'calendar-date' }), 'a real date in the past, as YYYY-MM-DD'),
    record: nullableField(Type.String({ format: 'calendar-date' })),
    option: { flags: '--birth-date <date>', about: 'birth date as YYYY-MM-DD; "" for none', kind: 'nullable text' },
  }),
  phone: declareField({
    column: 'phone',
    ...nullableText(Type.String({ format: 'phone' }), 'a phone number in E.164 form, such as +905551234567'),
    option: {
      flags: '--phone <number>',
      about: 'E.164 number, such as +905551234567; "" for none',
      kind: 'nullable text',
    },
  }),
  socialLinks: declareField({
    column: 'social_links',
    codec: json<readonly SocialLink[]>(),
    initial: [],
    schema: Type.Array(SocialLinkSchema, { maxItems: 20, description: 'a list of at most 20 links' }),
    record: Type.Array(SocialLinkSchema),
    option: {
      flags: '--social-links <json>',
      about: 'JSON list of {platform, url, label}',
      kind: 'JSON list',
    },
  }),
  /** The background of the initials. The default follows from the id of the account. */
  avatarColor: declareField({
    column: 'avatar_color',
    codec: plain<string>(),
    schema: Type.String({ pattern: '^#[0-9a-f]{6}$', description: 'a color such as #5b2a86' }),
    record: text,
    option: { flags: '--avatar-color <color>', about: 'background of the initials, such as #5b2a86', kind: 'text' },
  }),
} as const;

/** The fields of a profile, and the name of its picture; null where the initials are shown. */
export const STORED_PROFILE = { ...PROFILE_FIELDS, picture: storedField('picture', plain<string | null>()) } as const;

/** A user's profile. */
export type Profile = Values<typeof STORED_PROFILE>;
