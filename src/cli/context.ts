import type { Command } from 'commander';
import { PROFILE_FIELDS } from '../accounts/fields.ts';
import { CLIENT_FIELDS } from '../clients/fields.ts';
import { OAuthError } from '../platform/oauth-error.ts';
import type * as Type from '../platform/validation/type.ts';
import { validate } from '../platform/validation/validate.ts';
import { optionNames } from './fields.ts';
import type { Output } from './output.ts';
import type { GlobalFlags } from './session.ts';

/** What every command takes from the flags that all share. */
export type ContextOf = (command: Command) => { readonly flags: GlobalFlags; readonly out: Output };

/** An object without its undefined members: flags that were not given are not changes. */
export function given<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}

/** Makes options that `create` and `update` share mandatory for `create`. */
export function requireOptions(command: Command, ...flags: readonly string[]): Command {
  for (const option of command.options) if (flags.includes(option.long ?? '')) option.makeOptionMandatory();
  return command;
}

/** Examples below a command's help. */
export const examples = (command: Command, ...lines: readonly string[]): Command =>
  command.addHelpText(
    'after',
    `\n${lines.length > 1 ? 'Examples' : 'Example'}:\n${lines.map((line) => `  ${line}`).join('\n')}`,
  );

/** The option that sets a field, where it has another name than the field. */
const OPTION_NAMES: Readonly<Record<string, string>> = {
  ...optionNames(CLIENT_FIELDS),
  ...optionNames(PROFILE_FIELDS),
  password: 'passwordStdin',
  userId: 'user',
  clientId: 'client',
  requestId: 'request',
};

/**
 * The input of a command, checked as the admin API checks it.
 * @throws {OAuthError} naming the flag, where the API would name the field
 */
export function checkInput<S extends Type.TSchema>(schema: S, fields: object): Type.Static<S> {
  try {
    return validate(schema, given(fields));
  } catch (error) {
    throw error instanceof OAuthError ? namingFlags(error, Object.keys(fields)) : error;
  }
}

const optionOf = (field: string): string => OPTION_NAMES[field] ?? field;
const flagOf = (field: string): string =>
  `--${optionOf(field).replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

/** A refusal in the words of the API, with flags in place of the field that it begins with and of others that it names. */
function namingFlags(error: OAuthError, fields: readonly string[]): OAuthError {
  const [, name = '', place = '', rest = ''] = /^(\w+)(\S*)(.*)$/s.exec(error.message) ?? [];
  if (!fields.includes(name)) return error;
  // An option of one word may be a word of the sentence as well.
  const others = rest.replaceAll(/\w+/g, (word) =>
    fields.includes(word) && /[A-Z]/.test(optionOf(word)) ? flagOf(word) : word,
  );
  return new OAuthError(error.status, error.code, `${flagOf(name)}${place}${others}`);
}

/**
 * Names the flags in what a domain refuses, too.
 * @param command the command that was refused, whose options say which flags there are
 */
export function inFlags(error: OAuthError, command: Command): OAuthError {
  const names = command.options.map((option) => option.attributeName());
  const plural = Object.keys(OPTION_NAMES).filter((name) => names.includes(OPTION_NAMES[name] ?? ''));
  return namingFlags(error, [...names, ...plural]);
}
