import { ConfigError } from '../platform/config/config-error.ts';
import { remoteVariables } from '../platform/config/remote.ts';
import { environment, type GlobalFlags } from './session.ts';

const PROGRAM = 'It is about the program and the machine that it runs on.';
const FILES = 'It works on the files of the database.';
const KEYS = 'It needs the secret of the server: a person who can replace signing keys can sign in as anyone.';

/** The commands that work only on the server itself, and why: all others call the admin API. */
export const ON_SERVER_ONLY: Readonly<Record<string, string>> = {
  serve: PROGRAM,
  health: PROGRAM,
  doctor: PROGRAM,
  migrate: FILES,
  backup: FILES,
  restore: FILES,
  recover: FILES,
  'keys list': KEYS,
  'keys rotate': KEYS,
  'keys drop': KEYS,
  'setup-link': 'Who has the link becomes the owner of the installation.',
  'mail test': 'It tries the mail settings of this machine, before a server uses them.',
  'mail link': 'The link opens every message that was not sent, those with links to recover accounts included.',
};

/** Why a token cannot be explained from elsewhere. The other use of `explain` can. */
export const EXPLAIN_TOKEN =
  'Explaining a token needs the keys of the server, and a token is not sent to be looked at.';

/** @throws {ConfigError} where the flags or the environment name another server */
export function requireOwnServer(flags: GlobalFlags, reason: string): void {
  if (!environment(flags)[remoteVariables.server.name]) return;
  throw new ConfigError([
    `This works only on the server itself: leave out --server, and unset ${remoteVariables.server.name}. ${reason}`,
  ]);
}
