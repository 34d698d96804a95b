import { jsonOr } from '../platform/database/statement.ts';
import { nullableField } from '../platform/http/operation.ts';
import { declareField } from '../platform/validation/fields.ts';
import * as Type from '../platform/validation/type.ts';
import { nullableText, text } from './field-kinds.ts';

/** A scope that an API declares. */
export interface ResourceScope {
  readonly name: string;
  /** What it allows, in the words of the consent page, by language: tags of BCP 47. */
  readonly descriptions: Readonly<Record<string, string>>;
}

export const SCOPE_NAME = Type.String({
  pattern: '^[A-Za-z][A-Za-z0-9._:/-]{0,63}$',
  description:
    '1 to 64 letters, digits, dots, underscores, colons, slashes and hyphens, beginning with a letter, such as notes.read',
});

const DESCRIPTION = Type.String({
  minLength: 1,
  maxLength: 120,
  format: 'single-line',
  description: '1 to 120 characters on one line, at least one of them visible, without spaces around them',
});

/** The fields of a registration by which a client is an API that others get tokens for. */
export const RESOURCE_FIELDS = {
  /** The `resource` for which clients request tokens (RFC 8707). */
  resource: declareField({
    column: 'resource',
    ...nullableText(
      Type.String({ maxLength: 512 }),
      'a string of at most 512 characters',
      'For a resource server: its resource identifier (RFC 8707), an absolute URI.',
    ),
    option: {
      flags: '--resource <uri>',
      about: 'resource identifier of a resource server; "" for none',
      kind: 'nullable text',
    },
  }),
  /** Its scopes; null for one that has none, and goes by the scopes about the person. */
  resourceScopes: declareField({
    column: 'resource_scopes',
    codec: jsonOr<readonly ResourceScope[], null>(null),
    initial: null,
    schema: Type.Union(
      [
        Type.Array(
          Type.Object(
            {
              name: SCOPE_NAME,
              descriptions: Type.Unsafe<Readonly<Record<string, string>>>({
                type: 'object',
                minProperties: 1,
                maxProperties: 50,
                propertyNames: { type: 'string', format: 'language-tag', description: 'a language tag such as en' },
                additionalProperties: DESCRIPTION,
                about: 'What it allows, in the words of the consent page, by language.',
                description: 'an object with a text for at least one language, such as en',
              }),
            },
            { additionalProperties: false, description: 'an object with name and descriptions' },
          ),
          { maxItems: 50 },
        ),
        Type.Null(),
      ],
      {
        about: 'For a resource server: its own scopes. Removing one ends it in every token at once.',
        description:
          'a list of at most 50 scopes with different names, each an object with name and descriptions, or null',
      },
    ),
    record: nullableField(
      Type.Array(
        Type.Object(
          {
            name: text,
            descriptions: Type.Unsafe<Readonly<Record<string, string>>>({
              type: 'object',
              additionalProperties: { type: 'string' },
            }),
          },
          { title: 'ResourceScope' },
        ),
      ),
      'Null for none of its own.',
    ),
    option: {
      flags: '--resource-scope <name=text>',
      about:
        'scope of a resource server, as NAME=TEXT with the English words of the consent page, or NAME@LANGUAGE=TEXT; may be given several times',
      kind: 'translated list',
    },
  }),
} as const;

/** What a scope of an API allows, in the language of the page; else in English, else in its first language. */
export function describeResourceScope({ descriptions }: ResourceScope, language: string): string {
  const [primary = ''] = language.split('-');
  const text = descriptions[language] ?? descriptions[primary] ?? descriptions['en'] ?? Object.values(descriptions)[0];
  return text ?? '';
}
