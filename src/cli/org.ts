import { Command } from 'commander';
import {
  CreateOrganizationRequest,
  SetMembershipRequest,
  UpdateOrganizationRequest,
} from '../account-actions/organizations/organizations.ts';
import { invalid, notFound } from '../platform/failure.ts';
import { isSnowflake } from '../platform/ids/ids.ts';
import { accountId } from './account-id.ts';
import { type Api, path, withApi } from './api.ts';
import { type AccessChangeView, describeChange } from './change.ts';
import { checkInput, examples, type GetCommandContext } from './context.ts';
import { describeMade, END_MADE, type MadeView } from './made.ts';
import { type PageOptions, withPageOptions } from './pages.ts';
import { confirm, YES } from './prompt.ts';
import type { ListedRow, OrganizationView } from './records.ts';
import { findInOrder } from './swapped.ts';
import { findUpstreamId } from './upstream.ts';

const ORGANIZATION = ['<organization>', 'ID or name'] as const;
const USER = ['<user>', 'ID, username or email'] as const;

/** Finds the ID of an organization by its ID or name. */
export async function organizationId(api: Api, which: string): Promise<string> {
  const all = await api.list<OrganizationView>('/organizations', {});
  const found = all.find(({ id, name }) => id === which || name === which);
  if (found !== undefined) return found.id;
  if (isSnowflake(which)) return which;
  throw notFound(`There is no organization named ${which}. List them with: tessera org list`);
}

/** What ended with a membership, and what its person made. */
interface RemovedView {
  readonly roles?: readonly { readonly role: string }[];
  readonly made?: MadeView;
}

export function orgCommands(getContext: GetCommandContext): Command {
  const org = new Command('org').description(
    'manage organizations: create, show, update, list, require-upstream, add-member, remove-member, delete',
  );
  recordCommands(org, getContext);
  signInCommands(org, getContext);
  memberCommands(org, getContext);
  return org;
}

/** Organizations themselves. */
function recordCommands(org: Command, getContext: GetCommandContext): void {
  examples(org.command('create'), 'tessera org create --name acme --domain acme.example')
    .description('create an organization')
    .requiredOption('--name <slug>', '2 to 48 characters of a-z, 0-9 and -')
    .requiredOption('--domain <domain>', 'primary domain')
    .option('--require-second-factor', 'require a second factor, or a passkey, of members')
    .action(async (options: { name: string; domain: string; requireSecondFactor?: boolean }, command: Command) => {
      const { flags, out } = getContext(command);
      const input = checkInput(CreateOrganizationRequest, options);
      const create = (api: Api) => api.post<OrganizationView>('/organizations', input);
      out.show(await withApi(flags, create, { mayBeNew: true }));
    });

  examples(org.command('show'), 'tessera org show acme')
    .description('show an organization and its members')
    .argument(...ORGANIZATION)
    .action(async (which: string, _options, command: Command) => {
      const { flags, out } = getContext(command);
      out.show(
        await withApi(flags, async (api) =>
          api.get<OrganizationView>(path`/organizations/${await organizationId(api, which)}`),
        ),
      );
    });

  examples(org.command('update'), 'tessera org update acme --require-second-factor')
    .description('change what an organization requires of its members')
    .argument(...ORGANIZATION)
    .option('--require-second-factor', 'require a second factor, or a passkey, of members')
    .option('--no-require-second-factor', 'require none')
    .action(async (which: string, options: { requireSecondFactor?: boolean }, command: Command) => {
      const { flags, out } = getContext(command);
      const change = checkInput(UpdateOrganizationRequest, options);
      if (Object.keys(change).length === 0) {
        throw invalid('Nothing to change: give at least one option. See: tessera org update --help');
      }
      out.show(
        await withApi(flags, async (api) =>
          api.patch<OrganizationView>(path`/organizations/${await organizationId(api, which)}`, change),
        ),
      );
    });

  examples(withPageOptions(org.command('list')), 'tessera org list')
    .description('list organizations')
    .action(async (options: PageOptions, command: Command) => {
      const { flags, out } = getContext(command);
      const found = await withApi(flags, (api) => api.list<OrganizationView>('/organizations', options));
      out.list(found, ['id', 'name', 'domain', 'createdAt']);
    });
}

interface OnlyUpstream {
  readonly upstreamId: string | null;
  readonly ended: { readonly users: number; readonly sessions: number };
}

