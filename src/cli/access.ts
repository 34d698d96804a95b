import type { Command } from 'commander';
import type { AppAccess, NamedPath, Obstacle } from '../access/rules/app-access.ts';
import type { AssignedTo } from '../access/store.ts';
import { appAccessView, assignmentView } from '../access/view.ts';
import { appAccessOf } from '../account-actions/access/app-access.ts';
import { findAccount } from '../accounts/store.ts';
import { ENDPOINT_RULES } from '../claims/endpoint-set.ts';
import { getClient } from '../clients/clients.ts';
import type { Core } from '../core.ts';
import { findGroup } from '../groups/store.ts';
import { findOrganization } from '../organizations/store.ts';
import { baseUrlOf } from '../platform/config/config.ts';
import type { Work } from '../platform/database/database.ts';
import { type EndpointPreview, previewTokens } from '../protocol/preview/preview.ts';
import { PreviewRequest, previewView } from '../protocol/preview/schema.ts';
import { accountId } from './account-id.ts';
import { allAssignments } from './assign.ts';
import { checkInput, examples, type GetCommandContext } from './context.ts';
import { printable } from './output.ts';
import { CLI_ORIGIN as origin, withCore } from './session.ts';

/** Adds the commands that tell who may use an app, and what its tokens would say. */
export function accessCommands(
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
      out.say(printableLines(said.text), said.record);
    });

  examples(
    about('preview', 'tell what the tokens of a user would say in an app; nothing is issued'),
    'tessera client preview 289236738748416000 ada',
    'tessera client preview 289236738748416000 ada --scope "openid profile groups roles"',
  )
    .argument('<user>', 'ID, username or email')
    .option('--scope <scopes>', 'scopes as in an authorization request (default: openid)')
    .option(
      '--resource <uri>',
      'API that the access token is for; can be repeated',
      (uri, others: readonly string[] = []) => [...others, uri],
    )
    .option('--claims <json>', 'the parameter claims of an authorization request')
    .option('--base-url <url>', 'public base URL of the server (TESSERA_BASE_URL)')
    .action(
      async (
        id: string,
        who: string,
        { baseUrl, ...asked }: Omit<PreviewRequest, 'userId'> & { baseUrl?: string },
        command: Command,
      ) => {
        const { flags, out } = getContext(command);
        const said = await withCore({ ...flags, ...(baseUrl !== undefined && { baseUrl }) }, async (core) => {
          const { client } = await getClient(core, checkedClientId(id));
          const { userId, ...input } = checkInput(PreviewRequest, { userId: await accountId(core, who), ...asked });
          const services = { ...core, issuer: baseUrlOf(core.config, core.config.port) };
          const preview = await previewTokens(services, { ...input, clientId: id, accountId: userId }, origin);
          const heads = [describeAccess(preview.access, `${client.name} (${id})`, who)];
          return {
            text: [...heads, ...preview.endpoints.map(describePreview)].join('\n\n'),
            record: previewView(preview),
          };
        });
        out.say(printableLines(said.text), said.record);
      },
    );
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

/** Names that people chose may be in it. */
const printableLines = (text: string): string => text.split('\n').map(printable).join('\n');

function describePreview({ endpointSet, error, scope, ...preview }: EndpointPreview): string {
  const { authorizationPath } = ENDPOINT_RULES[endpointSet];
  if (error !== null) return `From ${authorizationPath}: ${error.error}: ${error.description}`;
  const part = (name: string, value: object | null): string =>
    value === null ? `${name}: none, without the scope openid` : `${name}: ${JSON.stringify(value, null, 2)}`;
  return [
    `From ${authorizationPath}, with the scopes ${scope}:`,
    ...(preview.ignoredScopes.length > 0 ? [`Ignored: ${preview.ignoredScopes.join(' ')}`] : []),
    ...preview.leftOut.map(({ message }) => message),
    part('ID token', preview.idToken),
    part('UserInfo', preview.userinfo),
    part('Introspection', preview.introspection),
  ].join('\n');
}
