import type { Command } from 'commander';
import { type AllowedScopes, allowApiScopes, apiScopesOf, listAllowedClients } from '../clients/api-scopes.ts';
import { AllowScopesRequest } from '../clients/schema.ts';
import { findResource } from '../clients/store.ts';
import type { Core } from '../core.ts';
import { notFound } from '../platform/failure.ts';
import { isSnowflake } from '../platform/ids/ids.ts';
import { checkInput, examples, type GetCommandContext, requireOptions } from './context.ts';
import { collect } from './option-parsers.ts';
import { allPages, type PageOptions, withPageOptions } from './pages.ts';
import { CLI_ORIGIN as origin, withCore } from './session.ts';

/** The ID of an API by its client ID or its resource identifier. */
async function apiIdOf({ database }: Core, api: string): Promise<string> {
  if (isSnowflake(api)) return api;
  const found = await database.read(() => findResource({ resource: api }));
  if (found === undefined)
    throw notFound(`There is no API with the resource ${api}. List them with: tessera client list`);
  return found.id;
}

const shown = ({ apiId, clientId, scopes }: AllowedScopes) => ({ apiId, clientId, scopes });

/** Adds the commands about which scopes of APIs an app may request. */
export function apiScopeCommands(
  about: (name: string, description: string) => Command,
  checkedClientId: (id: string) => string,
  getContext: GetCommandContext,
): void {
  const withApi = (command: Command): Command =>
    requireOptions(command.option('--api <api>', 'client ID or resource identifier of the API'), '--api');

  examples(
    requireOptions(
      withApi(about('allow-scopes', 'let an app request these scopes of an API, and no others of it')).option(
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
    const allowed = await withCore(flags, async (core) =>
      allowApiScopes(core, { apiId: await apiIdOf(core, options.api), clientId: checkedClientId(id), scopes }, origin),
    );
    out.show(shown(allowed));
  });

  examples(
    withApi(about('disallow-scopes', 'take all scopes of an API away from an app; they end in its tokens immediately')),
    'tessera client disallow-scopes 289236738748416000 --api https://api.example.com/notes',
  ).action(async (id: string, options: { api: string }, command: Command) => {
    const { flags, out } = getContext(command);
    const clientId = checkedClientId(id);
    const apiId = await withCore(flags, async (core) => {
      const found = await apiIdOf(core, options.api);
      await allowApiScopes(core, { apiId: found, clientId, scopes: [] }, origin);
      return found;
    });
    out.say(`The app ${clientId} may request no scopes of the API ${apiId}.`, { apiId, clientId, scopes: [] });
  });

  examples(
    about('api-scopes', 'list the scopes of APIs that an app may request'),
    'tessera client api-scopes 289236738748416000',
  ).action(async (id: string, _options: unknown, command: Command) => {
    const { flags, out } = getContext(command);
    const found = await withCore(flags, (core) => apiScopesOf(core, checkedClientId(id)));
    const rows = found.map(({ apiId, name, resource, scopes }) => ({ apiId, name, resource, scopes }));
    out.list(rows, ['apiId', 'name', 'resource', 'scopes']);
  });

  examples(
    withPageOptions(about('allowed-clients', 'list the apps that may request scopes of an API')),
    'tessera client allowed-clients 289236738748416000',
  ).action(async (id: string, part: PageOptions, command: Command) => {
    const { flags, out } = getContext(command);
    const apiId = checkedClientId(id);
    const found = await withCore(flags, ({ database }) =>
      database.read(() => allPages((page) => listAllowedClients(apiId, page), part)),
    );
    out.list(found.map(shown), ['clientId', 'scopes']);
  });
}
