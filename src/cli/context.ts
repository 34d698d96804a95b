import type { Command } from 'commander';
import { OAuthError } from '../platform/oauth-error.ts';
import type * as Type from '../platform/validation/type.ts';
import { validate } from '../platform/validation/validate.ts';
import type { Output } from './output.ts';
import type { GlobalFlags } from './session.ts';

/** What every command takes from the flags that all share. */
export type ContextOf = (command: Command) => { readonly flags: GlobalFlags; readonly out: Output };

/** Gathers a flag that may be given several times. */
export const collect = (value: string, before: readonly string[] | undefined): readonly string[] => [
  ...(before ?? []),
  value,
];

/** Fields that can be emptied: the empty text stands for null. */
export const nullIfEmpty = (text: string | undefined): string | null | undefined => (text === '' ? null : text);

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

/** Flags that may be given several times are named in the singular; the field holds the list. */
const SINGULAR: Readonly<Record<string, string>> = {
  redirectUris: 'redirectUri',
  postLogoutRedirectUris: 'postLogoutRedirectUri',
  scopes: 'scope',
  grantTypes: 'grantType',
  jwks: 'jwksFile',
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

const optionOf = (field: string): string => SINGULAR[field] ?? field;
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
  const plural = Object.keys(SINGULAR).filter((name) => names.includes(SINGULAR[name] ?? ''));
  return namingFlags(error, [...names, ...plural]);
}
