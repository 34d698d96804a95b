import { Command, Option } from 'commander';
import {
  createClient,
  deleteClient,
  endSecret,
  getClient,
  listClientsWithSecrets,
  rotateSecret,
  setClientPicture,
  updateClient,
} from '../clients/clients.ts';
import { CLIENT_FIELDS } from '../clients/fields.ts';
import { CreateClientRequest, RotateSecretRequest, UpdateClientRequest } from '../clients/schema.ts';
import type { Client } from '../clients/store.ts';
import { clientView, secretView } from '../clients/view.ts';
import type { Core } from '../core.ts';
import { invalid, notFound } from '../platform/failure.ts';
import { isSnowflake } from '../platform/ids/ids.ts';
import { accessCommands } from './access.ts';
import { apiScopeCommands } from './api-scopes.ts';
import { assignmentCommands } from './assign.ts';
import { consentApprovalCommands } from './consent-approval.ts';
import { checkInput, examples, type GetCommandContext, requireOptions } from './context.ts';
import { readFieldOptions, withFieldOptions } from './fields.ts';
import { collect, seconds } from './option-parsers.ts';
import { allPages, type PageOptions, withPageOptions } from './pages.ts';
import { type PictureField, pictureFrom, withPicture } from './picture.ts';
import { confirm, YES } from './prompt.ts';
import { CLI_ORIGIN as origin, withCore } from './session.ts';

type Given = Readonly<Record<string, unknown>>;

interface Additions {
  readonly addRedirectUri?: readonly string[];
  readonly addPostLogoutRedirectUri?: readonly string[];
}

/** The options of the fields; `--face` is the former name of `--endpoints`, accepted until 1.0. */
const withFields = (command: Command): Command =>
  withFieldOptions(command, CLIENT_FIELDS).addOption(new Option('--face <face>').argParser(collect).hideHelp());

function readFields(given: Given): { readonly [Name in keyof typeof CLIENT_FIELDS | 'faces']?: unknown } {
  const fields = readFieldOptions(CLIENT_FIELDS, given);
  return {
    ...fields,
    faces: given['face'],
    scopes: given['allScopes'] ? null : fields.scopes,
    // Setting one of the two removes the other.
    jwks: fields.jwks === undefined && fields.jwksUri ? null : fields.jwks,
    jwksUri: fields.jwksUri === undefined && fields.jwks ? null : fields.jwksUri,
  };
}

export function checkedClientId(id: string): string {
  if (!isSnowflake(id)) throw notFound(`There is no client with the id ${id}. List them with: tessera client list`);
  return id;
}

/** What the commands have in common. */
function clientTools(client: Command, getContext: GetCommandContext) {
  /** A command that takes the ID of an app. */
  const about = (name: string, description: string): Command =>
    client.command(name).description(description).argument('<clientId>', 'client ID, from: tessera client list');

  /** The action of a command that changes or reads an app and then prints it. */
  const showing =
    (work: (core: Core, id: string) => ReturnType<typeof getClient>) =>
    async (id: string, _options: unknown, command: Command): Promise<void> => {
      const { flags, out } = getContext(command);
      out.show(clientView(await withCore(flags, (core) => work(core, checkedClientId(id)))));
    };

  return { client, about, showing, getContext };
}

type ClientCommands = ReturnType<typeof clientTools>;

export function clientCommands(getContext: GetCommandContext): Command {
  const client = new Command('client').description(
    'manage apps: create, show, list, update, assign, unassign, set-role, assignments, access, preview, allow-scopes, disallow-scopes, api-scopes, allowed-clients, approve, withdraw-approval, rotate-secret, end-secret, disable, enable, delete',
  );

  const tools = clientTools(client, getContext);
  registrationCommands(tools);
  credentialCommands(tools);
  return client;
}

