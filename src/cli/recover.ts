import { Command } from 'commander';
import { revokeEverythingIssued } from '../admin/recovery.ts';
import { listEvents } from '../audit/search-store.ts';
import { findDataLoss } from '../core.ts';
import { iso } from '../platform/clock.ts';
import { describeLoss } from '../platform/database/loss.ts';
import { readConfig } from '../settings/config.ts';
import { examples, type GetCommandContext } from './context.ts';
import { checkSecret } from './keys.ts';
import { confirm, YES } from './prompt.ts';
import { CLI_ORIGIN, environment, withCore } from './session.ts';

export function recoverCommand(getContext: GetCommandContext): Command {
  return examples(new Command('recover'), 'tessera recover --accept-loss')
    .description(
      'after data loss or restoring a backup: invalidate everything issued before, because later revocations may be lost',
    )
    .requiredOption('--accept-loss', 'confirm that the missing changes cannot be restored')
    .option(...YES)
    .addHelpText(
      'after',
      '\nInvalidates sessions, codes, tokens, admin keys and signing keys. Users are asked for consent again.',
    )
    .action(async (options: { yes?: boolean }, command: Command) => {
      const { flags, out } = getContext(command);
      const loss = await findDataLoss(readConfig(environment(flags)));
      // Asked before the database is opened for writing: until then, a lost journal file can still be put back.
      await confirm(
        `${loss === undefined ? 'Nothing is known to be missing.' : `The database lacks ${describeLoss(loss)}.`} ` +
          'This invalidates every session, code, token, admin key and signing key, and forgets remembered consents.',
        options,
      );
      const done = await withCore(
        flags,
        async (core) => {
          await checkSecret(core);
          const [last] = await listEvents(core.database, { filter: {}, order: 'desc', after: '0', limit: 1 });
          return { last, ...(await revokeEverythingIssued(core, loss, CLI_ORIGIN)) };
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

/** What was done, and what the operator has to check. */
function report(adminKeys: number, { from, until }: { from: string | null; until: string | null }): string {
  const span = `since ${from ?? 'the beginning'}${until === null ? '' : `, at least until ${until},`}`;
  return [
    'Everything issued before is invalid: sessions, codes, pending requests, open invitations, tokens, admin keys ' +
      `(${adminKeys}) and signing keys. Users are asked for consent again.`,
    '',
    `Changes made ${span} may be missing. Check these, and repeat them if needed:`,
    '  - bans, suspensions and deletions of accounts',
    '  - changed passwords and email addresses: the old ones are valid again',
    '  - replaced or ended client secrets and keys: the old ones are valid again',
    '  - disabled, changed or deleted apps, and organization memberships',
    '  - created accounts, apps and secrets: they no longer exist',
    '',
    'To create a new admin key, run: tessera admin-key create',
  ].join('\n');
}
