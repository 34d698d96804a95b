import { Command } from 'commander';
import type { Core } from '../core.ts';
import { openKeys } from '../keys/keys.ts';
import { baseUrlOf } from '../platform/config/config.ts';
import { previousSecret } from '../platform/config/secret-file.ts';
import type { Database } from '../platform/database/database.ts';
import { conflict, invalidRequest } from '../platform/oauth-error.ts';
import { explainToken } from '../protocol/token/explain.ts';
import { type ContextOf, examples } from './context.ts';
import { readHidden } from './password.ts';
import { type GlobalFlags, withCore } from './session.ts';

/** The same database, on which nothing can be written. */
const readOnly = (database: Database): Database => ({
  ...database,
  commit: () =>
    Promise.reject(
      conflict(
        'The signing keys of this database are yet to be made, or sealed anew. Start the server first: tessera serve',
      ),
    ),
});

export function explainCommand(contextOf: ContextOf): Command {
  return examples(
    new Command('explain'),
    'printf %s "$ACCESS_TOKEN" | tessera explain',
    'tessera explain --base-url https://id.example.com < token.txt',
  )
    .description('what becomes of an access or refresh token if it is presented now, and why: read from standard input')
    .option('--base-url <url>', 'the address that people and clients use (TESSERA_BASE_URL)')
    .addHelpText('after', '\nThe token is neither used nor shown. Exit status: 0 it is accepted, 1 it is refused.')
    .action(async (options: { baseUrl?: string }, command: Command) => {
      const { flags, out } = contextOf(command);
      const token = (await readHidden('Token: ')).trim().replace(/^Bearer /i, '');
      if (token === '')
        throw invalidRequest('There is no token on standard input: printf %s "$TOKEN" | tessera explain');
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
