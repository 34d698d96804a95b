import { Command, Option } from 'commander';
import { PROFILE_FIELDS } from '../accounts/fields.ts';
import { BanRequest, CreateUserRequest, SuspensionRequest, UpdateUserRequest } from '../accounts/schema.ts';
import { invalid, notFound } from '../platform/failure.ts';
import { accountId } from './account-id.ts';
import { type Api, path, withApi } from './api.ts';
import { findClientId } from './client-id.ts';
import { checkInput, examples, type GetCommandContext, requireOptions } from './context.ts';
import { readFieldOptions, withFieldOptions } from './fields.ts';
import { noteDefaultBaseUrl } from './link-note.ts';
import { describeMade, END_MADE, type MadeView } from './made.ts';
import { futureTime } from './option-parsers.ts';
import { type PageOptions, withPageOptions } from './pages.ts';
import { type PictureField, savePicture, withPicture } from './picture.ts';
import { confirm, LAST_OWNER, readSecret, YES } from './prompt.ts';
import type { ConnectionView, ListedRow, UserView } from './records.ts';
import { roleCommands } from './roles.ts';
import { identityCommands, supportCommands } from './support.ts';
import { findInOrder } from './swapped.ts';

type Given = Readonly<Record<string, unknown>>;

const withFields = (command: Command): Command =>
  withFieldOptions(command, PROFILE_FIELDS)
    .option('--password-stdin', 'read the password from standard input, or ask for it in a terminal')
    .addOption(new Option('--password [password]').hideHelp());

async function readFields(given: Given): Promise<object> {
  if (given['password'] !== undefined) {
    throw invalid(
      '--password is not supported: other users of this machine could read it in the process list. Use --password-stdin.',
    );
  }
  return {
    ...readFieldOptions(PROFILE_FIELDS, given),
    password: given['passwordStdin'] ? await readSecret('Password: ') : undefined,
  };
}

/** Whether the last owner may go, too. */
interface LastOwner {
  readonly lastOwner?: boolean;
}

interface Barring extends LastOwner {
  readonly endMade?: boolean;
}

type BarredView = UserView & { readonly made?: MadeView };

/** What the commands have in common. */
function userTools(user: Command, getContext: GetCommandContext) {
  /** A command that takes a user. */
  const about = (name: string, description: string): Command =>
    user.command(name).description(description).argument('<user>', 'ID, username or email');

  /** The action of a command that changes or reads an account and then prints it. */
  const showing =
    <O extends LastOwner>(work: (api: Api, id: string, options: O) => Promise<UserView>) =>
    async (who: string, options: O, command: Command): Promise<void> => {
      const { flags, out } = getContext(command);
      out.show(await withApi(flags, async (api) => work(api, await accountId(api, who), options), options));
    };

  /** The action of a command that bars an account: what its person made as an operator is told as well. */
  const barring =
    <O extends Barring>(work: (api: Api, to: string, options: O) => Promise<BarredView>) =>
    async (who: string, options: O, command: Command): Promise<void> => {
      const { flags, out } = getContext(command);
      const { endMade = false } = options;
      const bar = async (api: Api) => work(api, path`/users/${await accountId(api, who)}`, options);
      const answer = await withApi(flags, bar, options);
      if (answer.made === undefined) out.show(answer);
      else out.say(`The account is ${answer.status}.\n${describeMade(answer.made, endMade)}`, answer);
    };

  return { user, about, showing, barring, getContext };
}

type UserCommands = ReturnType<typeof userTools>;

export function userCommands(getContext: GetCommandContext): Command {
  const user = new Command('user').description(
    'manage users: create, show, list, update, ban, unban, suspend, reinstate, delete, cancel-deletion, release-username, connections, disconnect, groups, sessions, sign-out, recovery-link, send-recovery, factors, last-sign-ins, remove-factor, identities, remove-identity, unlock, remind-to-verify, roles, grant-role, revoke-role',
  );

  const tools = userTools(user, getContext);
  profileCommands(tools);
  standingCommands(tools);
  accessCommands(tools);
  supportCommands(tools.about, getContext);
  identityCommands(tools.about, getContext);
  roleCommands(tools.about, getContext);
  return user;
}

