import { resolve } from 'node:path';
import { isRunByNpx } from '../platform/config/npx.ts';
import { shellWord } from '../platform/shell.ts';
import type { Config } from '../settings/config.ts';
import type { DeveloperTerminal } from '../traces/recorders.ts';
import type { Logs } from './logs.ts';

/** The flags with which a command in another terminal, which has the defaults, finds the database of this server. */
export function databaseFlags({ dataDir, databaseUrl }: Pick<Config, 'dataDir' | 'databaseUrl'>): string {
  const isOwnFile = databaseUrl.startsWith('sqlite:') && databaseUrl !== `sqlite:${resolve(dataDir, 'tessera.db')}`;
  return [
    dataDir === resolve('data') ? '' : ` --data-dir ${quoted(dataDir)}`,
    isOwnFile ? ` --database-url ${quoted(databaseUrl)}` : '',
  ].join('');
}

const quoted = (text: string): string => (/^[\w./:@+-]+$/.test(text) ? text : shellWord(text));

/** The standard error of a server, with commands as they work in another terminal. */
export function developerTerminal(config: Config, { err }: Logs): DeveloperTerminal {
  const flags = databaseFlags(config);
  return {
    write: (line) => err.write(`${line}\n`),
    explain: (requestId) => `npx tessera explain ${requestId}${flags}`,
  };
}

/** The command that explains a request, for the reader of another command's output. */
export const explainCommandLine = (requestId: string): string =>
  `${isRunByNpx() ? 'npx ' : ''}tessera explain ${requestId}`;
