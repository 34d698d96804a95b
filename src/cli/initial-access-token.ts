import { Command } from 'commander';
import { CreateInitialAccessTokenRequest } from '../clients/initial-access-tokens.ts';
import { notFound } from '../platform/failure.ts';
import { isSnowflake } from '../platform/ids/ids.ts';
import { path, withApi } from './api.ts';
import { checkInput, examples, type GetCommandContext } from './context.ts';
import { wholeNumber } from './option-parsers.ts';
import { type PageOptions, withPageOptions } from './pages.ts';
import type { ListedRow } from './records.ts';

interface CreateOptions {
  readonly name: string;
  readonly days?: number;
  readonly uses?: number;
}

/** What the end of a token did, as the admin API answers. */
interface Revoked {
  readonly clientIds: readonly string[];
  readonly appsEnded: boolean;
}

/** The commands about tokens with which apps may register themselves: RFC 7591. */
export function initialAccessTokenCommands(getContext: GetCommandContext): Command {
  const token = new Command('initial-access-token').description(
    'manage tokens with which apps may register themselves: create, list, revoke',
  );

  examples(
    token.command('create'),
    'tessera initial-access-token create --name "Partner portal"',
    'tessera initial-access-token create --name "Partner portal" --uses 20 --days 90',
  )
    .description('create a token; it is shown only once')
    .requiredOption('--name <name>', 'whom or what it is for')
    .option('--uses <number>', 'how many apps may register with it (default: 1)', wholeNumber(1, 10_000))
    .option('--days <number>', 'for how many days it is valid (default: 30)', wholeNumber(1, 365))
    .action(async ({ name, days, uses }: CreateOptions, command: Command) => {
      const { flags, out } = getContext(command);
      const input = checkInput(CreateInitialAccessTokenRequest, { name, days, mostUses: uses });
      const create = withApi(flags, (api) =>
        api.post<ListedRow & { initialAccessToken: string }>('/initial-access-tokens', input),
      );
      out.showOnce(await create, 'initialAccessToken');
    });

  examples(withPageOptions(token.command('list')), 'tessera initial-access-token list')
    .description('list tokens, including those that ended')
    .action(async (part: PageOptions, command: Command) => {
      const { flags, out } = getContext(command);
      const tokens = await withApi(flags, (api) => api.list<ListedRow>('/initial-access-tokens', part));
      out.list(tokens, ['id', 'name', 'status', 'uses', 'mostUses', 'expiresAt', 'lastUsedAt']);
    });

  examples(
    token.command('revoke'),
    'tessera initial-access-token revoke 289236738748416000',
    'tessera initial-access-token revoke 289236738748416000 --end-apps',
  )
    .description('revoke a token: no app registers with it any more')
    .argument('<id>', 'ID of the token, not the token itself')
    .option('--end-apps', 'disable the apps that registered with it, which ends their tokens')
    .action(async (id: string, { endApps = false }: { readonly endApps?: boolean }, command: Command) => {
      const { flags, out } = getContext(command);
      // The argument may be the token itself, so it is not repeated.
      if (!isSnowflake(id))
        throw notFound(
          'There is no initial access token with this id. List them with: tessera initial-access-token list',
        );
      const { clientIds, appsEnded } = await withApi(flags, (api) =>
        api.delete<Revoked>(path`/initial-access-tokens/${id}`, { endApps: String(endApps) }),
      );
      const apps = `${clientIds.length} ${clientIds.length === 1 ? 'app' : 'apps'}`;
      const end = appsEnded ? `Disabled: ${apps} that registered with it.` : `It registered ${apps}, which go on.`;
      out.say(`Revoked the initial access token ${id}.\n${end}`, { id, revoked: true, clientIds, appsEnded });
    });

  return token;
}
