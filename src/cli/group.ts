import { Command } from 'commander';
import { CreateGroupRequest, UpdateGroupRequest } from '../groups/schema.ts';
import { invalid, notFound } from '../platform/failure.ts';
import { isSnowflake } from '../platform/ids/ids.ts';
import { accountId } from './account-id.ts';
import { type Api, path, withApi } from './api.ts';
import { type AccessChangeView, describeChange } from './change.ts';
import { checkInput, examples, type GetCommandContext } from './context.ts';
import { organizationId } from './org.ts';
import { type PageOptions, withPageOptions } from './pages.ts';
import { confirm, YES } from './prompt.ts';
import type { GroupView, ListedRow } from './records.ts';
import { findInOrder } from './swapped.ts';
import { findUpstreamId } from './upstream.ts';

const GROUP = ['<group>', 'ID or name; ORGANIZATION/NAME for a group of an organization'] as const;
const USER = ['<user>', 'ID, username or email'] as const;

/** Finds the ID of a group by its ID or its name; a group of an organization by `organization/name`. */
export async function groupId(api: Api, which: string): Promise<string> {
  if (isSnowflake(which)) return which;
  const [first = '', second] = which.split('/');
  const owner = second === undefined ? null : await organizationId(api, first);
  const name = second ?? first;
  const found = await api.list<GroupView>('/groups', {}, { q: name, organizationId: owner ?? undefined });
  const group = found.find((one) => one.name === name && one.organizationId === owner);
  if (group === undefined) throw notFound(`There is no group ${which}. List them with: tessera group list`);
  return group.id;
}

interface GroupOptions {
  readonly name?: string;
  readonly displayName?: string;
  readonly description?: string;
  readonly organization?: string;
  readonly upstream?: string;
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
    'tessera group create --name ops --upstream staff',
  )
    .description('create a group')
    .requiredOption('--name <slug>', '2 to 64 characters of a-z, 0-9, ".", "_" and "-"; tokens name the group by it')
    .option('--display-name <name>', 'name for people (default: the name)')
    .option('--description <text>', 'what the group is for')
    .option('--organization <organization>', 'ID or name of the organization whose members can be in it')
    .option('--upstream <upstream>', 'ID or name of the provider that maintains its members')
    .action(async (options: GroupOptions, command: Command) => {
      const { flags, out } = getContext(command);
      const create = async (api: Api) => {
        const owner = options.organization;
        const organization = owner === undefined ? undefined : await organizationId(api, owner);
        const { upstream } = options;
        const upstreamId = upstream === undefined ? undefined : await findUpstreamId(api, upstream);
        const input = checkInput(CreateGroupRequest, {
          ...fieldsOf(options),
          organizationId: organization,
          upstreamId,
        });
        return api.post<GroupView>('/groups', input);
      };
      out.show(await withApi(flags, create, { mayBeNew: true }));
    });

  examples(group.command('show'), 'tessera group show analysts', 'tessera group show acme/admins')
    .description('show a group')
    .argument(...GROUP)
    .action(async (which: string, _options, command: Command) => {
      const { flags, out } = getContext(command);
      out.show(await withApi(flags, async (api) => api.get<GroupView>(path`/groups/${await groupId(api, which)}`)));
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
      out.show(
        await withApi(flags, async (api) => api.patch<GroupView>(path`/groups/${await groupId(api, which)}`, change)),
      );
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
      const found = await withApi(flags, async (api) => {
        const organization = owner === undefined ? undefined : await organizationId(api, owner);
        return api.list<GroupView>('/groups', part, { q: text, organizationId: organization });
      });
      out.list(found, ['id', 'name', 'displayName', 'organizationId', 'createdAt']);
    });
}

/** The IDs of a group and a user. */
async function findMember(api: Api, command: Command, which: string, who: string) {
  const [group, user] = await findInOrder(
    `group ${command.name()} <group> <user>`,
    { what: 'a group', text: which, find: (text) => groupId(api, text) },
    { what: 'a user', text: who, find: (text) => accountId(api, text) },
  );
  return { groupId: group, userId: user };
}

/** Their members, and their end. */
function memberCommands(group: Command, getContext: GetCommandContext): void {
  examples(withPageOptions(group.command('members')), 'tessera group members analysts')
    .description('list the members of a group')
    .argument(...GROUP)
    .action(async (which: string, part: PageOptions, command: Command) => {
      const { flags, out } = getContext(command);
      const members = await withApi(flags, async (api) =>
        api.list<ListedRow>(path`/groups/${await groupId(api, which)}/members`, part),
      );
      out.list(members, ['userId', 'username', 'addedAt']);
    });

  examples(group.command('add'), 'tessera group add analysts ada')
    .description('add a user to a group')
    .argument(...GROUP)
    .argument(...USER)
    .action(async (which: string, who: string, _options, command: Command) => {
      const { flags, out } = getContext(command);
      const ids = await withApi(flags, async (api) => {
        const found = await findMember(api, command, which, who);
        await api.put(path`/groups/${found.groupId}/members/${found.userId}`);
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
      const { ids, change } = await withApi(flags, async (api) => {
        const found = await findMember(api, command, which, who);
        const removed = await api.delete<AccessChangeView>(path`/groups/${found.groupId}/members/${found.userId}`);
        return { ids: found, change: removed };
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
      const { id, change } = await withApi(flags, async (api) => {
        const found = await api.get<GroupView>(path`/groups/${await groupId(api, which)}`);
        await confirm(
          `This deletes the group ${found.name} (${found.id}). People who may use an app by this group alone lose the app.`,
          options,
        );
        return { id: found.id, change: await api.delete<AccessChangeView>(path`/groups/${found.id}`) };
      });
      out.say(`Deleted the group ${which}. ${describeChange(change)}`, { groupId: id, deleted: true, ...change });
    });
}
