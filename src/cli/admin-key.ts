import { Command, Option } from 'commander';
import { CreateAdminKeyRequest } from '../account-actions/makers/admin-keys.ts';
import { OPERATOR_ROLES, type OperatorRole } from '../operators/permissions.ts';
import { notFound } from '../platform/failure.ts';
import { isSnowflake } from '../platform/ids/ids.ts';
import { type Api, path, withApi } from './api.ts';
import { checkInput, examples, type GetCommandContext } from './context.ts';
import { describeMade, END_MADE, type MadeView } from './made.ts';
import { organizationId } from './org.ts';
import { type PageOptions, withPageOptions } from './pages.ts';
import type { AdminKeyView } from './records.ts';
import { END, ORGANIZATION } from './roles.ts';

interface CreateOptions {
  readonly name: string;
  readonly role: OperatorRole;
  readonly organization?: string;
  readonly expires?: string;
}

interface RevokeOptions {
  readonly takeOver?: boolean;
  readonly endMade?: boolean;
}

/** What the end of a key did, as the admin API answers. */
interface Revoked {
  readonly ended: {
    readonly invitations: number;
    readonly recoveryLinks: number;
    readonly initialAccessTokens: number;
  };
  readonly takenOver: { readonly invitations: number };
  readonly made: MadeView;
}

const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

export function adminKeyCommands(getContext: GetCommandContext): Command {
  const adminKey = new Command('admin-key').description('manage keys for the admin API: create, list, revoke');

  examples(
    adminKey.command('create'),
    'tessera admin-key create --name "deploy script"',
    'tessera admin-key create --name "help desk" --role support --expires 90d',
    'tessera admin-key create --name "acme" --role admin --organization acme',
    'curl -H "Authorization: Bearer <key>" http://localhost:3000/api/v2/admin/users',
  )
    .description('create a key; it is shown only once')
    .option('--name <name>', 'what the key is for', 'admin')
    .addOption(new Option('--role <role>', 'what the key may do').choices(OPERATOR_ROLES).default('owner'))
    .option(...ORGANIZATION)
    .option(...END)
    .action(async ({ name, role, organization, expires }: CreateOptions, command: Command) => {
      const { flags, out } = getContext(command);
      const create = async (api: Api) => {
        const input = checkInput(CreateAdminKeyRequest, {
          ...{ name, role, expiresAt: expires },
          organizationId: organization === undefined ? undefined : await organizationId(api, organization),
        });
        return api.post<AdminKeyView & { adminKey: string }>('/admin-keys', input);
      };
      const made = await withApi(flags, create, { mayBeNew: true });
      out.showOnce(made, 'adminKey');
      if (command.getOptionValueSource('role') === 'default') {
        out.note(
          'Without --role this is the key of an owner, which may do everything. To limit the next one: --role, --expires.',
        );
      }
    });

  examples(withPageOptions(adminKey.command('list')), 'tessera admin-key list')
    .description('list keys, including revoked ones and those that have ended')
    .action(async (part: PageOptions, command: Command) => {
      const { flags, out } = getContext(command);
      const keys = await withApi(flags, (api) => api.list<AdminKeyView>('/admin-keys', part));
      out.list(keys, ['id', 'name', 'role', 'organizationId', 'status', 'createdAt', 'expiresAt', 'lastUsedAt']);
    });

  examples(
    adminKey.command('revoke'),
    'tessera admin-key revoke 289236738748416000',
    'tessera admin-key revoke 289236738748416000 --take-over',
  )
    .description(
      'revoke a key immediately; invitations, recovery links and initial access tokens made with it and not used end, too',
    )
    .argument('<id>', 'ID of the key, not the key itself')
    .option(...END_MADE)
    .option('--take-over', 'keep the invitations, as if they were made on the command line; recovery links always end')
    .action(async (id: string, { takeOver = false, endMade = false }: RevokeOptions, command: Command) => {
      const { flags, out } = getContext(command);
      if (!isSnowflake(id)) {
        // The argument may be the key itself, so it is not repeated.
        throw notFound('There is no admin key with this id. List them with: tessera admin-key list');
      }
      const { ended, takenOver, made } = await withApi(flags, (api) =>
        api.delete<Revoked>(path`/admin-keys/${id}`, { takeOver: String(takeOver), endMade: String(endMade) }),
      );
      const { invitations, recoveryLinks, initialAccessTokens } = ended;
      const text = [
        `Revoked the admin key ${id}.`,
        `Ended with it, unused: ${plural(invitations, 'invitation')}, ${plural(recoveryLinks, 'recovery link')} and ${plural(initialAccessTokens, 'initial access token')}.`,
        ...(takeOver ? [`Taken over: ${plural(takenOver.invitations, 'invitation')}.`] : []),
        describeMade(made, endMade),
      ];
      out.say(text.join('\n'), { id, revoked: true, ended, takenOver, made });
    });

  return adminKey;
}
