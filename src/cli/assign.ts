import type { Command } from 'commander';
import { CreateAssignmentRequest, readAssignedTo } from '../access/schema.ts';
import { invalid, notFound } from '../platform/failure.ts';
import { accountId } from './account-id.ts';
import { type Api, path, withApi } from './api.ts';
import { type AccessChangeView, describeChange } from './change.ts';
import { checkInput, examples, type GetCommandContext } from './context.ts';
import { groupId } from './group.ts';
import { organizationId } from './org.ts';
import { type PageOptions, withPageOptions } from './pages.ts';
import type { AssignmentView } from './records.ts';

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
async function readWhom(api: Api, { user, group, organization, role }: WhomOptions): Promise<CreateAssignmentRequest> {
  const input = checkInput(CreateAssignmentRequest, {
    userId: user === undefined ? undefined : await accountId(api, user),
    groupId: group === undefined ? undefined : await groupId(api, group),
    organizationId: organization === undefined ? undefined : await organizationId(api, organization),
    role,
  });
  if (readAssignedTo(input) === undefined) throw invalid('Name exactly one of --user, --group and --organization.');
  return input;
}

const isSame = (assignment: AssignmentView, whom: CreateAssignmentRequest, role: string | null | undefined): boolean =>
  assignment.userId === (whom.userId ?? null) &&
  assignment.groupId === (whom.groupId ?? null) &&
  assignment.organizationId === (whom.organizationId ?? null) &&
  (role === undefined || assignment.role === role);

/** An app's assignments. @throws {Failure} `not found` */
export const allAssignments = (
  api: Api,
  clientId: string,
  part: PageOptions = {},
): Promise<readonly AssignmentView[]> => api.list<AssignmentView>(path`/clients/${clientId}/assignments`, part);

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
    const made = await withApi(flags, async (api) => {
      const input = await readWhom(api, options);
      return api.post<AssignmentView>(path`/clients/${checkedClientId(id)}/assignments`, input);
    });
    out.show(made);
  });

  examples(
    withWhom(about('unassign', 'take an assignment away; sign-ins that rest on it end immediately')),
    'tessera client unassign 289236738748416000 --group analysts',
  ).action(async (id: string, options: WhomOptions, command: Command) => {
    const { flags, out } = getContext(command);
    const clientId = checkedClientId(id);
    const { assignmentIds, change } = await withApi(flags, async (api) => {
      const whom = await readWhom(api, options);
      const all = await allAssignments(api, clientId);
      const found = all.filter((assignment) => isSame(assignment, whom, whom.role));
      if (found.length === 0) {
        throw notFound(`The app has no such assignment. List them with: tessera client assignments ${id}`);
      }
      let kept = 0;
      let ended = 0;
      for (const assignment of found) {
        const one = await api.delete<AccessChangeView>(path`/clients/${clientId}/assignments/${assignment.id}`);
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
      const changed = await withApi(flags, async (api) => {
        const input = await readWhom(api, whom);
        const all = await allAssignments(api, clientId);
        const [found, ...others] = all.filter((assignment) => isSame(assignment, input, from));
        if (found === undefined) {
          throw notFound(`The app has no such assignment. List them with: tessera client assignments ${id}`);
        }
        if (others.length > 0) throw invalid('There are several assignments: choose one with --from.');
        const change = { role: role === false ? null : role };
        return api.patch<AssignmentView>(path`/clients/${clientId}/assignments/${found.id}`, change);
      });
      out.show(changed);
    });

  examples(
    withPageOptions(about('assignments', 'list who is assigned to an app')),
    'tessera client assignments 289236738748416000',
  ).action(async (id: string, part: PageOptions, command: Command) => {
    const { flags, out } = getContext(command);
    const found = await withApi(flags, (api) => allAssignments(api, checkedClientId(id), part));
    out.list(found, ['id', 'userId', 'groupId', 'organizationId', 'role', 'createdAt']);
  });
}
