import { Command } from 'commander';
import { createClient, deleteClient, getClient, rotateSecret, updateClient } from '../clients/clients.ts';
import { ClientChange, NewClient, NewSecret } from '../clients/schema.ts';
import { type Client, listClients, liveSecrets } from '../clients/store.ts';
import { clientView, secretView } from '../clients/view.ts';
import { isSnowflake } from '../identifiers/snowflake.ts';
import { invalidRequest, notFound } from '../oauth-error.ts';
import { validate } from '../validation/validate.ts';
import { type ContextOf, collect, given } from './context.ts';
import { CLI_ORIGIN as origin, withCore } from './session.ts';

interface Fields {
  readonly name?: string;
  readonly redirectUri?: readonly string[];
  readonly postLogoutRedirectUri?: readonly string[];
  readonly scope?: readonly string[];
  readonly allScopes?: boolean;
  readonly description?: string;
  readonly logoUrl?: string;
  readonly homepageUrl?: string;
  readonly policyUrl?: string;
  readonly termsUrl?: string;
  readonly owner?: string;
  readonly requirePkce?: boolean;
}

const withFields = (command: Command): Command =>
  command
    .option('--name <name>', 'the name that people see')
    .option('--redirect-uri <uri>', 'an address that answers may go to; may be given several times', collect)
    .option('--post-logout-redirect-uri <uri>', 'may be given several times', collect)
    .option('--scope <scope>', 'a scope that it may ask for; may be given several times; none is all', collect)
    .option('--description <text>', 'what it is')
    .option('--logo-url <url>', 'an https address; "" for none')
    .option('--homepage-url <url>', 'an https address; "" for none')
    .option('--policy-url <url>', 'an https address; "" for none')
    .option('--terms-url <url>', 'an https address; "" for none')
    .option('--owner <name>', 'who stands behind it; "" for nobody')
    .option('--require-pkce', 'it must use PKCE')
    .option('--no-require-pkce', 'it may use PKCE');

const orNull = (text: string | undefined): string | null | undefined => (text === '' ? null : text);

const readFields = (fields: Fields) =>
  given({
    name: fields.name,
    redirectUris: fields.redirectUri,
    postLogoutRedirectUris: fields.postLogoutRedirectUri,
    scopes: fields.allScopes ? null : fields.scope,
    description: orNull(fields.description),
    logoUrl: orNull(fields.logoUrl),
    homepageUrl: orNull(fields.homepageUrl),
    policyUrl: orNull(fields.policyUrl),
    termsUrl: orNull(fields.termsUrl),
    owner: orNull(fields.owner),
    requirePkce: fields.requirePkce,
  });

function checkedId(id: string): string {
  if (!isSnowflake(id)) throw notFound(`There is no client with the id ${id}. List them with: tessera client list`);
  return id;
}

export function clientCommands(contextOf: ContextOf): Command {
  const client = new Command('client').description('apps: create, show, list, update, rotate-secret, disable, delete');

  withFields(client.command('create'))
    .description('register an app; its secret is shown this once')
    .addHelpText(
      'after',
      '\nExample:\n  tessera client create --name "My app" --redirect-uri http://localhost:8080/callback',
    )
    .action(async (fields: Fields, command: Command) => {
      const { flags, out } = contextOf(command);
      const input = validate(NewClient, readFields(fields));
      const created = await withCore(flags, (core) => createClient(core, input, origin));
      out.show({ ...clientView(created), clientSecret: created.clientSecret });
    });

  client
    .command('show')
    .description('show an app')
    .argument('<clientId>')
    .action(async (id: string, _options, command: Command) => {
      const { flags, out } = contextOf(command);
      out.show(clientView(await withCore(flags, (core) => getClient(core, checkedId(id)))));
    });

  client
    .command('list')
    .description('list apps')
    .action(async (_options, command: Command) => {
      const { flags, out } = contextOf(command);
      const views = await withCore(flags, ({ database }) =>
        database.read(function* read() {
          const found = [];
          for (let after = '0'; ; ) {
            const part: Client[] = yield* listClients({ after, limit: 500 });
            for (const item of part)
              found.push(clientView({ client: item, secrets: yield* liveSecrets(item.id, Date.now()) }));
            if (part.length < 500) return found;
            after = part.at(-1)?.id ?? after;
          }
        }),
      );
      out.list(views, ['clientId', 'name', 'status', 'owner', 'createdAt']);
    });

  withFields(client.command('update'))
    .description('change an app’s registration')
    .argument('<clientId>')
    .option('--all-scopes', 'it may ask for every scope')
    .action(async (id: string, fields: Fields, command: Command) => {
      const { flags, out } = contextOf(command);
      const change = validate(ClientChange, readFields(fields));
      if (Object.keys(change).length === 0) throw invalidRequest('Nothing to change: give at least one field.');
      out.show(clientView(await withCore(flags, (core) => updateClient(core, checkedId(id), change, origin))));
    });

  client
    .command('rotate-secret')
    .description('give an app another secret, shown this once; the one before holds for a day')
    .argument('<clientId>')
    .option('--expire-previous-in <seconds>', 'how long the secret before still holds; 0 ends it at once')
    .action(async (id: string, options: { expirePreviousIn?: string }, command: Command) => {
      const { flags, out } = contextOf(command);
      const seconds = options.expirePreviousIn;
      const input = validate(
        NewSecret,
        given({ expirePreviousIn: seconds === undefined ? undefined : Number(seconds) }),
      );
      const { secret, clientSecret } = await withCore(flags, (core) =>
        rotateSecret(core, checkedId(id), input, origin),
      );
      out.show({ ...secretView(secret), clientSecret });
    });

  const states = [
    ['disable', 'disable an app; its codes and tokens are dead from now on, for ever', 'disabled'],
    ['enable', 'enable an app again; what was dead stays dead', 'active'],
  ] as const;
  for (const [name, description, status] of states) {
    client
      .command(name)
      .description(description)
      .argument('<clientId>')
      .action(async (id: string, _options, command: Command) => {
        const { flags, out } = contextOf(command);
        out.show(clientView(await withCore(flags, (core) => updateClient(core, checkedId(id), { status }, origin))));
      });
  }

  client
    .command('delete')
    .description('delete an app with its secrets, tokens and consents')
    .argument('<clientId>')
    .action(async (id: string, _options, command: Command) => {
      const { flags, out } = contextOf(command);
      await withCore(flags, (core) => deleteClient(core, checkedId(id), origin));
      out.say(`Deleted the client ${id}.`, { clientId: id, deleted: true });
    });

  return client;
}
