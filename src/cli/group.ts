import { Command } from 'commander';
import {
  addToGroup,
  createGroup,
  deleteGroup,
  getGroup,
  removeFromGroup,
  updateGroup,
} from '../account-actions/access/groups.ts';
import type { Core } from '../core.ts';
import { CreateGroupRequest, UpdateGroupRequest } from '../groups/schema.ts';
import {
  findGroupOfInstallation,
  findGroupOfOrganization,
  findGroupsContaining,
  listGroupMembers,
  listGroups,
} from '../groups/store.ts';
import { groupMemberView, groupView } from '../groups/view.ts';
import { invalid, notFound } from '../platform/failure.ts';
import { isSnowflake } from '../platform/ids/ids.ts';
import { accountId } from './account-id.ts';
import { describeChange } from './change.ts';
import { checkInput, examples, type GetCommandContext } from './context.ts';
import { organizationId } from './org.ts';
import { allFound, allPages, type PageOptions, withPageOptions } from './pages.ts';
import { countProgress } from './progress.ts';
import { confirm, YES } from './prompt.ts';
import { CLI_ORIGIN as origin, withCore } from './session.ts';

const GROUP = ['<group>', 'ID or name; ORGANIZATION/NAME for a group of an organization'] as const;
const USER = ['<user>', 'ID, username or email'] as const;

/** Finds the ID of a group by its ID or its name; a group of an organization by `organization/name`. */
export async function groupId(core: Core, which: string): Promise<string> {
  if (isSnowflake(which)) return which;
  const [first = '', name] = which.split('/');
  const organization = name === undefined ? undefined : await organizationId(core, first);
  const found = await core.database.read(() =>
    organization === undefined
      ? findGroupOfInstallation({ name: first })
      : findGroupOfOrganization({ organizationId: organization, name: name ?? '' }),
  );
  if (found === undefined) throw notFound(`There is no group ${which}. List them with: tessera group list`);
  return found.id;
}

interface GroupOptions {
  readonly name?: string;
  readonly displayName?: string;
  readonly description?: string;
  readonly organization?: string;
}

/** The fields that were given; an empty description is none. */
const fieldsOf = ({ name, displayName, description }: GroupOptions) => ({
  name,
  displayName,
  description: description === '' ? null : description,
});

export function groupCommands(getContext: GetCommandContext): Command {
  const group = new Command('group').description(
    'manage groups: create, show, update, list, delete, add, remove, members',
  );
  recordCommands(group, getContext);
  memberCommands(group, getContext);
  return group;
}

/** Groups themselves. */
function recordCommands(group: Command, getContext: GetCommandContext): void {
  examples(
    group.command('create'),
    'tessera group create --name analysts --display-name Analysts',
    'tessera group create --name admins --organization acme',
  )
    .description('create a group')
    .requiredOption('--name <slug>', '2 to 64 characters of a-z, 0-9, ".", "_" and "-"; tokens name the group by it')
    .option('--display-name <name>', 'name for people (default: the name)')
    .option('--description <text>', 'what the group is for')
    .option('--organization <organization>', 'ID or name of the organization whose members can be in it')
    .action(async (options: GroupOptions, command: Command) => {
      const { flags, out } = getContext(command);
      const made = await withCore(
        flags,
        async (core) => {
          const owner = options.organization;
          const organization = owner === undefined ? undefined : await organizationId(core, owner);
          const input = checkInput(CreateGroupRequest, { ...fieldsOf(options), organizationId: organization });
          return createGroup(core, input, origin);
        },
        { mayBeNew: true },
      );
      out.show(groupView(made));
    });

  examples(group.command('show'), 'tessera group show analysts', 'tessera group show acme/admins')
    .description('show a group')
    .argument(...GROUP)
    .action(async (which: string, _options, command: Command) => {
      const { flags, out } = getContext(command);
      out.show(groupView(await withCore(flags, async (core) => getGroup(core, await groupId(core, which)))));
    });

  examples(group.command('update'), 'tessera group update analysts --display-name "Analysts and friends"')
    .description('change a group')
    .argument(...GROUP)
    .option('--name <slug>', 'another name; apps that compare it must know the new one')
    .option('--display-name <name>', 'name for people')
    .option('--description <text>', 'what the group is for; "" for nothing')
    .action(async (which: string, options: GroupOptions, command: Command) => {
      const { flags, out } = getContext(command);
      const change = checkInput(UpdateGroupRequest, fieldsOf(options));
      if (Object.keys(change).length === 0) {
        throw invalid('Nothing to change: give at least one option. See: tessera group update --help');
      }
      const changed = await withCore(flags, async (core) =>
        updateGroup(core, await groupId(core, which), change, origin),
      );
      out.show(groupView(changed));
    });

  examples(
    withPageOptions(group.command('list')),
    'tessera group list',
    'tessera group list --organization acme --query analy',
  )
    .description('list groups')
    .option('--query <text>', 'only groups whose name contains this text')
    .option('--organization <organization>', 'only groups of this organization')
    .action(async (options: PageOptions & { organization?: string; query?: string }, command: Command) => {
      const { flags, out } = getContext(command);
      const { organization: owner, query: text, ...part } = options;
      const found = await withCore(flags, async (core) => {
        const organization = owner === undefined ? undefined : await organizationId(core, owner);
        const { database } = core;
        if (text !== undefined) {
          const of = { text, organizationId: organization };
          return allFound((page) => findGroupsContaining(database, { ...page, ...of }), part);
        }
        return database.read(() => allPages((page) => listGroups({ ...page, organizationId: organization }), part));
      });
      out.list(found.map(groupView), ['id', 'name', 'displayName', 'organizationId', 'createdAt']);
    });
}

