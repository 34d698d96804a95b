import { Command } from 'commander';
import { listAdminKeys } from '../admin/key-store.ts';
import { adminKeyView, CreateAdminKeyRequest, createAdminKey, revokeAdminKey } from '../admin/keys.ts';
import { isSnowflake } from '../platform/ids/ids.ts';
import { notFound } from '../platform/oauth-error.ts';
import { checkInput, examples, type GetCommandContext } from './context.ts';
import { CLI_ORIGIN as origin, withCore } from './session.ts';

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

  examples(adminKey.command('revoke'), 'tessera admin-key revoke 289236738748416000')
    .description('revoke a key immediately')
    .argument('<id>', 'ID of the key, not the key itself')
    .action(async (id: string, _options, command: Command) => {
      const { flags, out } = getContext(command);
      if (!isSnowflake(id)) {
        // The argument may be the key itself, so it is not repeated.
        throw notFound('There is no admin key with this id. List them with: tessera admin-key list');
      }
      await withCore(flags, (core) => revokeAdminKey(core, id, origin));
      out.say(`Revoked the admin key ${id}.`, { id, revoked: true });
    });

  return adminKey;
}
