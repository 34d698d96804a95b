import { Command, Option } from 'commander';
import { CLIENT_FIELDS } from '../clients/fields.ts';
import { CreateClientRequest, RotateSecretRequest, UpdateClientRequest } from '../clients/schema.ts';
import { invalid, notFound } from '../platform/failure.ts';
import { isSnowflake } from '../platform/ids/ids.ts';
import { accessCommands } from './access.ts';
import { type Api, path, withApi } from './api.ts';
import { apiScopeCommands } from './api-scopes.ts';
import { assignmentCommands } from './assign.ts';
import { checkedClientId } from './client-id.ts';
import { clientLogCommand } from './client-log.ts';
import { consentApprovalCommands } from './consent-approval.ts';
import { checkInput, examples, type GetCommandContext, requireOptions } from './context.ts';
import { readFieldOptions, withFieldOptions } from './fields.ts';
import { collect, seconds } from './option-parsers.ts';
import { type PageOptions, withPageOptions } from './pages.ts';
import { type PictureField, savePicture, withPicture } from './picture.ts';
import { confirm, YES } from './prompt.ts';
import type { ClientView } from './records.ts';
import { describeReplaced, replacesList } from './replaced-lists.ts';
import { scopeRequestCommands } from './scope-requests.ts';
import { unregisteredCommands } from './unregistered.ts';

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

/** What the commands have in common. */
function clientTools(client: Command, getContext: GetCommandContext) {
  /** A command that takes the ID of an app. */
  const about = (name: string, description: string): Command =>
    client.command(name).description(description).argument('<clientId>', 'client ID, from: tessera client list');

  /** The action of a command that changes or reads an app and then prints it. */
  const showing =
    (work: (api: Api, id: string) => Promise<ClientView>) =>
    async (id: string, _options: unknown, command: Command): Promise<void> => {
      const { flags, out } = getContext(command);
      out.show(await withApi(flags, (api) => work(api, checkedClientId(id))));
    };

  return { client, about, showing, getContext };
}

type ClientCommands = ReturnType<typeof clientTools>;

export function clientCommands(getContext: GetCommandContext): Command {
  const client = new Command('client').description(
    'manage apps: create, show, list, update, assign, unassign, set-role, assignments, access, preview, allow-scopes, disallow-scopes, api-scopes, allowed-clients, approve, withdraw-approval, request-scope, scope-requests, approve-scope, decline-scope, withdraw-scope-request, log, unregistered, accept, end-acceptance, end-self-registration, block-domain, unblock-domain, blocked-domains, rotate-secret, end-secret, disable, enable, delete',
  );

  const tools = clientTools(client, getContext);
  registrationCommands(tools);
  credentialCommands(tools);
  clientLogCommand(tools.about, checkedClientId, getContext);
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
      const create = (api: Api) => api.post<ClientView & { clientSecret?: string }>('/clients', input);
      const created = await withApi(flags, create, { mayBeNew: true });
      if (created.clientSecret === undefined) out.show(created);
      else out.showOnce(created, 'clientSecret');
    });

  examples(about('show', 'show an app'), 'tessera client show 289236738748416000').action(
    showing((api, id) => api.get(path`/clients/${id}`)),
  );

  examples(withPageOptions(client.command('list')), 'tessera client list', 'tessera client list --limit 100 --json')
    .description('list apps')
    .action(async (options: PageOptions, command: Command) => {
      const { flags, out } = getContext(command);
      const found = await withApi(flags, (api) => api.list<ClientView>('/clients', options));
      out.list(found, ['clientId', 'name', 'status', 'owner', 'createdAt']);
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
      const withAdded = (list: readonly string[] = [], added: readonly string[]) =>
        added.length === 0 ? undefined : [...new Set([...list, ...added])];
      const { out } = getContext(command);
      let replaced: readonly string[] = [];
      await showing(async (api, clientId) => {
        const client = path`/clients/${clientId}`;
        const before = replacesList(change) ? await api.get<ClientView>(client) : undefined;
        const changeOf = (registered: Partial<ClientView>) => ({
          ...change,
          ...checkInput(UpdateClientRequest, {
            redirectUris: withAdded(change.redirectUris ?? registered.redirectUris, addRedirectUri),
            postLogoutRedirectUris: withAdded(
              change.postLogoutRedirectUris ?? registered.postLogoutRedirectUris,
              addPostLogoutRedirectUri,
            ),
          }),
        });
        const addsToLists = addRedirectUri.length + addPostLogoutRedirectUri.length > 0;
        const save = () =>
          addsToLists ? api.change<ClientView>(client, changeOf) : api.patch<ClientView>(client, change);
        // First: what the other fields must be was checked here, and whether it is a picture, only the server knows.
        const pictured = await savePicture<ClientView>(api, client, fields);
        const changed = changesFields ? await save() : (pictured ?? (await api.get<ClientView>(client)));
        replaced = before === undefined ? [] : describeReplaced(before, changed);
        return changed;
      })(id, fields, command);
      for (const text of replaced) out.note(text);
    });
}

/** Who may use an app, its secrets, and its end. */
function credentialCommands({ client, about, showing, getContext }: ClientCommands): void {
  assignmentCommands(about, checkedClientId, getContext);
  accessCommands(about, checkedClientId, getContext);
  apiScopeCommands(about, checkedClientId, getContext);
  consentApprovalCommands(about, checkedClientId, getContext);
  scopeRequestCommands(client, about, checkedClientId, getContext);
  unregisteredCommands(client, about, checkedClientId, getContext);

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
      const { secrets: _, ...made } = await withApi(flags, (api) =>
        api.post<Record<string, unknown>>(path`/clients/${checkedClientId(id)}/secrets`, input),
      );
      out.showOnce(made, 'clientSecret');
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
      await withApi(flags, (api) => api.delete(path`/clients/${checkedClientId(id)}/secrets/${secretId}`));
      out.say(`Invalidated the secret ${secretId}.`, { clientId: id, secretId, ended: true });
    });

  examples(
    about('disable', 'disable an app; its codes and tokens become invalid for good'),
    'tessera client disable 289236738748416000',
  ).action(showing((api, id) => api.patch(path`/clients/${id}`, { status: 'disabled' })));
  examples(
    about('enable', 'enable an app again; codes and tokens from before stay invalid'),
    'tessera client enable 289236738748416000',
  ).action(showing((api, id) => api.patch(path`/clients/${id}`, { status: 'active' })));

  examples(
    about('delete', 'delete an app with its secrets, tokens and consents; asks for confirmation in a terminal'),
    'tessera client delete 289236738748416000',
    'tessera client delete 289236738748416000 --yes',
  )
    .option(...YES)
    .action(async (id: string, options: { yes?: boolean }, command: Command) => {
      const { flags, out } = getContext(command);
      await withApi(flags, async (api) => {
        const { name } = await api.get<ClientView>(path`/clients/${checkedClientId(id)}`);
        await confirm(`This deletes the app ${name} (${id}).`, options);
        await api.delete(path`/clients/${id}`);
      });
      out.say(`Deleted the client ${id}.`, { clientId: id, deleted: true });
    });
}