/** Accounts and their fields. */
function profileCommands({ user, about, showing, getContext }: UserCommands): void {
  examples(
    requireOptions(withFields(user.command('create')), '--username', '--display-name', '--email'),
    'tessera user create --username ada --display-name "Ada Lovelace" --email ada@example.com --password-stdin',
    'printf %s "$PASSWORD" | tessera user create --username ada --display-name Ada --email ada@example.com --password-stdin',
  )
    .description('create an account; without a password, signing in is not possible yet')
    .action(async (fields: Given, command: Command) => {
      const { flags, out } = getContext(command);
      const input = checkInput(CreateUserRequest, await readFields(fields));
      out.show(await withApi(flags, (api) => api.post<UserView>('/users', input), { mayBeNew: true }));
    });

  examples(
    about('show', 'show an account'),
    'tessera user show ada',
    'tessera user show ada@example.com --json',
  ).action(showing((api, id) => api.get(path`/users/${id}`)));

  examples(
    withPageOptions(user.command('list')),
    'tessera user list --query example.com',
    'tessera user list --limit 100 --after 289236738748416000 --json',
  )
    .description('list accounts')
    .option('--query <text>', 'only accounts whose name or email contains this text')
    .action(async (options: PageOptions & { query?: string }, command: Command) => {
      const { flags, out } = getContext(command);
      const found = await withApi(flags, (api) => api.list<UserView>('/users', options, { q: options.query }));
      out.list(found, ['id', 'username', 'email', 'status', 'createdAt']);
    });

  examples(
    withPicture(withFields(about('update', 'change fields of an account'))),
    'tessera user update ada --display-name "Ada King" --website https://ada.example',
    'tessera user update ada@example.com --password-stdin',
  ).action(async (who: string, fields: Given & PictureField & LastOwner, command: Command) => {
    const change = checkInput(UpdateUserRequest, await readFields(fields));
    const changesFields = Object.keys(change).length > 0;
    if (!changesFields && fields.picture === undefined) {
      throw invalid('Nothing to change: give at least one option. See: tessera user update --help');
    }
    await showing(async (api, id) => {
      // First: what the other fields must be was checked here, and whether it is a picture, only the server knows.
      const pictured = await savePicture<UserView>(api, path`/users/${id}`, fields);
      return changesFields
        ? api.patch<UserView>(path`/users/${id}`, change)
        : (pictured ?? api.get(path`/users/${id}`));
    })(who, fields, command);
  });
}

/** Whether an account may be used, and its end. */
function standingCommands({ user, about, showing, barring, getContext }: UserCommands): void {
  examples(
    about('ban', 'ban an account; its tokens and sessions become invalid immediately'),
    'tessera user ban ada --until 24h --reason "spam"',
    'tessera user ban ada --until 2030-01-31T12:00:00Z',
  )
    .option(
      '--until <when>',
      'when the ban ends: 2030-01-31T12:00:00Z, or 90m, 24h, 7d from now (default: never)',
      futureTime,
    )
    .option('--reason <text>', 'for the audit log; the user does not see it')
    .option(...END_MADE)
    .option(...LAST_OWNER)
    .action(
      barring((api, to, { until, reason, endMade = false }: { until?: string; reason?: string } & Barring) =>
        api.put(`${to}/ban?endMade=${endMade}`, checkInput(BanRequest, { until, reason })),
      ),
    );

  examples(
    about('suspend', 'suspend an account until it is reinstated; its tokens and sessions become invalid immediately'),
    'tessera user suspend ada --reason "asked for by phone"',
  )
    .option('--reason <text>', 'for the audit log; the user does not see it')
    .option(...END_MADE)
    .option(...LAST_OWNER)
    .action(
      barring((api, to, { reason, endMade = false }: { reason?: string } & Barring) =>
        api.put(`${to}/suspension?endMade=${endMade}`, checkInput(SuspensionRequest, { reason })),
      ),
    );

  examples(about('unban', 'lift a ban; tokens and sessions from before stay invalid'), 'tessera user unban ada').action(
    showing((api, id) => api.delete(path`/users/${id}/ban`)),
  );
  examples(
    about('reinstate', 'lift a suspension; tokens and sessions from before stay invalid'),
    'tessera user reinstate ada',
  ).action(showing((api, id) => api.delete(path`/users/${id}/suspension`)));

  examples(
    about('delete', 'delete an account and all its data; asks for confirmation in a terminal'),
    'tessera user delete ada',
    'tessera user delete ada --yes',
  )
    .option(...YES)
    .option(...END_MADE)
    .option(...LAST_OWNER)
    .action(async (who: string, options: { yes?: boolean } & Barring, command: Command) => {
      const { flags, out } = getContext(command);
      const { endMade = false } = options;
      const remove = async (api: Api) => {
        const found = await accountId(api, who);
        await confirm(`This deletes the user ${who} (${found}).`, options);
        const taken = await api.delete<{ made: MadeView } | undefined>(path`/users/${found}`, {
          endMade: String(endMade),
        });
        return { id: found, ...taken };
      };
      const answer = await withApi(flags, remove, options);
      const told = answer.made === undefined ? '' : `\n${describeMade(answer.made, endMade)}`;
      out.say(`Deleted the user ${answer.id}.${told}`, { ...answer, deleted: true });
    });

  examples(
    about('cancel-deletion', 'cancel the deletion that a user asked for; the user is told by mail'),
    'tessera user cancel-deletion ada',
  ).action(showing((api, id) => api.delete(path`/users/${id}/deletion`)));

  examples(user.command('release-username'), 'tessera user release-username ada')
    .description('let anyone take a username that is held after a change or a deletion')
    .argument('<username>')
    .action(async (username: string, _options, command: Command) => {
      const { flags, out } = getContext(command);
      await withApi(flags, (api) => api.delete(path`/held-usernames/${username.toLowerCase()}`));
      out.say(`Released the username ${username}.`, { username, released: true });
    });
}

