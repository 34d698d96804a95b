import type { Command } from 'commander';
import type { AppAccess, NamedPath, Obstacle } from '../access/rules/app-access.ts';
import type { AssignedTo } from '../access/store.ts';
import { appAccessView, assignmentView } from '../access/view.ts';
import { appAccessOf } from '../account-actions/access/app-access.ts';
import { findAccount } from '../accounts/store.ts';
import { getClient } from '../clients/clients.ts';
import type { Core } from '../core.ts';
import { findGroup } from '../groups/store.ts';
import { findOrganization } from '../organizations/store.ts';
import type { Work } from '../platform/database/database.ts';
import { allAssignments } from './assign.ts';
import { examples, type GetCommandContext } from './context.ts';
import { printable } from './output.ts';
import { withCore } from './session.ts';
import { accountId } from './user.ts';

/** Adds the command that tells who may use an app, or whether one person may. */
export function accessCommand(
  about: (name: string, description: string) => Command,
  checkedClientId: (id: string) => string,
  getContext: GetCommandContext,
): void {
  examples(
    about('access', 'tell who may use an app; of one user, whether and why'),
    'tessera client access 289236738748416000',
    'tessera client access 289236738748416000 ada',
  )
    .argument('[user]', 'ID, username or email')
    .action(async (id: string, who: string | undefined, _options, command: Command) => {
      const { flags, out } = getContext(command);
      const said = await withCore(flags, async (core) => {
        const { client } = await getClient(core, checkedClientId(id));
        const app = `${client.name} (${id})`;
        if (who === undefined) return ofEveryone(core, id, app, client.access);
        const access = await appAccessOf(core, id, await accountId(core, who));
        return { text: describeAccess(access, app, who), record: appAccessView(access) };
      });
      out.say(said.text.split('\n').map(printable).join('\n'), said.record);
    });
}

const openTo = (access: AppAccess['access']): string =>
  access === 'everyone' ? 'everyone' : 'the people, groups and organizations that are assigned to it';

const inRole = (role: string | null): string => (role === null ? '' : `, in the role ${role}`);

/** Who may use an app. */
async function ofEveryone(core: Core, clientId: string, app: string, access: AppAccess['access']) {
  const assignments = await allAssignments(core, clientId);
  const names = await core.database.read(() => namesOf(assignments.map(({ to }) => to)));
  const lines = assignments.map(({ role }, n) => `  ${names[n]}${inRole(role)}`);
  const list = lines.length === 0 ? ['Nobody is assigned to it.'] : ['Assigned:', ...lines];
  return {
    text: [`${app} is open to ${openTo(access)}.`, ...list].join('\n'),
    record: { clientId, access, assignments: assignments.map(assignmentView) },
  };
}

function* namesOf(assigned: readonly AssignedTo[]): Work<readonly string[]> {
  const names: string[] = [];
  for (const to of assigned) names.push(yield* nameOf(to));
  return names;
}

function* nameOf(to: AssignedTo): Work<string> {
  switch (to.kind) {
    case 'person':
      return `user ${(yield* findAccount({ id: to.accountId }))?.profile.username ?? to.accountId}`;
    case 'organization':
      return `organization ${(yield* findOrganization({ id: to.organizationId }))?.name ?? to.organizationId}`;
    case 'group': {
      const group = yield* findGroup({ id: to.groupId });
      if (group === undefined || group.organizationId === null) return `group ${group?.name ?? to.groupId}`;
      return `group ${(yield* findOrganization({ id: group.organizationId }))?.name ?? ''}/${group.name}`;
    }
  }
}

/** Whether a person may use an app, in sentences. */
function describeAccess({ clientId, access, roles, paths, obstacles }: AppAccess, app: string, who: string): string {
  const isAllowed = obstacles.length === 0;
  const as = isAllowed && roles.length > 0 ? `, in the role${roles.length > 1 ? 's' : ''} ${roles.join(', ')}` : '';
  return [
    `${who} may ${isAllowed ? '' : 'not '}use ${app}${as}.`,
    ...obstacles.map((obstacle) => `  ${OBSTACLE_TEXTS[obstacle](who, clientId)}`),
    ...(access === 'everyone' ? ['  The app is open to everyone.'] : []),
    ...paths.map((path) => `  ${describePath(path, who)}`),
  ].join('\n');
}

function describePath({ to, name, role }: NamedPath, who: string): string {
  if (to.kind === 'person') return `${who} is assigned${inRole(role)}.`;
  return `${who} is in the ${to.kind} ${name}, which is assigned${inRole(role)}.`;
}

const OBSTACLE_TEXTS: Readonly<Record<Obstacle, (who: string, clientId: string) => string>> = {
  client_disabled: (_who, clientId) => `The app is disabled. Enable it: tessera client enable ${clientId}`,
  client_without_sign_in: () =>
    'The app is not registered for the grant type authorization_code: nobody signs in to it.',
  account_banned: (who) => `The account is banned. Lift the ban: tessera user unban ${who}`,
  account_suspended: (who) => `The account is suspended. Lift the suspension: tessera user reinstate ${who}`,
  not_assigned: (who, clientId) =>
    `The app is open to assigned people only, and no assignment reaches ${who}. Assign one: tessera client assign ${clientId} --user ${who}`,
};
