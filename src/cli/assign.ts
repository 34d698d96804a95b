import type { Command } from 'commander';
import { CreateAssignmentRequest, readAssignedTo } from '../access/schema.ts';
import { type AssignedTo, type Assignment, listAssignments } from '../access/store.ts';
import { assignmentView } from '../access/view.ts';
import { assign, changeRole, unassign } from '../account-actions/access/assignments.ts';
import { getClient } from '../clients/clients.ts';
import type { Core } from '../core.ts';
import { invalid, notFound } from '../platform/failure.ts';
import { accountId } from './account-id.ts';
import { describeChange } from './change.ts';
import { checkInput, examples, type GetCommandContext } from './context.ts';
import { groupId } from './group.ts';
import { organizationId } from './org.ts';
import { allPages, type PageOptions, withPageOptions } from './pages.ts';
import { countProgress } from './progress.ts';
import { CLI_ORIGIN as origin, withCore } from './session.ts';

interface WhomOptions {
  readonly user?: string;
  readonly group?: string;
  readonly organization?: string;
  readonly role?: string;
}

interface SetRoleOptions extends Omit<WhomOptions, 'role'> {
  /** False for none. */
  readonly role?: string | false;
  readonly from?: string;
}

const withWhom = (command: Command): Command =>
  command
    .option('--user <user>', 'ID, username or email of a person')
    .option('--group <group>', 'ID or name of a group; ORGANIZATION/NAME for a group of an organization')
    .option('--organization <organization>', 'ID or name of an organization')
    .option('--role <role>', 'a role of the app');

/** The ids of whom the options name, checked as a request of the admin API. */
async function readWhom(core: Core, { user, group, organization, role }: WhomOptions) {
  const input = checkInput(CreateAssignmentRequest, {
    userId: user === undefined ? undefined : await accountId(core, user),
    groupId: group === undefined ? undefined : await groupId(core, group),
    organizationId: organization === undefined ? undefined : await organizationId(core, organization),
    role,
  });
  const to = readAssignedTo(input);
  if (to === undefined) throw invalid('Name exactly one of --user, --group and --organization.');
  return { to, role: input.role };
}

const idOf = (to: AssignedTo): string =>
  to.kind === 'person' ? to.accountId : to.kind === 'group' ? to.groupId : to.organizationId;

const isSame = (assignment: Assignment, to: AssignedTo, role: string | null | undefined): boolean =>
  assignment.to.kind === to.kind &&
  idOf(assignment.to) === idOf(to) &&
  (role === undefined || assignment.role === role);

/** Adds the commands about who may use an app. */
export function assignmentCommands(
  about: (name: string, description: string) => Command,
  checkedClientId: (id: string) => string,
  getContext: GetCommandContext,
): void {
  examples(
    withWhom(about('assign', 'let a person, a group or an organization use an app, perhaps in a role')),
    'tessera client assign 289236738748416000 --user ada',
    'tessera client assign 289236738748416000 --group analysts --role viewer',
    'tessera client assign 289236738748416000 --organization acme',
  ).action(async (id: string, options: WhomOptions, command: Command) => {
    const { flags, out } = getContext(command);
    const made = await withCore(flags, async (core) => {
      const { to, role = null } = await readWhom(core, options);
      return assign(core, checkedClientId(id), to, role, origin);
    });
    out.show(assignmentView(made));
  });

  examples(
    withWhom(about('unassign', 'take an assignment away; sign-ins that rest on it end immediately')),
    'tessera client unassign 289236738748416000 --group analysts',
  ).action(async (id: string, options: WhomOptions, command: Command) => {
    const { flags, out } = getContext(command);
    const clientId = checkedClientId(id);
    const { assignmentIds, change } = await withCore(flags, async (core) => {
      const { to, role } = await readWhom(core, options);
      const all = await allAssignments(core, clientId);
      const found = all.filter((assignment) => isSame(assignment, to, role));
      if (found.length === 0) {
        throw notFound(`The app has no such assignment. List them with: tessera client assignments ${id}`);
      }
      let kept = 0;
      let ended = 0;
      for (const assignment of found) {
        const one = await unassign(core, clientId, assignment.id, origin, countProgress('Sign-ins'));
        kept += one.kept;
        ended += one.ended;
      }
      return { assignmentIds: found.map((assignment) => assignment.id), change: { kept, ended } };
    });
    out.say(
      `Took ${assignmentIds.length === 1 ? 'the assignment' : `${assignmentIds.length} assignments`} away. ${describeChange(change)}`,
      {
        clientId,
        assignmentIds,
        ...change,
      },
    );
  });

  examples(
    withWhom(about('set-role', 'change the role of an assignment; nothing ends, and tokens give the new role')),
    'tessera client set-role 289236738748416000 --group analysts --role editor',
    'tessera client set-role 289236738748416000 --user ada --no-role',
    'tessera client set-role 289236738748416000 --user ada --from viewer --role editor',
  )
    .option('--no-role', 'no role')
    .option('--from <role>', 'the role so far, if there are several assignments')
    .action(async (id: string, options: SetRoleOptions, command: Command) => {
      const { flags, out } = getContext(command);
      const clientId = checkedClientId(id);
      const { role, from, ...whom } = options;
      if (role === undefined) throw invalid('--role is missing: give the new role, or --no-role.');
      const changed = await withCore(flags, async (core) => {
        const { to } = await readWhom(core, whom);
        const all = await allAssignments(core, clientId);
        const [found, ...others] = all.filter((assignment) => isSame(assignment, to, from));
        if (found === undefined) {
          throw notFound(`The app has no such assignment. List them with: tessera client assignments ${id}`);
        }
        if (others.length > 0) throw invalid('There are several assignments: choose one with --from.');
        return changeRole(core, clientId, found.id, role === false ? null : role, origin);
      });
      out.show(assignmentView(changed));
    });

  examples(
    withPageOptions(about('assignments', 'list who is assigned to an app')),
    'tessera client assignments 289236738748416000',
  ).action(async (id: string, part: PageOptions, command: Command) => {
    const { flags, out } = getContext(command);
    const found = await withCore(flags, (core) => allAssignments(core, checkedClientId(id), part));
    out.list(found.map(assignmentView), ['id', 'userId', 'groupId', 'organizationId', 'role', 'createdAt']);
  });
}

/** An app's assignments. @throws {Failure} `not found` */
export const allAssignments = async (
  core: Core,
  clientId: string,
  part: PageOptions = {},
): Promise<readonly Assignment[]> => {
  await getClient(core, clientId);
  return core.database.read(() => allPages((page) => listAssignments({ clientId, ...page }), part));
};
