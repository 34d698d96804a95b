import { readFileSync } from 'node:fs';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { invalidRequest } from '../platform/oauth-error.ts';
import type { FieldOption } from '../platform/validation/fields.ts';

/** The fields of a record, as they are declared with it. */
type Fields = Readonly<Record<string, { readonly option?: FieldOption }>>;

const optionsOf = (fields: Fields): readonly (readonly [name: string, option: FieldOption])[] =>
  Object.entries(fields).flatMap(([name, { option }]) => (option === undefined ? [] : [[name, option] as const]));

/** Options whose empty text stands for null; commander gives an option's null as the empty text itself. */
const NULLABLE: ReadonlySet<FieldOption['kind']> = new Set(['nullable text', 'nullable seconds', 'JSON file']);

/** The name under which commander gives an option's value: `redirectUri` for `--redirect-uri <uri>`. */
const attributeOf = ({ flags }: FieldOption): string => new Option(flags).attributeName();

/** The option of each field, by commander's names. */
export const optionNames = (fields: Fields): Readonly<Record<string, string>> =>
  Object.fromEntries(optionsOf(fields).map(([name, option]) => [name, attributeOf(option)]));

/** Gathers an option that may be given several times. */
export const collect = (value: string, before: readonly string[] | undefined): readonly string[] => [
  ...(before ?? []),
  value,
];

/** @throws {InvalidArgumentError} where the text is not a whole number */
export function seconds(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('It must be a whole number of seconds.');
  return Number(text);
}

/** Reads a file of JSON. */
function jsonFile(path: string): unknown {
  if (path === '') return '';
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    // A parser's message repeats a part of the text, which may be a private key.
    const why = error instanceof SyntaxError ? 'it is not JSON' : error instanceof Error ? error.message : 'unknown';
    throw new InvalidArgumentError(`It cannot be read: ${why}.`);
  }
}

/** Adds the option of each field to a command. */
export function withFieldOptions(command: Command, fields: Fields): Command {
  for (const [, option] of optionsOf(fields)) {
    const { flags, about, kind, aboutOff = '' } = option;
    if (kind === 'list') command.option(flags, about, collect);
    else if (kind === 'JSON file') command.option(flags, about, jsonFile);
    else if (kind === 'nullable seconds') {
      command.option(flags, about, (text: string) => (text === '' ? '' : seconds(text)));
    } else command.option(flags, about);
    if (kind === 'switch') command.option(flags.replace('--', '--no-'), aboutOff);
  }
  return command;
}

/** The values of fields as they were given by their options: undefined where an option was left out. */
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
  if (kind !== 'JSON list' || typeof value !== 'string') return value;
  try {
    return JSON.parse(value);
  } catch {
    const [flag] = flags.split(' ');
    throw invalidRequest(
      `${flag} must be a JSON list, such as [{"platform":"github","url":"https://…","label":"GitHub"}].`,
    );
  }
}
