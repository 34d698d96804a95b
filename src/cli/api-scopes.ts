import type { Command } from 'commander';
import { AllowScopesRequest } from '../clients/schema.ts';
import { Failure, invalid, notFound } from '../platform/failure.ts';
import { isSnowflake } from '../platform/ids/ids.ts';
import { type Api, path, withApi } from './api.ts';
import { checkInput, examples, type GetCommandContext, requireOptions } from './context.ts';
import { collect } from './option-parsers.ts';
import { type PageOptions, withPageOptions } from './pages.ts';
import type { ClientView, ListedRow } from './records.ts';

/** The ID of an API by its client ID or its resource identifier. */
async function apiIdOf(api: Api, which: string): Promise<string> {
  if (isSnowflake(which)) return which;
  const found = (await api.list<ClientView>('/clients', {})).find(({ resource }) => resource === which);
  if (found === undefined) {
    throw notFound(`There is no API with the resource ${which}. List them with: tessera client list`);
  }
  return found.clientId;
}

/** Whether a client is an API that declares all of these scopes. */
async function declares(api: Api, clientId: string, scopes: readonly string[]): Promise<boolean> {
  const { resourceScopes } = await api.get<{ readonly resourceScopes: readonly { readonly name: string }[] | null }>(
    path`/clients/${clientId}`,
  );
  return scopes.every((name) => resourceScopes?.some((scope) => scope.name === name));
}

/** Adds the commands about which scopes of APIs an app may request. */
export function apiScopeCommands(
  about: (name: string, description: string) => Command,
  checkedClientId: (id: string) => string,
  getContext: GetCommandContext,
): void {
  const withApiOption = (command: Command): Command =>
    requireOptions(command.option('--api <api>', 'client ID or resource identifier of the API'), '--api');

  examples(
    requireOptions(
      withApiOption(about('allow-scopes', 'let an app request these scopes of an API, and no others of it')).option(
        '--scope <scope>',
        'scope that the API declares; may be given several times',
        collect,
      ),
      '--scope',
    ),
    'tessera client allow-scopes 289236738748416000 --api https://api.example.com/notes --scope notes.read',
  ).action(async (id: string, options: { api: string; scope: readonly string[] }, command: Command) => {
    const { flags, out } = getContext(command);
    const { scopes } = checkInput(AllowScopesRequest, { scopes: options.scope });
    const allowed = await withApi(flags, async (api) => {
      const apiId = await apiIdOf(api, options.api);
      const clientId = checkedClientId(id);
      try {
        return await api.put<ListedRow>(path`/clients/${apiId}/allowed-clients/${clientId}`, { scopes });
      } catch (error) {
        if (!(error instanceof Failure && error.kind === 'invalid') || apiId === clientId) throw error;
        if (!(await declares(api, clientId, scopes)) || (await declares(api, apiId, scopes))) throw error;
        throw invalid(
          `${clientId} is the API, and ${apiId} the app. Exchange the two: tessera client allow-scopes ${apiId} --api ${clientId} ${scopes.map((name) => `--scope ${name}`).join(' ')}. Nothing was changed.`,
        );
      }
    });
    out.show(allowed);
  });

  examples(
    withApiOption(
      about('disallow-scopes', 'take all scopes of an API away from an app; they end in its tokens immediately'),
    ),
    'tessera client disallow-scopes 289236738748416000 --api https://api.example.com/notes',
  ).action(async (id: string, options: { api: string }, command: Command) => {
    const { flags, out } = getContext(command);
    const clientId = checkedClientId(id);
    const apiId = await withApi(flags, async (api) => {
      const found = await apiIdOf(api, options.api);
      await api.delete(path`/clients/${found}/allowed-clients/${clientId}`);
      return found;
    });
    out.say(`The app ${clientId} may request no scopes of the API ${apiId}.`, { apiId, clientId, scopes: [] });
  });

  examples(
    about('api-scopes', 'list the scopes of APIs that an app may request'),
    'tessera client api-scopes 289236738748416000',
  ).action(async (id: string, _options: unknown, command: Command) => {
    const { flags, out } = getContext(command);
    const found = await withApi(flags, (api) => api.items<ListedRow>(path`/clients/${checkedClientId(id)}/api-scopes`));
    out.list(found, ['apiId', 'name', 'resource', 'scopes']);
  });

  examples(
    withPageOptions(about('allowed-clients', 'list the apps that may request scopes of an API')),
    'tessera client allowed-clients 289236738748416000',
  ).action(async (id: string, part: PageOptions, command: Command) => {
    const { flags, out } = getContext(command);
    const apiId = checkedClientId(id);
    const found = await withApi(flags, (api) => api.list<ListedRow>(path`/clients/${apiId}/allowed-clients`, part));
    out.list(found, ['clientId', 'scopes']);
  });
}
