import { Command, Option } from 'commander';
import {
  banAccount,
  deleteAccount,
  getAccount,
  openAccount,
  reinstateAccount,
  setPicture,
  signOutEverywhere,
  suspendAccount,
  unbanAccount,
} from '../account-actions/accounts/accounts.ts';
import { createAccount } from '../account-actions/accounts/create-account.ts';
import type { OwnerOptions } from '../account-actions/accounts/last-owner.ts';
import { releaseUsername } from '../account-actions/accounts/usernames.ts';
import { createRecoveryLink } from '../account-actions/addresses/operator-link.ts';
import { updateAccount } from '../account-actions/addresses/update-account.ts';
import { connectionsOf, connectionView, revokeAccessOf } from '../account-actions/connections/connections.ts';
import { cancelDeletion } from '../account-actions/personal-data/deletion.ts';
import { endSessions } from '../account-actions/sign-in/end-sessions.ts';
import { PROFILE_FIELDS } from '../accounts/fields.ts';
import { BanRequest, CreateUserRequest, SuspensionRequest, UpdateUserRequest } from '../accounts/schema.ts';
import { type Account, findAccountsContaining, listAccounts } from '../accounts/store.ts';
import { accountView } from '../accounts/view.ts';
import { clientNotFound } from '../clients/clients.ts';
import type { Core } from '../core.ts';
import { listGroupsOfPerson } from '../groups/store.ts';
import { groupOfPersonView } from '../groups/view.ts';
import { iso } from '../platform/clock.ts';
import { baseUrlOf } from '../platform/config/config.ts';
import { invalid, notFound } from '../platform/failure.ts';
import { isSnowflake } from '../platform/ids/ids.ts';
import { listSessions, sessionView } from '../sessions/list.ts';
import { accountId } from './account-id.ts';
import { checkInput, examples, type GetCommandContext, requireOptions } from './context.ts';
import { readFieldOptions, withFieldOptions } from './fields.ts';
import { futureTime } from './option-parsers.ts';
import { allFound, allPages, type PageOptions, withPageOptions } from './pages.ts';
import { type PictureField, pictureFrom, withPicture } from './picture.ts';
import { confirm, LAST_OWNER, readSecret, YES } from './prompt.ts';
import { roleCommands } from './roles.ts';
import { CLI_ORIGIN as origin, withCore } from './session.ts';

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

const view = (account: Account) => accountView(account, Date.now());

/** What the commands have in common. */
function userTools(user: Command, getContext: GetCommandContext) {
  /** A command that takes a user. */
  const about = (name: string, description: string): Command =>
    user.command(name).description(description).argument('<user>', 'ID, username or email');

  /** The action of a command that changes or reads an account and then prints it. */
  const showing =
    <O>(work: (core: Core, id: string, options: O) => Promise<Account>) =>
    async (who: string, options: O, command: Command): Promise<void> => {
      const { flags, out } = getContext(command);
      out.show(view(await withCore(flags, async (core) => work(core, await accountId(core, who), options))));
    };

  return { user, about, showing, getContext };
}

type UserCommands = ReturnType<typeof userTools>;

