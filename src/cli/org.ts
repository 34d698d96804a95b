import { Command } from 'commander';
import {
  CreateOrganizationRequest,
  createOrganization,
  deleteOrganization,
  getOrganization,
  organizationView,
  removeMember,
  SetMembershipRequest,
  setMember,
  UpdateOrganizationRequest,
  updateOrganization,
} from '../account-actions/organizations/organizations.ts';
import type { Core } from '../core.ts';
import { listOrganizations } from '../organizations/store.ts';
import { invalid, notFound } from '../platform/failure.ts';
import { isSnowflake } from '../platform/ids/ids.ts';
import { accountId } from './account-id.ts';
import { describeChange } from './change.ts';
import { checkInput, examples, type GetCommandContext } from './context.ts';
import { allPages, type PageOptions, withPageOptions } from './pages.ts';
import { countProgress } from './progress.ts';
import { confirm, YES } from './prompt.ts';
import { CLI_ORIGIN as origin, withCore } from './session.ts';

const ORGANIZATION = ['<organization>', 'ID or name'] as const;
const USER = ['<user>', 'ID, username or email'] as const;

const allOrganizations = ({ database }: Pick<Core, 'database'>, part: PageOptions = {}) =>
  database.read(() => allPages(listOrganizations, part));

/** Finds the ID of an organization by its ID or name. */
export async function organizationId(core: Core, which: string): Promise<string> {
  const found = (await allOrganizations(core)).find(({ id, name }) => id === which || name === which);
  if (found !== undefined) return found.id;
  if (isSnowflake(which)) return which;
  throw notFound(`There is no organization named ${which}. List them with: tessera org list`);
}

export function orgCommands(getContext: GetCommandContext): Command {
  const org = new Command('org').description(
    'manage organizations: create, show, update, list, add-member, remove-member, delete',
  );
  recordCommands(org, getContext);
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
      const made = await withCore(flags, (core) => createOrganization(core, input, origin), { mayBeNew: true });
      out.show(organizationView(made));
    });

  examples(org.command('show'), 'tessera org show acme')
    .description('show an organization and its members')
    .argument(...ORGANIZATION)
    .action(async (which: string, _options, command: Command) => {
      const { flags, out } = getContext(command);
      const found = await withCore(flags, async (core) => getOrganization(core, await organizationId(core, which)));
      out.show({ ...organizationView(found.organization), members: found.members });
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
      const updated = await withCore(flags, async (core) =>
        updateOrganization(core, await organizationId(core, which), change, origin),
      );
      out.show(organizationView(updated));
    });

  examples(withPageOptions(org.command('list')), 'tessera org list')
    .description('list organizations')
    .action(async (options: PageOptions, command: Command) => {
      const { flags, out } = getContext(command);
      const found = await withCore(flags, (core) => allOrganizations(core, options));
      out.list(found.map(organizationView), ['id', 'name', 'domain', 'createdAt']);
    });
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
    .action(async (which: string, who: string, options: { role?: string }, command: Command) => {
      const { flags, out } = getContext(command);
      const { role = null } = checkInput(SetMembershipRequest, { role: options.role });
      const member = await withCore(flags, async (core) => {
        const ids = { organizationId: await organizationId(core, which), accountId: await accountId(core, who) };
        await setMember(core, { ...ids, role }, origin);
        return ids;
      });
      out.show({ organizationId: member.organizationId, userId: member.accountId, role });
    });

  examples(org.command('remove-member'), 'tessera org remove-member acme ada')
    .description('remove a member')
    .argument(...ORGANIZATION)
    .argument(...USER)
    .action(async (which: string, who: string, _options, command: Command) => {
      const { flags, out } = getContext(command);
      const ids = await withCore(flags, async (core) => {
        const found = { organizationId: await organizationId(core, which), userId: await accountId(core, who) };
        await removeMember(core, found.organizationId, found.userId, origin);
        return found;
      });
      out.say(`Removed ${who} from the organization.`, { ...ids, removed: true });
    });

  examples(org.command('delete'), 'tessera org delete acme', 'tessera org delete acme --yes')
    .description('delete an organization with its groups and memberships; asks for confirmation in a terminal')
    .argument(...ORGANIZATION)
    .option(...YES)
    .action(async (which: string, options: { yes?: boolean }, command: Command) => {
      const { flags, out } = getContext(command);
      const { id, change } = await withCore(flags, async (core) => {
        const { organization } = await getOrganization(core, await organizationId(core, which));
        await confirm(
          `This deletes the organization ${organization.name} (${organization.id}) with its groups. People who may use an app by it alone lose the app.`,
          options,
        );
        const done = await deleteOrganization(core, organization.id, origin, countProgress('Sign-ins'));
        return { id: organization.id, change: done };
      });
      out.say(`Deleted the organization ${which}. ${describeChange(change)}`, {
        organizationId: id,
        deleted: true,
        ...change,
      });
    });
}