/** How their members sign in. */
function signInCommands(org: Command, getContext: GetCommandContext): void {
  examples(
    org.command('require-upstream'),
    'tessera org require-upstream acme staff',
    'tessera org require-upstream acme staff --end-sessions --yes',
    'tessera org require-upstream acme --none',
  )
    .description(
      'let the members of an organization use its apps only through another provider; owners keep a local way in',
    )
    .argument(...ORGANIZATION)
    .argument('[upstream]', 'ID or name of the provider')
    .option('--none', 'let them sign in as they like')
    .option('--end-sessions', 'end what members are signed in to and that did not begin there, tokens included')
    .option(...YES)
    .action(
      async (
        which: string,
        upstream: string | undefined,
        options: { none?: boolean; endSessions?: boolean; yes?: boolean },
        command: Command,
      ) => {
        const { flags, out } = getContext(command);
        const { none = false, endSessions = false } = options;
        if ((upstream === undefined) !== none) throw invalid('Give either a provider or --none.');
        const changed = await withApi(flags, async (api) => {
          const [id, upstreamId] =
            upstream === undefined
              ? [await organizationId(api, which), null]
              : await findInOrder(
                  'org require-upstream <organization> <upstream>',
                  { what: 'an organization', text: which, find: (text) => organizationId(api, text) },
                  { what: 'a provider', text: upstream, find: (text) => findUpstreamId(api, text) },
                );
          if (endSessions) await confirm('This signs members out who did not come through it.', options);
          return api.put<OnlyUpstream>(path`/organizations/${id}/only-upstream`, { upstreamId, endSessions });
        });
        const { users, sessions } = changed.ended;
        const done = endSessions ? ` Ended ${sessions} sessions of ${users} users.` : '';
        const said = none
          ? `Members of ${which} sign in as they like.`
          : `Members of ${which} use its apps only through ${upstream}, from the next sign-in of each.`;
        out.say(`${said}${done}`, { ...changed });
      },
    );
}

/** The IDs of an organization and a user. */
async function findMember(api: Api, command: Command, which: string, who: string) {
  const [organization, user] = await findInOrder(
    `org ${command.name()} <organization> <user>`,
    { what: 'an organization', text: which, find: (text) => organizationId(api, text) },
    { what: 'a user', text: who, find: (text) => accountId(api, text) },
  );
  return { organizationId: organization, userId: user };
}

/** Their members, and their end. */
function memberCommands(org: Command, getContext: GetCommandContext): void {
  examples(
    org.command('add-member'),
    'tessera org add-member acme ada --role OWNER',
    'tessera org add-member acme ada@example.com',
  )
    .description('add a member, or change the role of a member; without --role, the member has no role')
    .argument(...ORGANIZATION)
    .argument(...USER)
    .option('--role <role>', 'OWNER, ADMIN or MEMBER')
    .option(...END_MADE)
    .action(async (which: string, who: string, options: { role?: string; endMade?: boolean }, command: Command) => {
      const { flags, out } = getContext(command);
      const { role, endMade = false } = options;
      const membership = checkInput(SetMembershipRequest, { role });
      const set = await withApi(flags, async (api) => {
        const ids = await findMember(api, command, which, who);
        const to = path`/organizations/${ids.organizationId}/members/${ids.userId}`;
        return api.put<ListedRow & { readonly made?: MadeView }>(`${to}?endMade=${endMade}`, membership);
      });
      if (set.made === undefined) out.show(set);
      else out.say(`Changed the role of ${who}.\n${describeMade(set.made, endMade)}`, set);
    });

  examples(org.command('remove-member'), 'tessera org remove-member acme ada')
    .description('remove a member')
    .argument(...ORGANIZATION)
    .argument(...USER)
    .option(...END_MADE)
    .action(async (which: string, who: string, { endMade = false }: { endMade?: boolean }, command: Command) => {
      const { flags, out } = getContext(command);
      const ids = await withApi(flags, async (api) => {
        const found = await findMember(api, command, which, who);
        const to = path`/organizations/${found.organizationId}/members/${found.userId}`;
        const taken = await api.delete<RemovedView | undefined>(to, { endMade: String(endMade) });
        return { ...found, ...taken };
      });
      const { roles = [], made } = ids;
      const ended = roles.length === 0 ? '' : ` Roles that ended with it: ${roles.map(({ role }) => role).join(', ')}.`;
      const told = made === undefined ? '' : `\n${describeMade(made, endMade)}`;
      out.say(`Removed ${who} from the organization.${ended}${told}`, { ...ids, removed: true });
    });

  examples(org.command('delete'), 'tessera org delete acme', 'tessera org delete acme --yes')
    .description('delete an organization with its groups and memberships; asks for confirmation in a terminal')
    .argument(...ORGANIZATION)
    .option(...YES)
    .action(async (which: string, options: { yes?: boolean }, command: Command) => {
      const { flags, out } = getContext(command);
      const { id, change } = await withApi(flags, async (api) => {
        const id = await organizationId(api, which);
        const organization = await api.get<OrganizationView>(path`/organizations/${id}`);
        await confirm(
          `This deletes the organization ${organization.name} (${organization.id}) with its groups. People who may use an app by it alone lose the app.`,
          options,
        );
        return { id, change: await api.delete<AccessChangeView>(path`/organizations/${id}`) };
      });
      out.say(`Deleted the organization ${which}. ${describeChange(change)}`, {
        organizationId: id,
        deleted: true,
        ...change,
      });
    });
}