export function userCommands(getContext: GetCommandContext): Command {
  const user = new Command('user').description(
    'manage users: create, show, list, update, ban, unban, suspend, reinstate, delete, cancel-deletion, release-username, connections, disconnect, groups, sessions, sign-out, recovery-link, roles, grant-role, revoke-role',
  );

  const tools = userTools(user, getContext);
  profileCommands(tools);
  standingCommands(tools);
  accessCommands(tools);
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
      out.show(
        view(
          await withCore(flags, (core) => createAccount(core, input, { kind: 'operator' }, origin), { mayBeNew: true }),
        ),
      );
    });

  examples(
    about('show', 'show an account'),
    'tessera user show ada',
    'tessera user show ada@example.com --json',
  ).action(showing((core, id) => openAccount(core, id, 'record', origin)));

  examples(
    withPageOptions(user.command('list')),
    'tessera user list --query example.com',
    'tessera user list --limit 100 --after 289236738748416000 --json',
  )
    .description('list accounts')
    .option('--query <text>', 'only accounts whose name or email contains this text')
    .action(async (options: PageOptions & { query?: string }, command: Command) => {
      const { flags, out } = getContext(command);
      const { query: text } = options;
      const accounts = await withCore(flags, ({ database }) =>
        text === undefined
          ? database.read(() => allPages(listAccounts, options))
          : allFound((page) => findAccountsContaining(database, { ...page, text }), options),
      );
      out.list(accounts.map(view), ['id', 'username', 'email', 'status', 'createdAt']);
    });

  examples(
    withPicture(withFields(about('update', 'change fields of an account'))),
    'tessera user update ada --display-name "Ada King" --website https://ada.example',
    'tessera user update ada@example.com --password-stdin',
  ).action(async (who: string, fields: Given & PictureField, command: Command) => {
    const change = checkInput(UpdateUserRequest, await readFields(fields));
    const changesFields = Object.keys(change).length > 0;
    if (!changesFields && fields.picture === undefined) {
      throw invalid('Nothing to change: give at least one option. See: tessera user update --help');
    }
    await showing(async (core, id) => {
      const picture = await pictureFrom(core, fields);
      const updated = changesFields
        ? await updateAccount({ ...core, ...(await core.notices()) }, id, change, origin)
        : undefined;
      if (picture !== undefined) return setPicture(core, id, picture, origin);
      return updated ?? getAccount(core, id);
    })(who, fields, command);
  });
}

/** Whether an account may be used, and its end. */
function standingCommands({ user, about, showing, getContext }: UserCommands): void {
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
    .option(...LAST_OWNER)
    .action(
      showing(
        async (core, id, { until, reason, lastOwner = false }: { until?: string; reason?: string } & OwnerOptions) => {
          const context = { ...core, ...(await core.notices()), lastOwner };
          return banAccount(context, id, checkInput(BanRequest, { until, reason }), origin);
        },
      ),
    );

  examples(
    about('suspend', 'suspend an account until it is reinstated; its tokens and sessions become invalid immediately'),
    'tessera user suspend ada --reason "asked for by phone"',
  )
    .option('--reason <text>', 'for the audit log; the user does not see it')
    .option(...LAST_OWNER)
    .action(
      showing(async (core, id, { reason, lastOwner = false }: { reason?: string } & OwnerOptions) => {
        const context = { ...core, ...(await core.notices()), lastOwner };
        return suspendAccount(context, id, checkInput(SuspensionRequest, { reason }), origin);
      }),
    );

  examples(about('unban', 'lift a ban; tokens and sessions from before stay invalid'), 'tessera user unban ada').action(
    showing((core, id) => unbanAccount(core, id, origin)),
  );
  examples(
    about('reinstate', 'lift a suspension; tokens and sessions from before stay invalid'),
    'tessera user reinstate ada',
  ).action(showing((core, id) => reinstateAccount(core, id, origin)));

  examples(
    about('delete', 'delete an account and all its data; asks for confirmation in a terminal'),
    'tessera user delete ada',
    'tessera user delete ada --yes',
  )
    .option(...YES)
    .option(...LAST_OWNER)
    .action(async (who: string, options: { yes?: boolean } & OwnerOptions, command: Command) => {
      const { flags, out } = getContext(command);
      const id = await withCore(flags, async (core) => {
        const found = await accountId(core, who);
        await confirm(`This deletes the user ${who} (${found}).`, options);
        await deleteAccount({ ...core, lastOwner: options.lastOwner ?? false }, found, origin);
        return found;
      });
      out.say(`Deleted the user ${id}.`, { id, deleted: true });
    });

  examples(
    about('cancel-deletion', 'cancel the deletion that a user asked for; the user is told by mail'),
    'tessera user cancel-deletion ada',
  ).action(showing(async (core, id) => cancelDeletion({ ...core, ...(await core.notices()) }, id, origin)));

  examples(user.command('release-username'), 'tessera user release-username ada')
    .description('let anyone take a username that is held after a change or a deletion')
    .argument('<username>')
    .action(async (username: string, _options, command: Command) => {
      const { flags, out } = getContext(command);
      await withCore(flags, (core) => releaseUsername(core, username.toLowerCase(), origin));
      out.say(`Released the username ${username}.`, { username, released: true });
    });
}

