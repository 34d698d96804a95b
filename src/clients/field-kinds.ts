import { bit, plain } from '../platform/database/statement.ts';
import { nullableField } from '../platform/http/operation.ts';
import * as Type from '../platform/validation/type.ts';

// What fields of a registration have in common.

export const text = Type.String();
export const textOrNull = nullableField(text);
export const texts = Type.Array(text);

export const orNull = (schema: Type.TSchema, description: string, about: string) =>
  Type.Union([schema, Type.Null()], { about, description: `${description}, or null` });

export const nullableText = (schema: Type.TSchema, description: string, about: string) =>
  ({
    codec: plain<string | null>(),
    initial: null,
    schema: orNull(schema, description, about),
    record: textOrNull,
  }) as const;

export const yesOrNo = (about: string) =>
  ({ codec: bit, schema: Type.Boolean({ about, description: 'true or false' }), record: Type.Boolean() }) as const;
