import { Command } from 'commander';
import { invalid, notFound } from '../platform/failure.ts';
import { isSnowflake } from '../platform/ids/ids.ts';
import { PRESET_NAMES, UPSTREAM_KINDS } from '../upstreams/rules/presets.ts';
import { CreateUpstreamRequest, UpdateUpstreamRequest } from '../upstreams/schema.ts';
import { type Api, path, withApi } from './api.ts';
import { checkInput, examples, type GetCommandContext } from './context.ts';
import { collect, wholeNumber } from './option-parsers.ts';
import { type PageOptions, withPageOptions } from './pages.ts';
import { confirm, readSecret, YES } from './prompt.ts';
import type { ListedRow, UpstreamView } from './records.ts';

const UPSTREAM = ['<upstream>', 'ID or name'] as const;

/** Finds the ID of an upstream by its ID or its name. */
export async function findUpstreamId(api: Api, which: string): Promise<string> {
  if (isSnowflake(which)) return which;
  const found = (await api.list<UpstreamView>('/upstreams', {})).find(({ name }) => name === which);
  if (found === undefined) throw notFound(`There is no upstream ${which}. List them with: tessera upstream list`);
  return found.id;
}

interface UpstreamOptions {
  readonly name?: string;
  readonly displayName?: string;
  readonly preset?: string;
  readonly at?: string;
  readonly kind?: string;
  readonly issuer?: string;
  readonly clientId?: string;
  readonly privateKeyStdin?: boolean;
  readonly teamId?: string;
  readonly keyId?: string;
  readonly secretExpires?: string;
  readonly clientSecretStdin?: boolean;
  readonly scope?: readonly string[];
  readonly signUp?: string;
  readonly signUpDomain?: readonly string[];
  readonly domain?: readonly string[];
  readonly position?: number;
  readonly map?: readonly string[];
}

async function fieldsOf({
  clientSecretStdin,
  privateKeyStdin,
  secretExpires,
  scope,
  signUpDomain,
  domain,
  map,
  ...given
}: UpstreamOptions) {
  if (clientSecretStdin === true && privateKeyStdin === true) {
    throw invalid('Give either --client-secret-stdin or --private-key-stdin.');
  }
  return {
    ...given,
    secretExpiresAt: secretExpires === undefined ? undefined : instantIn(secretExpires),
    privateKey: privateKeyStdin === true ? await readSecret('Private key: ') : undefined,
    scopes: scope,
    signUpDomains: signUpDomain && listed(signUpDomain),
    domains: domain && listed(domain),
    claimsMap: map === undefined ? undefined : claimsMapOf(map),
    clientSecret: clientSecretStdin === true ? await readSecret('Client secret: ') : undefined,
  };
}

