import { Command } from 'commander';
import { isSnowflake } from '../identifiers/snowflake.ts';
import { notFound } from '../oauth-error.ts';
import {
  createOrganization,
  Membership,
  NewOrganization,
  organizationView,
  removeMember,
  setMember,
} from '../organizations/organizations.ts';
import { listOrganizations, type Organization } from '../organizations/store.ts';
import { validate } from '../validation/validate.ts';
import { type ContextOf, given } from './context.ts';
import { CLI_ORIGIN as origin, withCore } from './session.ts';
import { accountId } from './user.ts';

function checkedId(id: string): string {
  if (!isSnowflake(id)) throw notFound(`There is no organization with the id ${id}. List them with: tessera org list`);
  return id;
}

export function orgCommands(contextOf: ContextOf): Command {
  const org = new Command('org').description('organizations: create, list, add-member, remove-member');

  org
    .command('create')
    .description('make an organization')
    .requiredOption('--name <slug>', '2 to 48 of a-z 0-9 -')
    .requiredOption('--domain <domain>', 'its primary domain')
    .action(async (options: { name: string; domain: string }, command: Command) => {
      const { flags, out } = contextOf(command);
      const input = validate(NewOrganization, options);
      out.show(organizationView(await withCore(flags, (core) => createOrganization(core, input, origin))));
    });

  org
    .command('list')
    .description('list organizations')
    .action(async (_options, command: Command) => {
      const { flags, out } = contextOf(command);
      const found = await withCore(flags, ({ database }) =>
        database.read(function* read() {
          const all: Organization[] = [];
          for (let after = '0'; ; ) {
            const part: Organization[] = yield* listOrganizations({ after, limit: 500 });
            all.push(...part);
            if (part.length < 500) return all;
            after = part.at(-1)?.id ?? after;
          }
        }),
      );
      out.list(found.map(organizationView), ['id', 'name', 'domain', 'createdAt']);
    });

  org
    .command('add-member')
    .description('make a person a member, or change the role')
    .argument('<organizationId>')
    .argument('<user>', 'id, username or email')
    .option('--role <role>', 'OWNER, ADMIN or MEMBER')
    .action(async (organization: string, who: string, options: { role?: string }, command: Command) => {
      const { flags, out } = contextOf(command);
      const { role = null } = validate(Membership, given(options));
      const organizationId = checkedId(organization);
      const userId = await withCore(flags, async (core) => {
        const id = await accountId(core, who);
        await setMember(core, { organizationId, accountId: id, role }, origin);
        return id;
      });
      out.show({ organizationId, userId, role });
    });

  org
    .command('remove-member')
    .description('end a membership')
    .argument('<organizationId>')
    .argument('<user>', 'id, username or email')
    .action(async (organization: string, who: string, _options, command: Command) => {
      const { flags, out } = contextOf(command);
      const organizationId = checkedId(organization);
      await withCore(flags, async (core) => removeMember(core, organizationId, await accountId(core, who), origin));
      out.say(`${who} is no member any more.`, { organizationId, removed: true });
    });

  return org;
}