/** The ID of a user who is named before an app. */
async function userBefore(api: Api, who: string, clientId: string): Promise<string> {
  const [userId] = await findInOrder(
    'user disconnect <user> <clientId>',
    { what: 'a user', text: who, find: (text) => accountId(api, text) },
    { what: 'an app', text: clientId, find: (text) => findClientId(api, text) },
  );
  return userId;
}

/** What has access to an account, and the way back into it. */
function accessCommands({ about, getContext }: UserCommands): void {
  examples(about('connections', 'list the apps that have access to an account'), 'tessera user connections ada').action(
    async (who: string, _options, command: Command) => {
      const { flags, out } = getContext(command);
      const found = await withApi(flags, async (api) =>
        api.items<ConnectionView>(path`/users/${await accountId(api, who)}/connections`),
      );
      out.list(found, ['clientId', 'name', 'scopes', 'connectedAt', 'lastUsedAt', 'lastNetwork']);
    },
  );

  examples(
    about('disconnect', 'take away an app’s access to an account, as the user would'),
    'tessera user disconnect ada 289236738748416000',
  )
    .argument('<clientId>', 'client ID of the app, from: tessera user connections <user>')
    .action(async (who: string, clientId: string, _options, command: Command) => {
      const { flags, out } = getContext(command);
      await withApi(flags, async (api) => {
        await api.delete(path`/users/${await userBefore(api, who, clientId)}/connections/${clientId}`);
      });
      out.say(`Took away the access of the client ${clientId}.`, { clientId, revoked: true });
    });

  examples(withPageOptions(about('groups', 'list the groups that a user is in')), 'tessera user groups ada').action(
    async (who: string, part: PageOptions, command: Command) => {
      const { flags, out } = getContext(command);
      const found = await withApi(flags, async (api) =>
        api.list<ListedRow>(path`/users/${await accountId(api, who)}/groups`, part),
      );
      out.list(found, ['id', 'name', 'displayName', 'organization', 'addedAt']);
    },
  );

  examples(about('sessions', 'list the browsers where a user is signed in'), 'tessera user sessions ada').action(
    async (who: string, _options, command: Command) => {
      const { flags, out } = getContext(command);
      const found = await withApi(flags, async (api) =>
        api.items<ListedRow>(path`/users/${await accountId(api, who)}/sessions`),
      );
      out.list(found, ['id', 'browser', 'system', 'network', 'signedInAt', 'lastUsedAt']);
    },
  );

  examples(
    about('sign-out', 'end a session and the tokens issued in it; without a session ID, all sessions and tokens'),
    'tessera user sign-out ada',
    'tessera user sign-out ada uUwSQAbvIfvhHLpmRtuhOg',
  )
    .argument('[sessionId]', 'ID of the session, from: tessera user sessions <user>')
    .action(async (who: string, sid: string | undefined, _options, command: Command) => {
      const { flags, out } = getContext(command);
      const { ended } = await withApi(flags, async (api) => {
        const id = await accountId(api, who);
        if (sid !== undefined) return api.delete<{ ended: boolean }>(path`/users/${id}/sessions/${sid}`);
        await api.delete(path`/users/${id}/sessions`);
        return { ended: true };
      });
      if (!ended) throw notFound(`There is no session ${sid}. List them with: tessera user sessions ${who}`);
      out.say(sid === undefined ? 'Ended all sessions and tokens of this user.' : `Ended the session ${sid}.`, {
        ...(sid !== undefined && { sessionId: sid }),
        ended,
      });
    });

  examples(
    about('recovery-link', 'create a link with which a user sets a new password, once, within 30 minutes'),
    'tessera user recovery-link ada',
    'tessera user recovery-link ada@example.com --reset-factors',
    'tessera user recovery-link ada --address ada@example.com',
  )
    .option('--reset-factors', 'using the link also removes the authenticator app, recovery codes and passkeys')
    .option(
      '--address <address>',
      'where the address was changed in the last seven days: the earlier one to give back, or "keep"; ends everything of the account at once',
    )
    .action(
      async (
        who: string,
        { resetFactors, address }: { resetFactors?: boolean; address?: string },
        command: Command,
      ) => {
        const { flags, out } = getContext(command);
        const { url, expiresAt, email } = await withApi(flags, async (api) =>
          api.post<{ url: string; expiresAt: string; email: string }>(
            path`/users/${await accountId(api, who)}/recovery-link`,
            { resetFactors, address },
          ),
        );
        const text = `Give this link to the user. It works once, until ${expiresAt}:\n${url}`;
        const mailbox = `The account has the address ${email}: a person who reads it can recover the account by mail.`;
        out.say(`${text}\n${mailbox}`, { url, expiresAt, email });
        noteDefaultBaseUrl(flags, out, url);
      },
    );
}