/** Registrations. */
function registrationCommands({ client, about, showing, getContext }: ClientCommands): void {
  examples(
    requireOptions(withFields(client.command('create')), '--name'),
    'tessera client create --name "My app" --redirect-uri http://localhost:8080/callback',
    'tessera client create --name "My app" --redirect-uri https://app.example.com/cb --scope openid --scope email',
    'tessera client create --name "My phone app" --type public --redirect-uri com.example.app:/cb',
    'tessera client create --name "My nightly job" --grant-type client_credentials',
    'tessera client create --name "My service" --redirect-uri https://app.example.com/cb --token-endpoint-auth-method private_key_jwt --jwks-uri https://app.example.com/jwks.json',
  )
    .description('register an app; its secret is shown only once')
    .option('--type <type>', 'confidential, or public for an app that cannot keep a secret (default: confidential)')
    .action(async (given: Given, command: Command) => {
      const fields = readFields(given);
      const grants = Array.isArray(fields.grantTypes) ? fields.grantTypes : ['authorization_code'];
      if (fields.redirectUris === undefined && grants.includes('authorization_code')) {
        throw invalid(
          '--redirect-uri is missing: give at least one, or --grant-type client_credentials for an app that acts on its own behalf.',
        );
      }
      const { flags, out } = getContext(command);
      const input = checkInput(CreateClientRequest, { ...fields, type: given['type'] });
      const created = await withCore(flags, (core) => createClient(core, input, origin), { mayBeNew: true });
      const { clientSecret } = created;
      if (clientSecret === undefined) out.show(clientView(created));
      else out.showOnce({ ...clientView(created), clientSecret }, 'clientSecret');
    });

  examples(about('show', 'show an app'), 'tessera client show 289236738748416000').action(showing(getClient));

  examples(withPageOptions(client.command('list')), 'tessera client list', 'tessera client list --limit 100 --json')
    .description('list apps')
    .action(async (options: PageOptions, command: Command) => {
      const { flags, out } = getContext(command);
      const clients = await withCore(flags, ({ database, clock }) => {
        const now = clock();
        return database.read(() => allPages((part) => listClientsWithSecrets(part, now), options));
      });
      out.list(clients.map(clientView), ['clientId', 'name', 'status', 'owner', 'createdAt']);
    });

  examples(
    withPicture(
      withFields(about('update', 'change the registration of an app; a list option replaces the whole list')),
    ),
    'tessera client update 289236738748416000 --redirect-uri https://app.example.com/cb --redirect-uri http://localhost:8080/cb',
    'tessera client update 289236738748416000 --picture logo.png',
    'tessera client update 289236738748416000 --add-redirect-uri http://localhost:8080/cb',
  )
    .option('--add-redirect-uri <uri>', 'add a redirect URI and keep the others; may be given several times', collect)
    .option(
      '--add-post-logout-redirect-uri <uri>',
      'add a post-logout redirect URI and keep the others; may be given several times',
      collect,
    )
    .option('--all-scopes', 'allow every scope')
    .action(async (id: string, fields: Given & Additions & PictureField, command: Command) => {
      const change = checkInput(UpdateClientRequest, readFields(fields));
      const { addRedirectUri = [], addPostLogoutRedirectUri = [] } = fields;
      const changesFields = Object.keys(change).length + addRedirectUri.length + addPostLogoutRedirectUri.length > 0;
      if (!changesFields && fields.picture === undefined) {
        throw invalid('Nothing to change: give at least one option. See: tessera client update --help');
      }
      const withAdded = (list: readonly string[], added: readonly string[]) =>
        added.length === 0 ? undefined : [...new Set([...list, ...added])];
      const changeOf = (client: Client): UpdateClientRequest => ({
        ...change,
        ...checkInput(UpdateClientRequest, {
          redirectUris: withAdded(change.redirectUris ?? client.redirectUris, addRedirectUri),
          postLogoutRedirectUris: withAdded(
            change.postLogoutRedirectUris ?? client.postLogoutRedirectUris,
            addPostLogoutRedirectUri,
          ),
        }),
      });
      await showing(async (core, clientId) => {
        const picture = await pictureFrom(core, fields);
        const updated = changesFields ? await updateClient(core, clientId, changeOf, origin) : undefined;
        if (picture !== undefined) return setClientPicture(core, clientId, picture, origin);
        return updated ?? getClient(core, clientId);
      })(id, fields, command);
    });
}

/** Who may use an app, its secrets, and its end. */
function credentialCommands({ about, showing, getContext }: ClientCommands): void {
  assignmentCommands(about, checkedClientId, getContext);
  accessCommands(about, checkedClientId, getContext);
  apiScopeCommands(about, checkedClientId, getContext);
  consentApprovalCommands(about, checkedClientId, getContext);

  examples(
    about('rotate-secret', 'create a new secret, shown only once; the previous one expires after a day'),
    'tessera client rotate-secret 289236738748416000',
    'tessera client rotate-secret 289236738748416000 --expire-previous-in 0',
  )
    .option(
      '--expire-previous-in <seconds>',
      'how long the previous secret stays valid; 0 ends it immediately',
      seconds,
    )
    .action(async (id: string, options: { expirePreviousIn?: number }, command: Command) => {
      const { flags, out } = getContext(command);
      const input = checkInput(RotateSecretRequest, { expirePreviousIn: options.expirePreviousIn });
      const made = await withCore(flags, (core) => rotateSecret(core, checkedClientId(id), input, origin));
      out.showOnce({ ...secretView(made.secret), clientSecret: made.clientSecret }, 'clientSecret');
    });

  examples(
    about('end-secret', 'invalidate one secret of an app immediately; its codes and tokens stay valid'),
    'tessera client end-secret 289236738748416000 289236738748416001',
  )
    .argument('<secretId>', 'ID of the secret, from: tessera client show <clientId>')
    .action(async (id: string, secretId: string, _options, command: Command) => {
      const { flags, out } = getContext(command);
      // The argument may be the secret itself, so it is not repeated.
      if (!isSnowflake(secretId)) throw notFound(`There is no secret with this id. See: tessera client show ${id}`);
      await withCore(flags, (core) => endSecret(core, checkedClientId(id), secretId, origin));
      out.say(`Invalidated the secret ${secretId}.`, { clientId: id, secretId, ended: true });
    });

  examples(
    about('disable', 'disable an app; its codes and tokens become invalid for good'),
    'tessera client disable 289236738748416000',
  ).action(showing((core, id) => updateClient(core, id, { status: 'disabled' }, origin)));
  examples(
    about('enable', 'enable an app again; codes and tokens from before stay invalid'),
    'tessera client enable 289236738748416000',
  ).action(showing((core, id) => updateClient(core, id, { status: 'active' }, origin)));

  examples(
    about('delete', 'delete an app with its secrets, tokens and consents; asks for confirmation in a terminal'),
    'tessera client delete 289236738748416000',
    'tessera client delete 289236738748416000 --yes',
  )
    .option(...YES)
    .action(async (id: string, options: { yes?: boolean }, command: Command) => {
      const { flags, out } = getContext(command);
      await withCore(flags, async (core) => {
        const found = await getClient(core, checkedClientId(id));
        await confirm(`This deletes the app ${found.client.name} (${id}).`, options);
        await deleteClient(core, id, origin);
      });
      out.say(`Deleted the client ${id}.`, { clientId: id, deleted: true });
    });
}
