import { existsSync, linkSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { Command } from 'commander';
import { inspectDatabase, requireFinishedRestore } from '../core.ts';
import { checkCopy, copyEmbedded, embeddedFile, noRoom, requireRoom, syncFolder } from '../embedded.ts';
import { WrongSecret } from '../keys/keys.ts';
import { timeline } from '../migrations/timeline.ts';
import { completeArchive, digestOf, type Manifest, openArchive, readDatabase } from '../operations/backup/archive.ts';
import { readPassphrase, sealSecret } from '../operations/backup/sealed-secret.ts';
import { findSecretMatch } from '../operations/doctor/fit.ts';
import { ConfigError } from '../platform/config/config-error.ts';
import { randomName } from '../platform/crypto/secrets.ts';
import { migrationState } from '../platform/database/migrations/position.ts';
import { isDiskFull } from '../platform/disk.ts';
import { conflict, type Failure } from '../platform/failure.ts';
import { VERSION } from '../platform/version.ts';
import { type Config, readConfig } from '../settings/config.ts';
import { findSecret, previousSecrets, secretFile } from '../settings/secret-file.ts';
import { examples, type GetCommandContext } from './context.ts';
import { announceCheck, reportProgress } from './progress.ts';
import { environment } from './session.ts';

const PARTIAL = /^(.+)\.partial-(\d+)(-journal)?$/;

export function backupCommand(getContext: GetCommandContext): Command {
  return examples(
    new Command('backup'),
    'tessera backup /var/backups/tessera',
    'tessera backup tessera.backup --passphrase-file passphrase',
  )
    .description('back up the embedded database, also while the server runs')
    .argument('<path>', 'a new file, or an existing folder in which to create one named after the time')
    .option(
      '--passphrase-file <path>',
      'put the root secret into the backup, encrypted under the passphrase in this file',
    )
    .addHelpText('after', '\nPostgreSQL has its own tools: see docs/how-to/back-up-and-restore.md')
    .action(async (path: string, { passphraseFile }: { passphraseFile?: string }, command: Command) => {
      const { flags, out } = getContext(command);
      const config = readConfig(environment(flags));
      const database = embeddedFile(
        config,
        'The database is not an embedded one. Back up PostgreSQL with pg_basebackup and an archive of its WAL, or with pg_dump: ' +
          'see docs/how-to/back-up-and-restore.md',
      );
      await requireFinishedRestore(config);
      const passphrase = passphraseFile === undefined ? undefined : readPassphrase(passphraseFile);
      const now = new Date().toISOString();
      const file = nameFor(path, now);
      const manifest = await writeBackup({ config, database, file, passphrase, now });
      const { rows, bytes } = manifest.database;
      const counts = { accounts: rows['account'], clients: rows['client'], events: rows['audit_event'] };
      out.say(report(file, config, manifest), {
        file,
        id: manifest.id,
        createdAt: manifest.createdAt,
        bytes: statSync(file).size,
        databaseBytes: bytes,
        ...counts,
        secret: manifest.secret === null ? 'apart' : 'sealed',
      });
    });
}

function nameFor(given: string, now: string): string {
  const path = resolve(given);
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
  const file = isFolder ? join(path, `tessera-${now.replaceAll(/[-:.]/g, '')}.backup`) : path;
  if (existsSync(file)) throw taken(file);
  if (!existsSync(dirname(file))) throw new ConfigError([`There is no folder ${dirname(file)}. Create it first.`]);
  return file;
}

const taken = (file: string): Failure =>
  conflict(`${file} exists already, and a backup never replaces one. Choose another name.`);

/** What file systems without a second name for a file answer, such as those of memory cards. */
const NO_LINKS: ReadonlySet<unknown> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']);

/** Gives a complete backup its name; a file that got this name meanwhile is not replaced. */
function giveName(partial: string, file: string): void {
  try {
    linkSync(partial, file);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'EEXIST') throw taken(file);
    if (!NO_LINKS.has(code)) throw error;
    if (existsSync(file)) throw taken(file);
    renameSync(partial, file);
  }
}

