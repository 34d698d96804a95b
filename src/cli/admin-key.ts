import { Command, Option } from 'commander';
import {
  adminKeyView,
  CreateAdminKeyRequest,
  createAdminKey,
  type RevokeOptions,
  revokeAdminKey,
} from '../admin/keys.ts';
import { listAdminKeys } from '../admin-keys/store.ts';
import type { Core } from '../core.ts';
import { OPERATOR_ROLES, type OperatorRole } from '../operators/permissions.ts';
import { notFound } from '../platform/failure.ts';
import { isSnowflake } from '../platform/ids/ids.ts';
import { checkInput, examples, type GetCommandContext } from './context.ts';
import { describeMade, madeRecord } from './made.ts';
import { organizationId } from './org.ts';
import { allPages, type PageOptions, withPageOptions } from './pages.ts';
import { END, END_MADE, ORGANIZATION } from './roles.ts';
import { CLI_ORIGIN as origin, withCore } from './session.ts';

interface CreateOptions {
  readonly name: string;
  readonly role: OperatorRole;
  readonly organization?: string;
  readonly expires?: string;
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
      const create = async (core: Core) => {
        const input = checkInput(CreateAdminKeyRequest, {
          ...{ name, role, expiresAt: expires },
          organizationId: organization === undefined ? undefined : await organizationId(core, organization),
        });
        return createAdminKey(core, input, origin);
      };
      const made = await withCore(flags, create, { mayBeNew: true });
      out.showOnce({ ...adminKeyView(made.key, Date.now()), adminKey: made.adminKey }, 'adminKey');
    });

  examples(withPageOptions(adminKey.command('list')), 'tessera admin-key list')
    .description('list keys, including revoked ones and those that have ended')
    .action(async (part: PageOptions, command: Command) => {
      const { flags, out } = getContext(command);
      const keys = await withCore(flags, ({ database }) => database.read(() => allPages(listAdminKeys, part)));
      out.list(
        keys.map((key) => adminKeyView(key, Date.now())),
        ['id', 'name', 'role', 'organizationId', 'status', 'createdAt', 'expiresAt', 'lastUsedAt'],
      );
    });

  examples(
    adminKey.command('revoke'),
    'tessera admin-key revoke 289236738748416000',
    'tessera admin-key revoke 289236738748416000 --take-over',
  )
    .description('revoke a key immediately; invitations and recovery links made with it and not used end, too')
    .argument('<id>', 'ID of the key, not the key itself')
    .option(...END_MADE)
    .option('--take-over', 'keep the invitations, as if they were made on the command line; recovery links always end')
    .action(async (id: string, { takeOver = false, endMade = false }: RevokeOptions, command: Command) => {
      const { flags, out } = getContext(command);
      if (!isSnowflake(id)) {
        // The argument may be the key itself, so it is not repeated.
        throw notFound('There is no admin key with this id. List them with: tessera admin-key list');
      }
      const { ended, takenOver, made } = await withCore(flags, (core) =>
        revokeAdminKey(core, id, origin, { takeOver, endMade }),
      );
      const { invitations, recoveryLinks } = ended;
      const text = [
        `Revoked the admin key ${id}.`,
        `Ended with it, unused: ${plural(invitations, 'invitation')} and ${plural(recoveryLinks, 'recovery link')}.`,
        ...(takeOver ? [`Taken over: ${plural(takenOver.invitations, 'invitation')}.`] : []),
        describeMade(made, endMade),
      ];
      out.say(text.join('\n'), { id, revoked: true, ended, takenOver, made: madeRecord(made) });
    });

  return adminKey;
}
