import type { Command } from 'commander';
import { path, withApi } from './api.ts';
import { examples, type GetCommandContext } from './context.ts';
import { type PageOptions, withPageOptions } from './pages.ts';
import type { ClientView, ListedRow } from './records.ts';

/** Adds the commands about apps that no operator registered. */
export function unregisteredCommands(
  client: Command,
  about: (name: string, description: string) => Command,
  checkedClientId: (id: string) => string,
  getContext: GetCommandContext,
): void {
  examples(withPageOptions(client.command('unregistered')), 'tessera client unregistered')
    .description('list the apps that no operator has registered or accepted')
    .action(async (options: PageOptions, command: Command) => {
      const { flags, out } = getContext(command);
      const found = await withApi(flags, (api) => api.list<ListedRow>('/unregistered-clients', options));
      out.list(found, ['clientId', 'name', 'registeredBy', 'metadataUrl', 'createdAt', 'unusedUntil']);
    });

  examples(
    about('accept', 'accept an app that no operator registered: it passes for a registered one'),
    'tessera client accept 289236738748416000',
  ).action(async (id: string, _options: unknown, command: Command) => {
    const { flags, out } = getContext(command);
    out.show(await withApi(flags, (api) => api.put<ClientView>(path`/clients/${checkedClientId(id)}/acceptance`, {})));
  });

  examples(
    about(
      'end-acceptance',
      'no longer accept an app: people are warned and asked again; an app of a blocked domain is disabled',
    ),
    'tessera client end-acceptance 289236738748416000',
  ).action(async (id: string, _options: unknown, command: Command) => {
    const { flags, out } = getContext(command);
    await withApi(flags, (api) => api.delete(path`/clients/${checkedClientId(id)}/acceptance`));
    out.say(`People are warned of the app ${id} and asked again.`, { clientId: id, acceptedAt: null });
  });

  examples(
    about('end-self-registration', 'take over the registration of an app, which it then cannot change itself'),
    'tessera client end-self-registration 289236738748416000',
  ).action(async (id: string, _options: unknown, command: Command) => {
    const { flags, out } = getContext(command);
    await withApi(flags, (api) => api.delete(path`/clients/${checkedClientId(id)}/self-registration`));
    out.say(`The app ${id} can no longer change its registration.`, { clientId: id, managesItself: false });
  });

  const onDomain = (name: string, description: string): Command =>
    client
      .command(name)
      .description(description)
      .argument('<domain>', 'domain, such as app.example; .app.example is for everything below it as well');

  examples(
    onDomain(
      'block-domain',
      'refuse the metadata documents of a domain, and apps that register themselves and lead there; everything issued to them ends',
    ),
    'tessera client block-domain app.example',
    'tessera client block-domain .example.net',
  ).action(async (domain: string, _options: unknown, command: Command) => {
    const { flags, out } = getContext(command);
    out.show(await withApi(flags, (api) => api.put<ListedRow>(path`/blocked-domains/${domain}`, {})));
  });

  examples(
    onDomain('unblock-domain', 'let apps of a domain ask people again'),
    'tessera client unblock-domain app.example',
  ).action(async (domain: string, _options: unknown, command: Command) => {
    const { flags, out } = getContext(command);
    await withApi(flags, (api) => api.delete(path`/blocked-domains/${domain}`));
    out.say(`Apps of ${domain} may ask people again.`, { domain, blocked: false });
  });

  examples(client.command('blocked-domains'), 'tessera client blocked-domains')
    .description('list the blocked domains')
    .action(async (_options: unknown, command: Command) => {
      const { flags, out } = getContext(command);
      out.list(await withApi(flags, (api) => api.items<ListedRow>('/blocked-domains')), ['domain', 'createdAt']);
    });
}
