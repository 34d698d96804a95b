import { Command } from 'commander';
import type { Core } from '../core.ts';
import {
  CreateOrganizationRequest,
  createOrganization,
  getOrganization,
  organizationView,
  removeMember,
  SetMembershipRequest,
  setMember,
} from '../organizations/organizations.ts';
import { listOrganizations } from '../organizations/store.ts';
import { isSnowflake } from '../platform/ids/ids.ts';
import { notFound } from '../platform/oauth-error.ts';
import { type ContextOf, checkInput, examples } from './context.ts';
import { allPages, type PageOptions, withPageOptions } from './pages.ts';
import { CLI_ORIGIN as origin, withCore } from './session.ts';
import { accountId } from './user.ts';

const WHICH = ['<organization>', 'id or name'] as const;
const WHO = ['<user>', 'id, username or email'] as const;

const allOrganizations = ({ database }: Pick<Core, 'database'>, part: PageOptions = {}) =>
  database.read(() => allPages(listOrganizations, part));

/** The id of an organization that is named by its id or its name. */
async function organizationId(core: Core, which: string): Promise<string> {
  const found = (await allOrganizations(core)).find(({ id, name }) => id === which || name === which);
  if (found !== undefined) return found.id;
  if (isSnowflake(which)) return which;
  throw notFound(`There is no organization named ${which}. List them with: tessera org list`);
}

export function orgCommands(contextOf: ContextOf): Command {
  const org = new Command('org').description('organizations: create, show, list, add-member, remove-member');

  examples(org.command('create'), 'tessera org create --name acme --domain acme.example')
    .description('make an organization')
    .requiredOption('--name <slug>', '2 to 48 of a-z 0-9 -')
    .requiredOption('--domain <domain>', 'its primary domain')
    .action(async (options: { name: string; domain: string }, command: Command) => {
      const { flags, out } = contextOf(command);
      const input = checkInput(CreateOrganizationRequest, options);
      const made = await withCore(flags, (core) => createOrganization(core, input, origin), { mayBeNew: true });
      out.show(organizationView(made));
    });

  examples(org.command('show'), 'tessera org show acme')
    .description('show an organization and its members')
    .argument(...WHICH)
    .action(async (which: string, _options, command: Command) => {
      const { flags, out } = contextOf(command);
      const found = await withCore(flags, async (core) => getOrganization(core, await organizationId(core, which)));
      out.show({ ...organizationView(found.organization), members: found.members });
    });

  examples(withPageOptions(org.command('list')), 'tessera org list')
    .description('list organizations')
    .action(async (options: PageOptions, command: Command) => {
      const { flags, out } = contextOf(command);
      const found = await withCore(flags, (core) => allOrganizations(core, options));
      out.list(found.map(organizationView), ['id', 'name', 'domain', 'createdAt']);
    });

  examples(
    org.command('add-member'),
    'tessera org add-member acme ada --role OWNER',
    'tessera org add-member acme ada@example.com',
  )
    .description('make a person a member, or set the role of a member; without --role, no role')
    .argument(...WHICH)
    .argument(...WHO)
    .option('--role <role>', 'OWNER, ADMIN or MEMBER')
    .action(async (which: string, who: string, options: { role?: string }, command: Command) => {
      const { flags, out } = contextOf(command);
      const { role = null } = checkInput(SetMembershipRequest, { role: options.role });
      const member = await withCore(flags, async (core) => {
        const ids = { organizationId: await organizationId(core, which), accountId: await accountId(core, who) };
        await setMember(core, { ...ids, role }, origin);
        return ids;
      });
      out.show({ organizationId: member.organizationId, userId: member.accountId, role });
    });

  examples(org.command('remove-member'), 'tessera org remove-member acme ada')
    .description('end a membership')
    .argument(...WHICH)
    .argument(...WHO)
    .action(async (which: string, who: string, _options, command: Command) => {
      const { flags, out } = contextOf(command);
      const ids = await withCore(flags, async (core) => {
        const found = { organizationId: await organizationId(core, which), userId: await accountId(core, who) };
        await removeMember(core, found.organizationId, found.userId, origin);
        return found;
      });
      out.say(`${who} is no member any more.`, { ...ids, removed: true });
    });

  return org;
}
