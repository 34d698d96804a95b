import { Command } from 'commander';
import { adminKeyView, allAdminKeys, createAdminKey, NewAdminKey, revokeAdminKey } from '../admin/keys.ts';
import { isSnowflake } from '../platform/ids/ids.ts';
import { notFound } from '../platform/oauth-error.ts';
import { type ContextOf, checkInput, examples } from './context.ts';
import { CLI_ORIGIN as origin, withCore } from './session.ts';

export function adminKeyCommands(contextOf: ContextOf): Command {
  const adminKey = new Command('admin-key').description('keys for the admin API: create, list, revoke');

  examples(
    adminKey.command('create'),
    'tessera admin-key create --name "deploy script"',
    'curl -H "Authorization: Bearer <the key>" http://localhost:3000/api/v2/admin/users',
  )
    .description('make a key; it is shown this once')
    .option('--name <name>', 'what it is for', 'admin')
    .action(async (options: { name: string }, command: Command) => {
      const { flags, out } = contextOf(command);
      const input = checkInput(NewAdminKey, options);
      const made = await withCore(flags, (core) => createAdminKey(core, input, origin), { mayBeNew: true });
      out.showOnce({ ...adminKeyView(made.key), adminKey: made.adminKey }, 'adminKey');
    });

  examples(adminKey.command('list'), 'tessera admin-key list')
    .description('list keys, also those that were revoked')
    .action(async (_options, command: Command) => {
      const { flags, out } = contextOf(command);
      const keys = await withCore(flags, allAdminKeys);
      out.list(keys.map(adminKeyView), ['id', 'name', 'status', 'createdAt', 'revokedAt']);
    });

  examples(adminKey.command('revoke'), 'tessera admin-key revoke 289236738748416000')
    .description('end a key at once')
    .argument('<id>', 'the id of the key, not the key itself')
    .action(async (id: string, _options, command: Command) => {
      const { flags, out } = contextOf(command);
      if (!isSnowflake(id)) {
        // What was given may be the key itself: it is not repeated.
        throw notFound('There is no admin key with this id. List them with: tessera admin-key list');
      }
      await withCore(flags, (core) => revokeAdminKey(core, id, origin));
      out.say(`The admin key ${id} is dead.`, { id, revoked: true });
    });

  return adminKey;
}
