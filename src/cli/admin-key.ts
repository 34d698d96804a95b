import { Command } from 'commander';
import { adminKeyView, CreateAdminKeyRequest, createAdminKey, revokeAdminKey } from '../admin/keys.ts';
import { listAdminKeys } from '../admin-keys/store.ts';
import { notFound } from '../platform/failure.ts';
import { isSnowflake } from '../platform/ids/ids.ts';
import { checkInput, examples, type GetCommandContext } from './context.ts';
import { CLI_ORIGIN as origin, withCore } from './session.ts';

const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

export function adminKeyCommands(getContext: GetCommandContext): Command {
  const adminKey = new Command('admin-key').description('manage keys for the admin API: create, list, revoke');

  examples(
    adminKey.command('create'),
    'tessera admin-key create --name "deploy script"',
    'curl -H "Authorization: Bearer <key>" http://localhost:3000/api/v2/admin/users',
  )
    .description('create a key; it is shown only once')
    .option('--name <name>', 'what the key is for', 'admin')
    .action(async (options: { name: string }, command: Command) => {
      const { flags, out } = getContext(command);
      const input = checkInput(CreateAdminKeyRequest, options);
      const made = await withCore(flags, (core) => createAdminKey(core, input, origin), { mayBeNew: true });
      out.showOnce({ ...adminKeyView(made.key), adminKey: made.adminKey }, 'adminKey');
    });

  examples(adminKey.command('list'), 'tessera admin-key list')
    .description('list keys, including revoked ones')
    .action(async (_options, command: Command) => {
      const { flags, out } = getContext(command);
      const keys = await withCore(flags, ({ database }) => database.read(() => listAdminKeys({})));
      out.list(keys.map(adminKeyView), ['id', 'name', 'status', 'createdAt', 'revokedAt']);
    });

  examples(
    adminKey.command('revoke'),
    'tessera admin-key revoke 289236738748416000',
    'tessera admin-key revoke 289236738748416000 --take-over',
  )
    .description('revoke a key immediately; invitations and recovery links made with it and not used end, too')
    .argument('<id>', 'ID of the key, not the key itself')
    .option('--take-over', 'keep the invitations, as if they were made on the command line; recovery links always end')
    .action(async (id: string, { takeOver = false }: { takeOver?: boolean }, command: Command) => {
      const { flags, out } = getContext(command);
      if (!isSnowflake(id)) {
        // The argument may be the key itself, so it is not repeated.
        throw notFound('There is no admin key with this id. List them with: tessera admin-key list');
      }
      const { ended, takenOver } = await withCore(flags, (core) => revokeAdminKey(core, id, origin, { takeOver }));
      const { invitations, recoveryLinks } = ended;
      const text = [
        `Revoked the admin key ${id}.`,
        `Ended with it, unused: ${plural(invitations, 'invitation')} and ${plural(recoveryLinks, 'recovery link')}.`,
        ...(takeOver ? [`Taken over: ${plural(takenOver.invitations, 'invitation')}.`] : []),
      ];
      out.say(text.join('\n'), { id, revoked: true, ended, takenOver });
    });

  return adminKey;
}
