import { Command } from 'commander';
import { adminKeyView, createAdminKey, listAdminKeys, revokeAdminKey } from '../admin/keys.ts';
import { isSnowflake } from '../identifiers/snowflake.ts';
import { notFound } from '../oauth-error.ts';
import type { ContextOf } from './context.ts';
import { CLI_ORIGIN as origin, withCore } from './session.ts';

export function adminKeyCommands(contextOf: ContextOf): Command {
  const adminKey = new Command('admin-key').description('keys for the admin API: create, list, revoke');

  adminKey
    .command('create')
    .description('make a key; it is shown this once')
    .option('--name <name>', 'what it is for', 'admin')
    .action(async (options: { name: string }, command: Command) => {
      const { flags, out } = contextOf(command);
      const { id, name, adminKey: key } = await withCore(flags, (core) => createAdminKey(core, options.name, origin));
      out.show({ id, name, adminKey: key });
    });

  adminKey
    .command('list')
    .description('list keys')
    .action(async (_options, command: Command) => {
      const { flags, out } = contextOf(command);
      const keys = await withCore(flags, listAdminKeys);
      out.list(keys.map(adminKeyView), ['id', 'name', 'status', 'createdAt', 'revokedAt']);
    });

  adminKey
    .command('revoke')
    .description('end a key at once')
    .argument('<id>')
    .action(async (id: string, _options, command: Command) => {
      const { flags, out } = contextOf(command);
      if (!isSnowflake(id))
        throw notFound(`There is no admin key with the id ${id}. List them with: tessera admin-key list`);
      await withCore(flags, (core) => revokeAdminKey(core, id, origin));
      out.say(`The admin key ${id} is dead.`, { id, revoked: true });
    });

  return adminKey;
}
