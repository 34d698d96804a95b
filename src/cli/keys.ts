import { Command } from 'commander';
import type { Core } from '../core.ts';
import { dropKey, listKeys, openKeys, rotateKeys } from '../keys/keys.ts';
import { notFound } from '../oauth-error.ts';
import { type ContextOf, examples } from './context.ts';
import { CLI_ORIGIN as origin, withCore } from './session.ts';

const iso = (instant: number | null) => (instant === null ? null : new Date(instant).toISOString());

/**
 * Opens the key set before it is changed: a new key that another secret sealed could not be opened by the server, and
 * would stop it.
 * @throws {WrongSecret}
 */
async function checkSecret({ database, secret, config, clock }: Core): Promise<void> {
  const previous = config.previousSecret === undefined ? undefined : Buffer.from(config.previousSecret, 'utf8');
  await openKeys(database, { current: secret, previous }, clock);
}

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
      const kid = await withCore(flags, async (core) => {
        await checkSecret(core);
        return rotateKeys(core.database, core.secret, origin, core.clock());
      });
      out.show({ kid, status: 'signs' });
    });

  examples(keys.command('drop'), 'tessera keys drop P4Jh0HMbCBuWmWT4Y-Qq2A')
    .description('remove a key at once: every token that it signed is dead from now on')
    .argument('<kid>', 'the kid, from: tessera keys list')
    .action(async (kid: string, _options, command: Command) => {
      const { flags, out } = contextOf(command);
      const dropped = await withCore(flags, async (core) => {
        await checkSecret(core);
        return dropKey(core.database, core.secret, kid, origin, core.clock());
      });
      if (!dropped) throw notFound(`There is no key ${kid}. List them with: tessera keys list`);
      out.say(`The key ${kid} and its tokens are dead.`, { kid, dropped: true });
    });

  return keys;
}
