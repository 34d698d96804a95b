import { Command } from 'commander';
import type { Core } from '../core.ts';
import { openKeys } from '../keys/keys.ts';
import { baseUrlOf } from '../platform/config/config.ts';
import { previousSecret } from '../platform/config/secret-file.ts';
import type { Database } from '../platform/database/database.ts';
import { conflict, invalidRequest } from '../platform/oauth-error.ts';
import { explainToken } from '../protocol/token/explain.ts';
import { examples, type GetCommandContext } from './context.ts';
import { readSecret } from './prompt.ts';
import { type GlobalFlags, withCore } from './session.ts';

/** The database without the right to write. */
const readOnly = (database: Database): Database => ({
  ...database,
  commit: () =>
    Promise.reject(
      conflict(
        'The signing keys of this database must be created or sealed again first. Start the server: tessera serve',
      ),
    ),
});

export function explainCommand(getContext: GetCommandContext): Command {
  return examples(
    new Command('explain'),
    'printf %s "$ACCESS_TOKEN" | tessera explain',
    'tessera explain --base-url https://id.example.com < token.txt',
  )
    .description('explain whether an access or refresh token is valid now, and why; reads it from standard input')
    .option('--base-url <url>', 'public base URL of the server (TESSERA_BASE_URL)')
    .addHelpText('after', '\nThe token is neither used up nor printed. Exit status: 0 if it is valid, 1 if not.')
    .action(async (options: { baseUrl?: string }, command: Command) => {
      const { flags, out } = getContext(command);
      const token = (await readSecret('Token: ')).trim().replace(/^Bearer /i, '');
      if (token === '')
        throw invalidRequest('There is no token on standard input. Example: printf %s "$TOKEN" | tessera explain');
      const all: GlobalFlags = { ...flags, ...options };
      const explained = await withCore(all, async (core) => explainToken(await partsOf(core), token));
      const { verdict, answer, reason, remedy, ...about } = explained;
      out.show({ verdict, answer, reason, remedy, ...about });
      if (verdict === 'refused') process.exitCode = 1;
    });
}

async function partsOf({ database, secret, config, clock }: Core) {
  const reading = readOnly(database);
  const keys = await openKeys(reading, { current: secret, previous: previousSecret(config) }, clock);
  return { database: reading, keys, clock, issuer: baseUrlOf(config, config.port) };
}
