import { Command } from 'commander';
import { endAllIssued } from '../admin/recovery.ts';
import { listEvents } from '../audit/search-store.ts';
import { findDataLoss } from '../core.ts';
import { iso } from '../platform/clock.ts';
import { readConfig } from '../platform/config/config.ts';
import { describeLoss } from '../platform/database/loss.ts';
import { confirm, YES } from './confirm.ts';
import { type ContextOf, examples } from './context.ts';
import { checkSecret } from './keys.ts';
import { CLI_ORIGIN, environment, withCore } from './session.ts';

export function recoverCommand(contextOf: ContextOf): Command {
  return examples(new Command('recover'), 'tessera recover --accept-loss')
    .description(
      'after changes were lost or a backup was restored: end all that was issued before, since what was revoked is not known',
    )
    .requiredOption('--accept-loss', 'what is missing will not come back')
    .option(...YES)
    .addHelpText(
      'after',
      '\nIt ends sessions, codes, tokens, admin keys and signing keys; consents are asked for again.',
    )
    .action(async (options: { yes?: boolean }, command: Command) => {
      const { flags, out } = contextOf(command);
      const loss = await findDataLoss(readConfig(environment(flags)));
      // Before the data is opened to be written: until then a lost journal can still be put back.
      await confirm(
        `${loss === undefined ? 'Nothing is known to be missing.' : `The database lacks ${describeLoss(loss)}.`} ` +
          'This ends every session, code, token, admin key and signing key, and forgets remembered consents.',
        options,
      );
      const done = await withCore(
        flags,
        async (core) => {
          await checkSecret(core);
          const [last] = await listEvents(core.database, { filter: {}, order: 'desc', after: '0', limit: 1 });
          return { last, ...(await endAllIssued(core, loss, CLI_ORIGIN)) };
        },
        { acceptLoss: true },
      );
      const unknown = {
        from: done.last?.at ?? null,
        until: loss === undefined ? null : iso(loss.writtenAt),
      };
      out.say(report(done.adminKeys, unknown), {
        recovered: true,
        missing: loss === undefined ? null : loss.expected - loss.found,
        unknown,
        adminKeysRevoked: done.adminKeys,
        kid: done.kid,
      });
    });
}

/** What was done, and what only people can know. */
function report(adminKeys: number, { from, until }: { from: string | null; until: string | null }): string {
  const span = `since ${from ?? 'the beginning'}${until === null ? '' : `, at least until ${until},`}`;
  return [
    'All that was issued before is dead: sessions, codes, pending requests, tokens, admin keys ' +
      `(${adminKeys}) and signing keys. Consents are asked for again.`,
    '',
    `What was changed ${span} may be missing, and is as it was before. Check, and do again:`,
    '  - bans, suspensions and deletions of accounts',
    '  - passwords and email addresses that were changed: the old ones hold again',
    '  - client secrets and keys that were replaced or ended: the old ones hold again',
    '  - apps that were disabled, changed or deleted; memberships of organizations',
    '  - accounts, apps and secrets that were made: they are gone',
    '',
    'Admin keys are made anew with: tessera admin-key create',
  ].join('\n');
}