/** What has access to an account, and the way back into it. */
function accessCommands({ about, getContext }: UserCommands): void {
  examples(about('connections', 'list the apps that have access to an account'), 'tessera user connections ada').action(
    async (who: string, _options, command: Command) => {
      const { flags, out } = getContext(command);
      const found = await withCore(flags, async (core) => {
        const { id } = await openAccount(core, await accountId(core, who), 'connections', origin);
        return connectionsOf(core, id);
      });
      out.list(found.map(connectionView), ['clientId', 'name', 'scopes', 'connectedAt', 'lastUsedAt']);
    },
  );

  examples(
    about('disconnect', 'take away an app’s access to an account, as the user would'),
    'tessera user disconnect ada 289236738748416000',
  )
    .argument('<clientId>', 'client ID of the app, from: tessera user connections <user>')
    .action(async (who: string, clientId: string, _options, command: Command) => {
      const { flags, out } = getContext(command);
      if (!isSnowflake(clientId)) throw clientNotFound(clientId);
      await withCore(flags, async (core) => revokeAccessOf(core, await accountId(core, who), clientId, origin));
      out.say(`Took away the access of the client ${clientId}.`, { clientId, revoked: true });
    });

  examples(withPageOptions(about('groups', 'list the groups that a user is in')), 'tessera user groups ada').action(
    async (who: string, part: PageOptions, command: Command) => {
      const { flags, out } = getContext(command);
      const found = await withCore(flags, async (core) => {
        const { id } = await openAccount(core, await accountId(core, who), 'groups', origin);
        return core.database.read(() => allPages((page) => listGroupsOfPerson({ accountId: id, ...page }), part));
      });
      out.list(found.map(groupOfPersonView), ['id', 'name', 'displayName', 'organization', 'addedAt']);
    },
  );

  examples(about('sessions', 'list the browsers where a user is signed in'), 'tessera user sessions ada').action(
    async (who: string, _options, command: Command) => {
      const { flags, out } = getContext(command);
      const found = await withCore(flags, async (core) =>
        listSessions(core, await openAccount(core, await accountId(core, who), 'sessions', origin)),
      );
      out.list(found.map(sessionView), ['id', 'browser', 'system', 'network', 'signedInAt', 'lastUsedAt']);
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
      const ended = await withCore(flags, async (core) => {
        const account = await getAccount(core, await accountId(core, who));
        if (sid !== undefined) return (await endSessions(core, account, { sid }, origin)).sessions.length > 0;
        await signOutEverywhere({ ...core, ...(await core.notices()) }, account.id, origin);
        return true;
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
    .action(async (who: string, options: { resetFactors?: boolean; address?: string }, command: Command) => {
      const { resetFactors = false, address } = options;
      const { flags, out } = getContext(command);
      const { url, expiresAt, email } = await withCore(flags, async (core) => {
        const { config } = core;
        const sealed = {
          sealer: await core.sealer(),
          mail: await core.mailer(),
          issuer: baseUrlOf(config, config.port),
        };
        return createRecoveryLink(
          { ...core, ...sealed, adminKeyId: null },
          await accountId(core, who),
          { resetFactors, address },
          origin,
        );
      });
      const text = `Give this link to the user. It works once, until ${iso(expiresAt)}:\n${url}`;
      const mailbox = `The account has the address ${email}: a person who reads it can recover the account by mail.`;
      out.say(`${text}\n${mailbox}`, { url, expiresAt: iso(expiresAt), email });
    });
}
