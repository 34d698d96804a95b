import { Command } from 'commander';
import { dropKey, listKeys, rotateKeys } from '../keys/keys.ts';
import { notFound } from '../oauth-error.ts';
import type { ContextOf } from './context.ts';
import { CLI_ORIGIN as origin, withCore } from './session.ts';

const iso = (instant: number | null) => (instant === null ? null : new Date(instant).toISOString());

export function keysCommands(contextOf: ContextOf): Command {
  const keys = new Command('keys').description('signing keys of access and refresh tokens: list, rotate, drop');

  keys
    .command('list')
    .description('list the keys')
    .action(async (_options, command: Command) => {
      const { flags, out } = contextOf(command);
      const found = await withCore(flags, ({ database }) => listKeys(database));
      const views = found.map(({ kid, createdAt, retiredAt }) => ({
        kid,
        status: retiredAt === null ? 'signs' : 'verifies',
        createdAt: iso(createdAt),
        retiredAt: iso(retiredAt),
      }));
      out.list(views, ['kid', 'status', 'createdAt', 'retiredAt']);
    });

  keys
    .command('rotate')
    .description('let a new key sign from now on; older ones verify until their last token has expired')
    .action(async (_options, command: Command) => {
      const { flags, out } = contextOf(command);
      const kid = await withCore(flags, ({ database, secret }) => rotateKeys(database, secret, origin, Date.now()));
      out.show({ kid, status: 'signs' });
    });

  keys
    .command('drop')
    .description('remove a key at once: every token that it signed is dead from now on')
    .argument('<kid>')
    .action(async (kid: string, _options, command: Command) => {
      const { flags, out } = contextOf(command);
      const dropped = await withCore(flags, ({ database, secret }) =>
        dropKey(database, secret, kid, origin, Date.now()),
      );
      if (!dropped) throw notFound(`There is no key ${kid}. List them with: tessera keys list`);
      out.say(`The key ${kid} and its tokens are dead.`, { kid, dropped: true });
    });

  return keys;
}
