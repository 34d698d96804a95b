import type { Command } from 'commander';
import { PROFILE_FIELDS } from '../accounts/fields.ts';
import { CLIENT_FIELDS } from '../clients/fields.ts';
import { Failure } from '../platform/failure.ts';
import type * as Type from '../platform/validation/type.ts';
import { validate } from '../platform/validation/validate.ts';
import { optionNames } from './fields.ts';
import { type Output, printable } from './output.ts';
import type { GlobalFlags } from './session.ts';

/** Reads the global flags of a command, and creates its output. */
export type GetCommandContext = (command: Command) => { readonly flags: GlobalFlags; readonly out: Output };

/** Removes undefined members: a flag that was not given changes nothing. */
function withoutUndefined<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}

/** Makes options mandatory that are shared with a command where they are optional. */
export function requireOptions(command: Command, ...flags: readonly string[]): Command {
  for (const option of command.options) if (flags.includes(option.long ?? '')) option.makeOptionMandatory();
  return command;
}

/** Adds examples to the help of a command. */
export const examples = (command: Command, ...lines: readonly string[]): Command =>
  command.addHelpText(
    'after',
    `\n${lines.length > 1 ? 'Examples' : 'Example'}:\n${lines.map((line) => `  ${line}`).join('\n')}`,
  );

/** The option of each field whose option has another name. */
const OPTION_NAMES: Readonly<Record<string, string>> = {
  ...optionNames(CLIENT_FIELDS),
  ...optionNames(PROFILE_FIELDS),
  faces: 'face',
  password: 'passwordStdin',
  userId: 'user',
  clientId: 'client',
  requestId: 'request',
};

/**
 * Validates the input of a command by the schema of the admin API.
 * @throws {Failure} with the flag in place of the field
 */
export function checkInput<S extends Type.TSchema>(schema: S, fields: object): Type.Static<S> {
  try {
    return validate(schema, withoutUndefined(fields));
  } catch (error) {
    throw error instanceof Failure ? replaceFieldNames(error, Object.keys(fields)) : error;
  }
}

const optionOf = (field: string): string => OPTION_NAMES[field] ?? field;
const flagOf = (field: string): string =>
  `--${optionOf(field).replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

/** Replaces field names by flags: the one that the message starts with, and any others in it. */
function replaceFieldNames(error: Failure, fields: readonly string[]): Failure {
  const [, name = '', place = '', rest = ''] = /^(\w+)(\S*)(.*)$/s.exec(error.message) ?? [];
  if (!fields.includes(name)) return error;
  // A single-word option could also be an ordinary word of the sentence.
  const others = rest.replaceAll(/\w+/g, (word) =>
    fields.includes(word) && /[A-Z]/.test(optionOf(word)) ? flagOf(word) : word,
  );
  // On the command line an empty text stands for null.
  return new Failure(error.kind, `${flagOf(name)}${place}${others.replaceAll(/\bor null\b/g, 'or ""')}`);
}

/** Shows the value of an option that was given several times, in place of its number. */
function withGiven(error: Failure, command: Command): Failure {
  const [named = '', flag, at] = /^(--[a-z-]+)\[(\d{1,3})\]/.exec(error.message) ?? [];
  const option = command.options.find(({ long }) => long === flag);
  const given: unknown = option && command.getOptionValue(option.attributeName());
  const value: unknown = Array.isArray(given) ? given[Number(at)] : undefined;
  if (typeof value !== 'string') return error;
  const parts = value.split(/[\s,]+/).map((part) => `${flag} ${part}`);
  const rest = error.message
    .slice(named.length)
    .replace('Give each by itself, as an item of its own.', `Give each by itself: ${parts.join(' ')}`);
  return new Failure(error.kind, printable(`${flag} ${value}${rest}`));
}

/**
 * Replaces field names by flags in the error of a domain function.
 * @param command the command that failed, whose options are the possible flags
 */
export function withFlagNames(error: Failure, command: Command): Failure {
  const names = command.options.map((option) => option.attributeName());
  const plural = Object.keys(OPTION_NAMES).filter((name) => names.includes(OPTION_NAMES[name] ?? ''));
  return withGiven(replaceFieldNames(error, [...names, ...plural]), command);
}