/** A day is its beginning in UTC. */
const instantIn = (text: string): string => (/^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00:00Z` : text);

/** What a repeatable option lists: `none` for nothing. */
const listed = (entries: readonly string[]): readonly string[] => entries.filter((entry) => entry !== 'none');

/** `name=/pointer` */
function claimsMapOf(entries: readonly string[]): Record<string, string> {
  const pairs = listed(entries).map((entry) => entry.split(/=(.*)/s, 2));
  return Object.fromEntries(pairs.map(([field = '', pointer = '']) => [field, pointer]));
}

/** The options that a new upstream and a change have in common. */
const withFields = (command: Command): Command =>
  command
    .option('--display-name <name>', 'name on the button: “Continue with …”')
    .option('--client-id <id>', 'client ID that the provider gave this server')
    .option('--client-secret-stdin', 'read the client secret from standard input, or ask for it in a terminal')
    .option('--private-key-stdin', 'with the kind apple: read the .p8 file from standard input')
    .option('--team-id <id>', 'with the kind apple: ID of the team')
    .option('--key-id <id>', 'with the kind apple: ID of the private key')
    .option('--secret-expires <date>', 'when the client secret ends, such as 2027-01-31; doctor reminds of it')
    .option('--scope <scope>', 'a scope to request (repeatable)', collect)
    .option('--sign-up <mode>', 'who may create an account with it: nobody, invited, domains or anyone')
    .option(
      '--sign-up-domain <domain>',
      'with domains: a domain of email addresses; none for no domain (repeatable)',
      collect,
    )
    .option(
      '--domain <domain>',
      'a domain of email addresses for which it is authoritative; none for no domain (repeatable)',
      collect,
    )
    .option(
      '--map <field=pointer>',
      'write a claim into the account: name, language, picture or groups, by a JSON pointer; none for nothing (repeatable)',
      collect,
    )
    .option('--position <number>', 'the buttons are in this order', wholeNumber(0, 1000));

export function upstreamCommands(getContext: GetCommandContext): Command {
  const upstream = new Command('upstream').description(
    'manage other providers through which people sign in: create, show, list, update, test, preview, disable, enable, delete',
  );
  recordCommands(upstream, getContext);
  stateCommands(upstream, getContext);
  return upstream;
}

/** The registrations. */
function recordCommands(upstream: Command, getContext: GetCommandContext): void {
  examples(
    withFields(upstream.command('create')),
    'tessera upstream create --name google --preset google --client-id 1234.apps.googleusercontent.com --client-secret-stdin',
    'tessera upstream create --name github --preset github --client-id Iv1.0123456789abcdef --client-secret-stdin',
    'tessera upstream create --name apple --preset apple --client-id com.example.web --team-id ABCDE12345 --key-id FGHIJ67890 --private-key-stdin < AuthKey_FGHIJ67890.p8',
    'tessera upstream create --name staff --issuer https://id.example.com --client-id tessera --client-secret-stdin --sign-up domains --sign-up-domain example.com',
  )
    .description('register another provider; the sign-in page offers it within ten seconds')
    .requiredOption('--name <slug>', '2 to 32 characters of a-z, 0-9 and "-"; it is in the redirect URI')
    .option('--preset <name>', `a well-known provider: ${PRESET_NAMES.join(', ')}`)
    .option(
      '--at <place>',
      'with a preset: the tenant of Microsoft Entra, the domain of Okta, the URL of the realm of Keycloak, the base URL of another Tessera or of a GitHub Enterprise',
    )
    .option('--kind <kind>', `${UPSTREAM_KINDS.join(', ')} (default: that of the preset, or oidc)`)
    .option('--issuer <url>', 'issuer of the provider, unless a preset has it')
    .action(async (options: UpstreamOptions, command: Command) => {
      const { flags, out } = getContext(command);
      const input = checkInput(CreateUpstreamRequest, await fieldsOf(options));
      out.show(await withApi(flags, (api) => api.post<UpstreamView>('/upstreams', input)));
    });

  examples(upstream.command('show'), 'tessera upstream show google')
    .description('show an upstream, with the redirect URI to register at the provider')
    .argument(...UPSTREAM)
    .action(async (which: string, _options, command: Command) => {
      const { flags, out } = getContext(command);
      out.show(
        await withApi(flags, async (api) =>
          api.get<UpstreamView>(path`/upstreams/${await findUpstreamId(api, which)}`),
        ),
      );
    });

  examples(withPageOptions(upstream.command('list')), 'tessera upstream list')
    .description('list upstreams')
    .action(async (options: PageOptions, command: Command) => {
      const { flags, out } = getContext(command);
      const found = await withApi(flags, (api) => api.list<UpstreamView>('/upstreams', options));
      out.list(found, ['id', 'name', 'kind', 'issuer', 'signUp', 'status']);
    });

  examples(
    withFields(upstream.command('update')),
    'tessera upstream update google --sign-up anyone',
    'tessera upstream update staff --domain example.com --sign-up domains',
    'tessera upstream update staff --domain none --sign-up anyone',
    'tessera upstream update google --client-secret-stdin',
  )
    .description('change an upstream')
    .argument(...UPSTREAM)
    .action(async (which: string, options: UpstreamOptions, command: Command) => {
      const { flags, out } = getContext(command);
      const change = checkInput(UpdateUpstreamRequest, await fieldsOf(options));
      if (Object.values(change).every((value) => value === undefined)) {
        throw invalid('Nothing to change: give at least one option. See: tessera upstream update --help');
      }
      out.show(
        await withApi(flags, async (api) =>
          api.patch<UpstreamView>(path`/upstreams/${await findUpstreamId(api, which)}`, change),
        ),
      );
    });
}

interface Disabled {
  readonly upstream: UpstreamView;
  readonly ended: { readonly users: number; readonly sessions: number };
}

/** Whether people can use them. */
function stateCommands(upstream: Command, getContext: GetCommandContext): void {
  examples(
    upstream.command('disable'),
    'tessera upstream disable google',
    'tessera upstream disable google --end-sessions --yes',
  )
    .description('let nobody sign in through an upstream any more')
    .argument(...UPSTREAM)
    .option('--end-sessions', 'end everything that people were signed in to through it, tokens included')
    .option(...YES)
    .action(async (which: string, options: { endSessions?: boolean; yes?: boolean }, command: Command) => {
      const { flags, out } = getContext(command);
      const { endSessions = false } = options;
      const { upstream: changed, ended } = await withApi(flags, async (api) => {
        const id = await findUpstreamId(api, which);
        if (endSessions) await confirm('This signs everybody out who signed in through it.', options);
        return api.post<Disabled>(path`/upstreams/${id}/disable`, { endSessions });
      });
      const done = endSessions ? ` Ended ${ended.sessions} sessions of ${ended.users} users.` : '';
      out.say(`Nobody signs in through ${changed.name} any more.${done}`, { upstream: changed, ended });
    });

  examples(upstream.command('test'), 'tessera upstream test google')
    .description('fetch the metadata and the keys of an upstream, and ask whether it knows the client')
    .argument(...UPSTREAM)
    .addHelpText('after', '\nExit status: 1 if it found a problem, so that nobody could sign in.')
    .action(async (which: string, _options, command: Command) => {
      const { flags, out } = getContext(command);
      const { steps } = await withApi(flags, async (api) =>
        api.post<{ readonly steps: readonly ListedRow[] }>(
          path`/upstreams/${await findUpstreamId(api, which)}/test`,
          {},
        ),
      );
      out.list(steps, ['step', 'level', 'found'], { whole: true });
      if (steps.some(({ level }) => level === 'problem')) process.exitCode = 1;
    });

  examples(upstream.command('preview'), `tessera upstream preview staff --claims '{"sub":"1234","groups":["ops"]}'`)
    .description('show what a token would write into an account: read from standard input, or its claims')
    .argument(...UPSTREAM)
    .option('--claims <json>', 'the claims, instead of a token on standard input')
    .action(async (which: string, options: { claims?: string }, command: Command) => {
      const { flags, out } = getContext(command);
      const token = options.claims ?? (await readSecret('Token: '));
      out.show(
        await withApi(flags, async (api) =>
          api.post<ListedRow>(path`/upstreams/${await findUpstreamId(api, which)}/preview`, { token }),
        ),
      );
    });

  examples(upstream.command('enable'), 'tessera upstream enable google')
    .description('let people sign in through an upstream again; what ended stays ended')
    .argument(...UPSTREAM)
    .action(async (which: string, _options, command: Command) => {
      const { flags, out } = getContext(command);
      out.show(
        await withApi(flags, async (api) =>
          api.post<UpstreamView>(path`/upstreams/${await findUpstreamId(api, which)}/enable`, {}),
        ),
      );
    });

  examples(upstream.command('delete'), 'tessera upstream delete google', 'tessera upstream delete google --yes')
    .description('delete a disabled upstream, with what people connected and are signed in to through it')
    .argument(...UPSTREAM)
    .option(...YES)
    .action(async (which: string, options: { yes?: boolean }, command: Command) => {
      const { flags, out } = getContext(command);
      const id = await withApi(flags, async (api) => {
        const found = await findUpstreamId(api, which);
        await confirm(`This deletes ${which} and what people connected through it.`, options);
        await api.delete(path`/upstreams/${found}`);
        return found;
      });
      out.say(`Deleted the upstream ${which}.`, { id, deleted: true });
    });
}
