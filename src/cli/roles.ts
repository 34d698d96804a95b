import { Argument, type Command } from 'commander';
import { GrantRoleRequest } from '../account-actions/operators/grants.ts';
import { OPERATOR_ROLES, type OperatorRole } from '../operators/permissions.ts';
import { accountId } from './account-id.ts';
import { type Api, path, withApi } from './api.ts';
import { checkInput, examples, type GetCommandContext } from './context.ts';
import { describeMade, END_MADE, type MadeView } from './made.ts';
import { futureTime } from './option-parsers.ts';
import { organizationId } from './org.ts';
import { LAST_OWNER } from './prompt.ts';
import type { RoleView } from './records.ts';

const roleArgument = (): Argument => new Argument('<role>', 'the role').choices(OPERATOR_ROLES);
export const ORGANIZATION = ['--organization <organization>', 'only in this organization: ID or name'] as const;
export const END = [
  '--expires <when>',
  'when it ends: 2030-01-31T12:00:00Z, or 12h, 90d from now',
  futureTime,
] as const;

/** Adds the commands about the roles of people. */
export function roleCommands(
  about: (name: string, description: string) => Command,
  getContext: GetCommandContext,
): void {
  examples(
    about('grant-role', 'give a user a role of operators, or change its end'),
    'tessera user grant-role ada owner',
    'tessera user grant-role ada support --expires 90d',
    'tessera user grant-role ada auditor --organization acme',
  )
    .addArgument(roleArgument())
    .option(...ORGANIZATION)
    .option(...END)
    .option(...END_MADE)
    .option(...LAST_OWNER)
    .action(
      async (
        who: string,
        role: OperatorRole,
        options: { organization?: string; expires?: string; endMade?: boolean; lastOwner?: boolean },
        command: Command,
      ) => {
        const { flags, out } = getContext(command);
        const { organization, expires, endMade = false, lastOwner } = options;
        const grant = async (api: Api) => {
          const input = checkInput(GrantRoleRequest, {
            organizationId: organization === undefined ? undefined : await organizationId(api, organization),
            expiresAt: expires,
          });
          const to = path`/users/${await accountId(api, who)}/roles/${role}?endMade=${String(endMade)}`;
          return api.put<RoleView & { readonly made?: MadeView }>(to, input);
        };
        const given = await withApi(flags, grant, { lastOwner });
        if (given.made === undefined) out.show(given);
        else out.say(`Changed the end of the role ${role}.\n${describeMade(given.made, endMade)}`, given);
      },
    );

  examples(
    about('revoke-role', 'take a role of operators away from a user, immediately'),
    'tessera user revoke-role ada support',
    'tessera user revoke-role ada admin --end-made',
  )
    .addArgument(roleArgument())
    .option(...ORGANIZATION)
    .option(...END_MADE)
    .option(...LAST_OWNER)
    .action(
      async (
        who: string,
        role: OperatorRole,
        options: { organization?: string; endMade?: boolean; lastOwner?: boolean },
        command: Command,
      ) => {
        const { flags, out } = getContext(command);
        const { organization, endMade = false, lastOwner = false } = options;
        const revoke = async (api: Api) => {
          const of = organization === undefined ? undefined : await organizationId(api, organization);
          const id = await accountId(api, who);
          const to = path`/users/${id}/roles/${role}`;
          return {
            id,
            ...(await api.delete<{ made: MadeView }>(to, { organizationId: of, endMade: String(endMade) })),
          };
        };
        const { id, made } = await withApi(flags, revoke, { lastOwner });
        const text = [`Took the role ${role} away.`, describeMade(made, endMade)];
        if (lastOwner && role === 'owner') text.push('Make the next owner with: tessera user grant-role <user> owner');
        out.say(text.join('\n'), { userId: id, role, made, ended: endMade });
      },
    );

  examples(about('roles', 'list the roles of a user as an operator'), 'tessera user roles ada').action(
    async (who: string, _options, command: Command) => {
      const { flags, out } = getContext(command);
      const found = await withApi(flags, async (api) =>
        api.items<RoleView>(path`/users/${await accountId(api, who)}/roles`),
      );
      out.list(found, ['role', 'organizationId', 'expiresAt', 'createdAt', 'madeBy']);
    },
  );
}
