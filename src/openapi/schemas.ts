/** JSON Schema, draft 2020-12. */
export type Schema = Readonly<Record<string, unknown>>;

export type Convert = (schema: unknown) => Schema;

/** The formats of JSON Schema for what our own are called. */
const FORMATS: Readonly<Record<string, Schema>> = {
  instant: { format: 'date-time' },
  'calendar-date': { format: 'date' },
  'https-url': { format: 'uri' },
  email: { format: 'email' },
  id: { pattern: '^[1-9][0-9]{0,18}$' },
};

const sentence = (text: string): string =>
  `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`;

/**
 * Turns the schemas of routes into those of the document: what has a title stands among the components by that name; what a
 * field is for (`about`) and what it must be (`description`, which completes "must be …") become one text.
 */
export function namedSchemas(): { readonly named: Readonly<Record<string, Schema>>; readonly convert: Convert } {
  const named: Record<string, Schema> = {};
  const sources = new Map<string, unknown>();

  const convertAll = (map: object) =>
    Object.fromEntries(Object.entries(map).map(([name, value]) => [name, convert(value)]));

  function convert(schema: unknown): Schema {
    const { title, about, description, format, ...rest } = schema as Schema;
    const texts = [about, description].filter((text) => typeof text === 'string').map(sentence);
    const converted: Record<string, unknown> = {
      ...(texts.length > 0 && { description: texts.join(' ') }),
      ...rest,
      ...(typeof format === 'string' && FORMATS[format]),
    };
    for (const [keyword, value] of Object.entries(rest)) {
      if (keyword === 'properties') converted[keyword] = convertAll(value as object);
      if (keyword === 'items') converted[keyword] = convert(value);
      if (keyword === 'anyOf' || keyword === 'oneOf') converted[keyword] = (value as unknown[]).map(convert);
    }
    if (typeof title !== 'string') return converted;
    if ((sources.get(title) ?? schema) !== schema) throw new Error(`two schemas are called ${title}`);
    sources.set(title, schema);
    named[title] ??= converted;
    return { $ref: `#/components/schemas/${title}` };
  }
  return { named, convert };
}