/** Their members, and their end. */
function memberCommands(group: Command, getContext: GetCommandContext): void {
  examples(withPageOptions(group.command('members')), 'tessera group members analysts')
    .description('list the members of a group')
    .argument(...GROUP)
    .action(async (which: string, part: PageOptions, command: Command) => {
      const { flags, out } = getContext(command);
      const members = await withCore(flags, async (core) => {
        const { id } = await getGroup(core, await groupId(core, which));
        return core.database.read(() => allPages((page) => listGroupMembers({ groupId: id, ...page }), part));
      });
      out.list(members.map(groupMemberView), ['userId', 'username', 'addedAt']);
    });

  examples(group.command('add'), 'tessera group add analysts ada')
    .description('add a user to a group')
    .argument(...GROUP)
    .argument(...USER)
    .action(async (which: string, who: string, _options, command: Command) => {
      const { flags, out } = getContext(command);
      const ids = await withCore(flags, async (core) => {
        const found = { groupId: await groupId(core, which), userId: await accountId(core, who) };
        await addToGroup(core, found.groupId, found.userId, origin);
        return found;
      });
      out.say(`Added ${who} to the group ${which}.`, { ...ids, added: true });
    });

  examples(group.command('remove'), 'tessera group remove analysts ada')
    .description('remove a user from a group; sign-ins to apps that rest on it end immediately')
    .argument(...GROUP)
    .argument(...USER)
    .action(async (which: string, who: string, _options, command: Command) => {
      const { flags, out } = getContext(command);
      const { ids, change } = await withCore(flags, async (core) => {
        const found = { groupId: await groupId(core, which), userId: await accountId(core, who) };
        return { ids: found, change: await removeFromGroup(core, found.groupId, found.userId, origin) };
      });
      out.say(`Removed ${who} from the group ${which}. ${describeChange(change)}`, {
        ...ids,
        removed: true,
        ...change,
      });
    });

  examples(group.command('delete'), 'tessera group delete analysts', 'tessera group delete analysts --yes')
    .description(
      'delete a group; sign-ins to apps that rest on it end immediately; asks for confirmation in a terminal',
    )
    .argument(...GROUP)
    .option(...YES)
    .action(async (which: string, options: { yes?: boolean }, command: Command) => {
      const { flags, out } = getContext(command);
      const { id, change } = await withCore(flags, async (core) => {
        const found = await getGroup(core, await groupId(core, which));
        await confirm(
          `This deletes the group ${found.name} (${found.id}). People who may use an app by this group alone lose the app.`,
          options,
        );
        return { id: found.id, change: await deleteGroup(core, found.id, origin, countProgress('Sign-ins')) };
      });
      out.say(`Deleted the group ${which}. ${describeChange(change)}`, { groupId: id, deleted: true, ...change });
    });
}
