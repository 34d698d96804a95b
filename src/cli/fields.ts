import { type Command, Option } from 'commander';
import { invalid } from '../platform/failure.ts';
import type { FieldOption } from '../platform/validation/fields.ts';
import { collect, jsonFile, seconds } from './option-parsers.ts';

/** The field declarations of a record. */
type Fields = Readonly<Record<string, { readonly option?: FieldOption }>>;

const optionsOf = (fields: Fields): readonly (readonly [name: string, option: FieldOption])[] =>
  Object.entries(fields).flatMap(([name, { option }]) => (option === undefined ? [] : [[name, option] as const]));

/** Options whose empty value means null. */
const NULLABLE: ReadonlySet<FieldOption['kind']> = new Set([
  'nullable text',
  'nullable seconds',
  'JSON object',
  'JSON file',
]);

/** The property of commander's options object: `redirectUri` for `--redirect-uri <uri>`. */
const attributeOf = ({ flags }: FieldOption): string => new Option(flags).attributeName();

/** The name of each field's option in commander's options object. */
export const optionNames = (fields: Fields): Readonly<Record<string, string>> =>
  Object.fromEntries(optionsOf(fields).map(([name, option]) => [name, attributeOf(option)]));

/** Adds the option of each field to a command. */
export function withFieldOptions(command: Command, fields: Fields): Command {
  for (const [, option] of optionsOf(fields)) {
    const { flags, about, kind, aboutOff = '' } = option;
    if (kind === 'list' || kind === 'described list' || kind === 'translated list')
      command.option(flags, about, collect);
    else if (kind === 'JSON file') command.option(flags, about, jsonFile);
    else if (kind === 'nullable seconds') {
      command.option(flags, about, (text: string) => (text === '' ? '' : seconds(text)));
    } else command.option(flags, about);
    if (kind === 'switch') command.option(flags.replace('--', '--no-'), aboutOff);
  }
  return command;
}

/** The values of the fields: undefined where the option was not given. */
export const readFieldOptions = <F extends Fields>(
  fields: F,
  given: Readonly<Record<string, unknown>>,
): { [Name in keyof F]?: unknown } =>
  Object.fromEntries(
    optionsOf(fields).map(([name, option]) => [name, optionValue(option, given[attributeOf(option)])]),
  ) as {
    [Name in keyof F]?: unknown;
  };

function optionValue({ kind, flags }: FieldOption, value: unknown): unknown {
  if (NULLABLE.has(kind) && value === '') return null;
  if (kind === 'described list' && Array.isArray(value)) return value.map(described);
  if (kind === 'translated list' && Array.isArray(value)) return translated(value);
  if (typeof value !== 'string' || !Object.hasOwn(JSON_EXAMPLES, kind)) return value;
  try {
    return JSON.parse(value);
  } catch {
    const [flag] = flags.split(' ');
    throw invalid(`${flag} must be JSON, such as ${JSON_EXAMPLES[kind as keyof typeof JSON_EXAMPLES]}.`);
  }
}

const JSON_EXAMPLES = {
  'JSON list': '[{"platform":"github","url":"https://…","label":"GitHub"}]',
  'JSON object': '{"groups":"teams"}',
};

/** `NAME` or `NAME=DESCRIPTION`. */
function described(text: string): { readonly name: string; readonly description: string | null } {
  const at = text.indexOf('=');
  return at === -1 ? { name: text, description: null } : { name: text.slice(0, at), description: text.slice(at + 1) };
}

/** `NAME=TEXT` for a text in English, `NAME@LANGUAGE=TEXT` for another language; one empty text stands for no list. */
function translated(given: readonly string[]): unknown {
  if (given.length === 1 && given[0] === '') return null;
  const found = new Map<string, Record<string, string>>();
  for (const text of given) {
    const [, name = text, language = 'en', words = ''] = /^([^=@]*)(?:@([^=]*))?=(.*)$/s.exec(text) ?? [];
    found.set(name, { ...found.get(name), [language]: words });
  }
  return [...found].map(([name, descriptions]) => ({ name, descriptions }));
}
