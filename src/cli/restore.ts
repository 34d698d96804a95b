import { Command } from 'commander';
import { databaseFile } from '../core.ts';
import { embeddedFile } from '../embedded.ts';
import { invalid } from '../platform/failure.ts';
import { readConfig } from '../settings/config.ts';
import { examples, type GetCommandContext } from './context.ts';
import { keepIssued, newEpoch } from './new-epoch.ts';
import { confirm, YES } from './prompt.ts';
import { finishInterrupted, type RestoreOptions, type RestoreSummary, restoreFile } from './restore-file.ts';
import { environment } from './session.ts';

export function restoreCommand(getContext: GetCommandContext): Command {
  return examples(
    new Command('restore'),
    'tessera restore /var/backups/tessera/tessera-20300131T120000123Z.backup',
    'tessera restore tessera.backup --replace --passphrase-file passphrase',
    'tessera restore --new-epoch',
  )
    .description(
      'restore a backup of the embedded database, and invalidate what was issued before, while no server runs',
    )
    .argument('[backup]', 'a file from: tessera backup; may be left out to finish an interrupted restore')
    .option('--replace', 'move the data that is there aside')
    .option(
      '--keep-sessions',
      'leave sessions, tokens and admin keys valid, including those that were revoked since the backup; without a backup: of data that ' +
        'PostgreSQL restored or moved',
    )
    .option(
      '--new-epoch',
      'restore nothing: invalidate what was issued before, in data that was restored by other means',
    )
    .option('--passphrase-file <path>', 'take the root secret from the backup, with the passphrase in this file')
    .option('--dry-run', 'check the backup and change nothing')
    .option(...YES)
    .action(async (backup: string | undefined, options: RestoreOptions & { newEpoch?: boolean }, command: Command) => {
      const { flags, out } = getContext(command);
      const config = readConfig(environment(flags));
      if (options.newEpoch) {
        const { replace, keepSessions, passphraseFile, dryRun } = options;
        if ([backup, replace, keepSessions, passphraseFile, dryRun].some((given) => given !== undefined)) {
          throw invalid('--new-epoch restores nothing: leave out the backup and all other options but --yes.');
        }
        const { adminKeys, missing, kid } = await newEpoch(flags, config, options);
        return out.say(epochReport(adminKeys), {
          restored: false,
          missing,
          ended: true,
          adminKeysRevoked: adminKeys,
          kid,
        });
      }
      if (options.keepSessions && backup === undefined && databaseFile(config) === undefined) {
        await confirm(
          'This leaves everything valid that was issued before, including what was revoked since.',
          options,
        );
        await keepIssued(flags);
        return out.say(KEPT, { restored: false, ended: false });
      }
      const path = embeddedFile(
        config,
        'The database is not an embedded one. Restore PostgreSQL with its own tools, then run: tessera restore --new-epoch. ' +
          'See docs/how-to/back-up-and-restore.md',
      );
      if (!options.dryRun && (await finishInterrupted(config, path, backup))) {
        return out.say('The restored database is in place.', { restored: true, finished: true });
      }
      if (backup === undefined) {
        throw invalid('No restore was interrupted. Name the backup to restore: tessera restore <backup>');
      }
      const done = await restoreFile(config, path, backup, options);
      if (done === undefined)
        return out.say(`${backup} is whole, and can be restored here.`, { restored: false, whole: true });
      out.say(report(path, done), {
        restored: true,
        backupAt: done.archive.manifest.createdAt,
        missing: done.missing,
        ended: done.ended !== null,
        adminKeysRevoked: done.ended?.adminKeys ?? 0,
        kid: done.ended?.kid ?? null,
        replaced: done.replaced ?? null,
      });
    });
}

const KEPT =
  'The data counts as complete on this server, and nodes may be started. If changes are missing after all, what was revoked since is ' +
  'valid again: tessera restore --new-epoch';

const ended = (adminKeys: number): string =>
  `Everything issued before is invalid: sessions, codes, pending requests, tokens, invitations, admin keys (${adminKeys}) and ` +
  'signing keys. People sign in again. Consents that existed at that time remain.';

const afterwards = (time: string): string =>
  [
    `Changes made since ${time} are missing. Check these, and repeat them if needed:`,
    '  - bans, suspensions and deletions of accounts',
    '  - consents that people revoked: they are remembered again',
    '  - changed passwords and email addresses: the old ones are valid again',
    '  - removed passkeys, replaced authenticator apps and used recovery codes: they are valid again',
    '  - replaced or ended client secrets and keys: the old ones are valid again',
    '  - disabled, changed or deleted apps, and organization memberships',
    '  - created accounts, apps and secrets: they no longer exist',
    '',
    'Next: start the server, then run tessera doctor. To create a new admin key, run: tessera admin-key create',
  ].join('\n');

const epochReport = (adminKeys: number): string => `${ended(adminKeys)}\n\n${afterwards('the backup')}`;

function report(path: string, done: RestoreSummary): string {
  const { createdAt } = done.archive.manifest;
  return [
    `Restored ${path} as it was at ${createdAt}.`,
    ...(done.replaced === undefined ? [] : [`The files of before are in ${done.replaced}.`]),
    '',
    done.ended === null
      ? 'WARNING: what was issued before is still valid, including sessions, tokens and admin keys that were revoked since the ' +
        'backup. To invalidate it, before the server is started: tessera restore --new-epoch'
      : ended(done.ended.adminKeys),
    '',
    afterwards(createdAt),
  ].join('\n');
}
