import { Command } from 'commander';
import { readAlgorithmsInUse } from '../clients/store.ts';
import type { Core } from '../core.ts';
import { ASYMMETRIC_ALGS, isAsymmetric } from '../keys/algorithms.ts';
import { dropKeyPair, type KeyPairView, listKeyPairs, rotateKeyPairs } from '../keys/key-pairs.ts';
import { openKeys } from '../keys/keys.ts';
import { dropSigningKey, listSigningKeys, rotateSigningKey } from '../keys/signing-keys.ts';
import { iso, isoOrNull } from '../platform/clock.ts';
import { invalid, notFound } from '../platform/failure.ts';
import { previousSecrets } from '../settings/secret-file.ts';
import { examples, type GetCommandContext } from './context.ts';
import { confirm, YES } from './prompt.ts';
import { CLI_ORIGIN as origin, withCore } from './session.ts';

const pairView = ({ kid, alg, signsFrom }: KeyPairView) => ({ kid, alg, signsFrom: iso(signsFrom) });

/**
 * Opens the key set before it is changed. A key that is sealed with another secret than the server's would stop the server.
 * @throws {WrongSecret}
 */
export async function checkSecret({ database, secret, config, clock }: Core): Promise<void> {
  await openKeys(database, { current: secret, previous: previousSecrets(config) }, clock);
}

export function keysCommands(getContext: GetCommandContext): Command {
  const keys = new Command('keys').description('manage signing keys: list, rotate, drop');

  examples(keys.command('list'), 'tessera keys list')
    .description('list the keys')
    .action(async (_options, command: Command) => {
      const { flags, out } = getContext(command);
      const { keys, pairs } = await withCore(flags, async ({ database, clock }) => ({
        keys: await listSigningKeys(database),
        pairs: await listKeyPairs(database, readAlgorithmsInUse, clock()),
      }));
      const own = keys.map(({ kid, createdAt, retiredAt }) => ({
        kid,
        signs: 'access and refresh tokens',
        alg: 'HS256',
        status: retiredAt === null ? 'signs' : 'verifies',
        createdAt: iso(createdAt),
        signsFrom: iso(createdAt),
        retiredAt: isoOrNull(retiredAt),
      }));
      const published = pairs.map((pair) => ({
        kid: pair.kid,
        signs: 'ID tokens',
        alg: pair.alg,
        status: pair.status,
        createdAt: iso(pair.createdAt),
        signsFrom: iso(pair.signsFrom),
        retiredAt: isoOrNull(pair.retiredAt),
      }));
      out.list([...own, ...published], ['kid', 'signs', 'alg', 'status', 'signsFrom', 'retiredAt']);
    });

  examples(keys.command('rotate'), 'tessera keys rotate', 'tessera keys rotate --alg RS256')
    .description(
      'create new signing keys: those of access and refresh tokens sign immediately, those of ID tokens once every client ' +
        'has had time to fetch them; previous keys verify until their last token has expired',
    )
    .option('--alg <alg>', `rotate only the ID token key of this algorithm: ${ASYMMETRIC_ALGS.join(', ')}`)
    .action(async ({ alg }: { alg?: string }, command: Command) => {
      const { flags, out } = getContext(command);
      if (alg !== undefined && !isAsymmetric(alg)) {
        throw invalid(`--alg must be one of ${ASYMMETRIC_ALGS.join(', ')}.`);
      }
      const rotated = await withCore(flags, async (core) => {
        await checkSecret(core);
        const { database, secret } = core;
        const now = core.clock();
        const kid = alg === undefined ? await rotateSigningKey(database, secret, origin, now) : undefined;
        const pairs = await rotateKeyPairs(database, secret, { algs: alg && [alg], origin, now });
        return { ...(kid !== undefined && { kid, status: 'signs' }), idTokenKeys: pairs.map(pairView) };
      });
      out.show(rotated);
    });

  examples(keys.command('drop'), 'tessera keys drop P4Jh0HMbCBuWmWT4Y-Qq2A')
    .description('remove a key immediately; every token that it signed becomes invalid')
    .argument('<kid>', 'key ID, from: tessera keys list')
    .option(...YES)
    .action(async (kid: string, options: { yes?: boolean }, command: Command) => {
      const { flags, out } = getContext(command);
      const dropped = await withCore(flags, async (core) => {
        await checkSecret(core);
        await confirm(`This invalidates every token that the key ${kid} signed.`, options);
        const { database, secret } = core;
        const now = core.clock();
        return (
          (await dropSigningKey(database, secret, kid, origin, now)) || dropKeyPair(database, secret, kid, origin, now)
        );
      });
      if (!dropped) throw notFound(`There is no key ${kid}. List them with: tessera keys list`);
      out.say(`Dropped the key ${kid} and invalidated its tokens.`, { kid, dropped: true });
    });

  return keys;
}
