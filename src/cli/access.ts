import type { Command } from 'commander';
import type { Obstacle } from '../access/rules/app-access.ts';
import { ENDPOINT_RULES } from '../claims/endpoint-set.ts';
import { Failure } from '../platform/failure.ts';
import { PreviewRequest, type previewView } from '../protocol/preview/schema.ts';
import { accountId } from './account-id.ts';
import { type Api, path, withApi } from './api.ts';
import { allAssignments } from './assign.ts';
import { findClientId } from './client-id.ts';
import { checkInput, examples, type GetCommandContext } from './context.ts';
import { printable } from './output.ts';
import type { AccessView, AssignmentView, ClientView, GroupView, OrganizationView, UserView } from './records.ts';
import { findInOrder } from './swapped.ts';

type Preview = ReturnType<typeof previewView>;

/** The ID of a user who is named after an app. */
async function userOf(api: Api, command: string, id: string, who: string): Promise<string> {
  const [, userId] = await findInOrder(
    `client ${command} <clientId> <user>`,
    { what: 'an app', text: id, find: (text) => findClientId(api, text) },
    { what: 'a user', text: who, find: (text) => accountId(api, text) },
  );
  return userId;
}

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
      const said = await withApi(flags, async (api) => {
        const userId = who === undefined ? undefined : await userOf(api, 'access', id, who);
        const client = await api.get<ClientView>(path`/clients/${checkedClientId(id)}`);
        const app = `${client.name} (${id})`;
        if (userId === undefined || who === undefined) return ofEveryone(api, app, client);
        const access = await api.get<AccessView>(path`/clients/${id}/access/${userId}`);
        return { text: describeAccess(access, app, who), record: access };
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
        const said = await withApi({ ...flags, ...(baseUrl !== undefined && { baseUrl }) }, async (api) => {
          const userId = await userOf(api, 'preview', id, who);
          const client = await api.get<ClientView>(path`/clients/${id}`);
          const input = checkInput(PreviewRequest, { userId, ...asked });
          const preview = await api.post<Preview>(path`/clients/${id}/preview`, input);
          const heads = [describeAccess(preview.access, `${client.name} (${id})`, who)];
          return { text: [...heads, ...preview.endpoints.map(describePreview)].join('\n\n'), record: preview };
        });
        out.say(printableLines(said.text), said.record);
      },
    );
}

const openTo = (access: AccessView['access']): string =>
  access === 'everyone' ? 'everyone' : 'the people, groups and organizations that are assigned to it';

const inRole = (role: string | null): string => (role === null ? '' : `, in the role ${role}`);

/** Who may use an app. */
async function ofEveryone(api: Api, app: string, { clientId, access }: ClientView) {
  const assignments = await allAssignments(api, clientId);
  const lines: string[] = [];
  for (const assignment of assignments) lines.push(`  ${await nameOf(api, assignment)}${inRole(assignment.role)}`);
  const list = lines.length === 0 ? ['Nobody is assigned to it.'] : ['Assigned:', ...lines];
  return {
    text: [`${app} is open to ${openTo(access)}.`, ...list].join('\n'),
    record: { clientId, access, assignments },
  };
}

async function nameOf(api: Api, { userId, groupId, organizationId }: AssignmentView): Promise<string> {
  if (userId !== null) return `user ${await usernameOf(api, userId)}`;
  if (organizationId !== null) return `organization ${await organizationNameOf(api, organizationId)}`;
  const id = groupId ?? '';
  const group = await seen(() => api.get<GroupView>(path`/groups/${id}`));
  if (group === undefined || group.organizationId === null) return `group ${group?.name ?? id}`;
  return `group ${await organizationNameOf(api, group.organizationId)}/${group.name}`;
}

/** By a search: opening the record of a person is an audit event. */
async function usernameOf(api: Api, id: string): Promise<string> {
  const found = await seen(() => api.get<{ items: readonly UserView[] }>('/users', { q: id, limit: 1 }));
  return found?.items.find((user) => user.id === id)?.username ?? id;
}

const organizationNameOf = async (api: Api, id: string): Promise<string> =>
  (await seen(() => api.get<OrganizationView>(path`/organizations/${id}`)))?.name ?? id;

/** Reads what the caller may not see, or what is gone, as undefined. */
async function seen<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof Failure && ['not found', 'insufficient permission'].includes(error.kind)) return undefined;
    throw error;
  }
}

/** Whether a person may use an app, in sentences. */
function describeAccess(
  { clientId, access, allowed, roles, assignments, obstacles }: AccessView,
  app: string,
  who: string,
): string {
  const as = allowed && roles.length > 0 ? `, in the role${roles.length > 1 ? 's' : ''} ${roles.join(', ')}` : '';
  return [
    `${who} may ${allowed ? '' : 'not '}use ${app}${as}.`,
    ...obstacles.map((obstacle) => `  ${OBSTACLE_TEXTS[obstacle](who, clientId)}`),
    ...(access === 'everyone' ? ['  The app is open to everyone.'] : []),
    ...assignments.map((assignment) => `  ${describePath(assignment, who)}`),
  ].join('\n');
}

function describePath({ userId, groupId, name, role }: AccessView['assignments'][number], who: string): string {
  if (userId !== null) return `${who} is assigned${inRole(role)}.`;
  return `${who} is in the ${groupId === null ? 'organization' : 'group'} ${name}, which is assigned${inRole(role)}.`;
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

function describePreview({
  endpoints,
  error,
  errorDescription,
  scope,
  ...preview
}: Preview['endpoints'][number]): string {
  const { authorizationPath } = ENDPOINT_RULES[endpoints];
  if (error !== null) return `From ${authorizationPath}: ${error}: ${errorDescription}`;
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
