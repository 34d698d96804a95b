import type { Command } from 'commander';
import { ApproveScopeRequest, AskScopeRequest, DeclineScopeRequest } from '../clients/schema.ts';
import { path, withApi } from './api.ts';
import { checkInput, examples, type GetCommandContext, requireOptions } from './context.ts';
import { type PageOptions, withPageOptions } from './pages.ts';
import type { ListedRow, ScopeRequestView } from './records.ts';

const APP = '289236738748416000';
const REQUEST = '289236738748416001';
const COLUMNS = ['id', 'scope', 'resource', 'status', 'askedBy', 'askedAt', 'reason', 'answer'];

/** Adds the commands by which developers ask for scopes, and operators decide. */
export function scopeRequestCommands(
  client: Command,
  about: (name: string, description: string) => Command,
  checkedClientId: (id: string) => string,
  getContext: GetCommandContext,
): void {
  const aboutRequest = (name: string, description: string): Command =>
    about(name, description).argument('<requestId>', 'ID of the request, from: tessera client scope-requests');
  const oneRequest = (id: string, requestId: string): string =>
    path`/clients/${checkedClientId(id)}/scope-requests/${requestId}`;

  examples(
    requireOptions(
      about('request-scope', 'ask operators for one more scope of an app; it goes on with those that it has')
        .option('--scope <scope>', 'the scope')
        .option('--resource <resource>', 'resource identifier of the API, for a scope of an API')
        .option('--reason <text>', 'what the app needs it for'),
      '--scope',
      '--reason',
    ),
    `tessera client request-scope ${APP} --scope phone --reason "To call people back"`,
  ).action(async (id: string, options: Readonly<Record<string, string>>, command: Command) => {
    const { flags, out } = getContext(command);
    const input = checkInput(AskScopeRequest, options);
    const ofClient = path`/clients/${checkedClientId(id)}/scope-requests`;
    out.show(await withApi(flags, (api) => api.post<ScopeRequestView>(ofClient, input)));
  });

  examples(
    withPageOptions(
      client
        .command('scope-requests')
        .description('list the scope requests that wait for an operator, or all those of one app')
        .argument('[clientId]', 'client ID, from: tessera client list'),
    ),
    'tessera client scope-requests',
    `tessera client scope-requests ${APP}`,
  ).action(async (id: string | undefined, part: PageOptions, command: Command) => {
    const { flags, out } = getContext(command);
    const found = await withApi(flags, (api) =>
      id === undefined
        ? api.list<ListedRow>('/scope-requests', part)
        : api.items<ListedRow>(path`/clients/${checkedClientId(id)}/scope-requests`),
    );
    out.list(found, id === undefined ? ['clientId', ...COLUMNS] : COLUMNS);
  });

  examples(
    aboutRequest('approve-scope', 'approve a scope request: the app may request the scope').option(
      '--answer <text>',
      'why, for the developer',
    ),
    `tessera client approve-scope ${APP} ${REQUEST}`,
  ).action(async (id: string, requestId: string, options: { answer?: string }, command: Command) => {
    const { flags, out } = getContext(command);
    const input = checkInput(ApproveScopeRequest, options);
    out.show(await withApi(flags, (api) => api.post<ScopeRequestView>(`${oneRequest(id, requestId)}/approve`, input)));
  });

  examples(
    requireOptions(
      aboutRequest('decline-scope', 'decline a scope request').option('--answer <text>', 'why, for the developer'),
      '--answer',
    ),
    `tessera client decline-scope ${APP} ${REQUEST} --answer "The scope roles is enough"`,
  ).action(async (id: string, requestId: string, options: { answer: string }, command: Command) => {
    const { flags, out } = getContext(command);
    const input = checkInput(DeclineScopeRequest, options);
    out.show(await withApi(flags, (api) => api.post<ScopeRequestView>(`${oneRequest(id, requestId)}/decline`, input)));
  });

  examples(
    aboutRequest('withdraw-scope-request', 'withdraw a scope request that waits'),
    `tessera client withdraw-scope-request ${APP} ${REQUEST}`,
  ).action(async (id: string, requestId: string, _options: unknown, command: Command) => {
    const { flags, out } = getContext(command);
    await withApi(flags, (api) => api.delete(oneRequest(id, requestId)));
    out.say(`Withdrew the request ${requestId}.`, { clientId: id, id: requestId, withdrawn: true });
  });
}