interface Order {
  readonly config: Config;
  readonly database: string;
  readonly file: string;
  readonly passphrase: string | undefined;
  readonly now: string;
}

/** Writes a backup under another name, checks it, and gives it its name last: what has the name is whole. */
async function writeBackup({ config, database, file, passphrase, now }: Order): Promise<Manifest> {
  const root = findSecret(config);
  if (root === undefined || !existsSync(database)) {
    throw new ConfigError([
      `There is no Tessera database with its secret: ${database} and ${secretFile(config)} are needed. Run the command in the ` +
        'folder where the server runs, or give the data folder with --data-dir or TESSERA_DATA_DIR.',
    ]);
  }
  await requireFit(config, root);
  removeLeftovers(file);
  const { size } = statSync(database);
  requireRoom(dirname(file), size);
  const partial = `${file}.partial-${process.pid}`;
  try {
    const original = await copyEmbedded(config, database, partial, reportProgress('Copying'));
    announceCheck(size);
    const copy = await checkCopy(config, partial);
    if (JSON.stringify(copy) !== JSON.stringify(original)) {
      throw new ConfigError([
        'The copy does not contain what the database does. Check the disk, and run the command again.',
      ]);
    }
    const bytes = statSync(partial).size;
    const id = randomName();
    const manifest: Manifest = {
      id,
      createdAt: now,
      version: VERSION,
      database: { bytes, sha256: await digestOf(partial, bytes, reportProgress('Reading')), ...copy },
      secret: passphrase === undefined ? null : await sealSecret(root, passphrase, id),
    };
    await completeArchive(partial, manifest, root);
    // As a restore reads it.
    const archive = await openArchive(partial);
    await readDatabase(partial, archive.manifest, reportProgress('Checking'));
    giveName(partial, file);
    syncFolder(dirname(file));
    return manifest;
  } catch (error) {
    throw isDiskFull(error) ? noRoom(dirname(file), size) : error;
  } finally {
    for (const suffix of ['', '-journal']) rmSync(`${partial}${suffix}`, { force: true });
  }
}

/** @throws {WrongSecret} when the secret does not open the keys: with it, the backup could not be restored */
async function requireFit(config: Config, current: Buffer): Promise<void> {
  const inspection = await inspectDatabase(config, Date.now);
  try {
    // The statements of this version may not fit another schema, which is backed up all the same.
    if (inspection === undefined || migrationState(inspection.applied, timeline).pending.length > 0) return;
    const match = await findSecretMatch(inspection, { current, previous: previousSecrets(config) }, Date.now);
    if (match.kind === 'neither') throw new WrongSecret(match.message);
  } finally {
    await inspection?.close();
  }
}

/** Removes what backups to the same place left behind that were killed. */
function removeLeftovers(file: string): void {
  const generated = /^tessera-\d{8}T\d{9}Z\.backup$/;
  const isAlike = (name: string): boolean =>
    name === basename(file) || (generated.test(name) && generated.test(basename(file)));
  for (const name of readdirSync(dirname(file))) {
    const [, target = '', pid] = PARTIAL.exec(name) ?? [];
    if (isAlike(target) && !isRunning(Number(pid))) rmSync(join(dirname(file), name), { force: true });
  }
}

function isRunning(pid: number): boolean {
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

function report(file: string, config: Config, { database: { rows }, secret }: Manifest): string {
  const place = secretFile(config) ?? 'the value of TESSERA_SECRET';
  return [
    `Wrote ${file}: ${rows['account']} accounts, ${rows['client']} clients, ${rows['audit_event']} audit events.`,
    secret === null
      ? `The root secret is not in it. Without the secret, the backup is worthless: keep a copy of ${place} in another place.`
      : 'The root secret is in it, encrypted under the passphrase. A person who has both has all signing keys: keep them apart.',
  ].join('\n');
}
