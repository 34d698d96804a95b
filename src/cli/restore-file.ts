import { existsSync, readFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { beginEpoch, type RecoverySummary, recordRestore } from '../admin/recovery.ts';
import { type Core, explainErrors, openCore } from '../core.ts';
import { checkCopy, finishRestore, lookAtFiles, noRoom, type Staging, stage } from '../embedded.ts';
import { timeline } from '../migrations/timeline.ts';
import { type Archive, openArchive, readDatabase } from '../operations/backup/archive.ts';
import { openSecret, readPassphrase } from '../operations/backup/sealed-secret.ts';
import { ConfigError } from '../platform/config/config-error.ts';
import { parseSecret } from '../platform/config/secrets.ts';
import { migrationState, NewerDatabase } from '../platform/database/migrations/position.ts';
import { isDiskFull } from '../platform/disk.ts';
import { conflict, invalid } from '../platform/failure.ts';
import { type Config, variables } from '../settings/config.ts';
import { previousSecrets, secretFile } from '../settings/secret-file.ts';
import { checkSecret } from './keys.ts';
import { lossIn } from './new-epoch.ts';
import { announceCheck, reportProgress } from './progress.ts';
import { confirm } from './prompt.ts';
import { CLI_ORIGIN as origin } from './session.ts';

export interface RestoreOptions {
  readonly replace?: boolean;
  readonly keepSessions?: boolean;
  readonly dryRun?: boolean;
  readonly passphraseFile?: string;
  readonly yes?: boolean;
}

/** What a restore did. */
export interface RestoreSummary {
  readonly archive: Archive;
  /** Null if what was issued before remains valid. */
  readonly ended: RecoverySummary | null;
  /** How many events are known to be lost; null if that is not known. */
  readonly missing: number | null;
  /** The folder with the files of before. */
  readonly replaced: string | undefined;
}

/** Restores a backup of an embedded database; undefined for a dry run, which only checks the backup. */
export async function restoreFile(
  config: Config,
  path: string,
  backup: string,
  options: RestoreOptions,
): Promise<RestoreSummary | undefined> {
  const archive = await openArchive(backup);
  const { manifest } = archive;
  requireKnownSchema(backup, manifest.database.applied);
  const roots = await findRoots(config, backup, archive, options);
  if (options.dryRun) {
    await readDatabase(backup, manifest, reportProgress('Checking'));
    return undefined;
  }
  const { hasData } = lookAtFiles(path);
  if (hasData && !options.replace) {
    throw conflict(
      `${path} has data already. To restore over it, add --replace: its files are moved aside, and not deleted. Nothing was changed.`,
    );
  }
  if (hasData) await confirm(`This puts the data of ${manifest.createdAt} in place of ${path}.`, options);
  // Twice the size: the prepared database and, while it is migrated, its write-ahead log.
  const needed = 2 * manifest.database.bytes;
  let staging: Staging | undefined;
  try {
    staging = await explainErrors(config, async () => stage(path, needed));
    await extract(backup, archive, staging.file);
    announceCheck(manifest.database.bytes);
    const copy = await checkCopy(config, staging.file);
    const { rows, sequence } = manifest.database;
    if (copy.sequence !== sequence || JSON.stringify(copy.rows) !== JSON.stringify(rows)) {
      throw new ConfigError([
        `${backup} does not contain what its manifest says. Choose another backup. Nothing was changed.`,
      ]);
    }
    const done = await prepare(config, roots, staging, archive, options);
    const replaced = staging.install(
      { file: resolve(backup), id: manifest.id },
      new Date().toISOString(),
      roots.install,
    );
    return { archive, ...done, replaced };
  } catch (error) {
    throw isDiskFull(error) ? noRoom(dirname(path), needed) : error;
  } finally {
    staging?.release();
  }
}

/** Finishes an interrupted restore; returns its backup, or undefined if there was none. */
export async function finishInterrupted(config: Config, path: string, backup: string | undefined): Promise<boolean> {
  const finished = await finishRestore(config, path);
  if (finished === undefined) return false;
  process.stderr.write(`Finished the interrupted restore of ${finished.backup}.\n`);
  if (backup === undefined || finished.id === (await openArchive(backup)).manifest.id) return true;
  throw conflict(
    `The interrupted restore of ${finished.backup} is finished now. To restore ${backup} over it, run the command again with --replace.`,
  );
}

/** @throws {ConfigError} when this version cannot read the tables of a backup */
export function requireKnownSchema(backup: string, applied: Archive['manifest']['database']['applied']): void {
  const { obstacle } = migrationState(applied, timeline);
  if (obstacle === undefined) return;
  const remedy =
    obstacle instanceof NewerDatabase ? 'Restore it with that version or a later one' : 'Choose another backup';
  throw new ConfigError([
    `${backup} cannot be restored by this version: ${obstacle.message} ${remedy}. Nothing was changed.`,
  ]);
}

interface Roots {
  readonly current: Buffer;
  /** The secret file to create. */
  readonly install?: { readonly path: string; readonly text: string };
}

/** Finds the root secret that opens a backup. */
async function findRoots(
  config: Config,
  backup: string,
  { manifest, isOf }: Archive,
  { passphraseFile, replace = false }: RestoreOptions,
): Promise<Roots> {
  const file = secretFile(config);
  const own = ownSecret(config, file);
  const previous = previousSecrets(config);
  if (passphraseFile !== undefined) {
    if (manifest.secret === null)
      throw invalid(`--passphrase-file is not needed: ${backup} does not contain a secret.`);
    const sealed = await openSecret(manifest.secret, readPassphrase(passphraseFile), manifest.id);
    if (sealed === undefined) throw new ConfigError([`The passphrase in ${passphraseFile} is not that of ${backup}.`]);
    if (!isOf(sealed)) throw foreign(backup, 'It was altered: choose another backup.');
    if (own?.equals(sealed)) return { current: own };
    if (own === undefined && file !== undefined)
      return { current: sealed, install: { path: file, text: String(sealed) } };
    if (replace && file !== undefined) return { current: sealed, install: { path: file, text: String(sealed) } };
    throw foreign(
      backup,
      file === undefined
        ? `Unset ${variables.secret.name} to take the secret from it.`
        : `To replace ${file} as well, add --replace.`,
    );
  }
  if (own !== undefined && [own, ...previous].some(isOf)) return { current: own };
  const put = `Put the secret of the installation that made it into ${file ?? variables.secret.name}`;
  const remedy = manifest.secret === null ? `${put}.` : `${put}, or take it from the backup: --passphrase-file <path>`;
  throw foreign(backup, remedy);
}

/** The root secret of this installation; undefined if it has none yet. */
function ownSecret(config: Config, file: string | undefined): Buffer | undefined {
  if (file === undefined) return Buffer.from(config.secret ?? '', 'utf8');
  if (!existsSync(file)) return undefined;
  const reading = parseSecret(readFileSync(file, 'utf8').trim());
  if ('value' in reading) return Buffer.from(reading.value, 'utf8');
  throw new ConfigError([`The secret in ${file} is not usable: it ${reading.problem}.`]);
}

const foreign = (backup: string, why: string): ConfigError =>
  new ConfigError([`${backup} does not belong to the secret of this installation. Nothing was changed. ${why}`]);

async function extract(backup: string, { manifest }: Archive, to: string): Promise<void> {
  const file = await open(to, 'wx', 0o600);
  try {
    await readDatabase(backup, manifest, reportProgress('Restoring'), (bytes) => file.writeFile(bytes));
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Migrates the restored database, and begins the new epoch in it. */
async function prepare(
  config: Config,
  { current }: Roots,
  staging: Staging,
  { manifest }: Archive,
  { keepSessions = false }: RestoreOptions,
): Promise<Pick<RestoreSummary, 'ended' | 'missing'>> {
  const own: Config = {
    ...config,
    databaseUrl: `sqlite:${staging.file}`,
    secret: String(current),
  };
  const core: Core = await openCore(own, Date.now);
  try {
    await checkSecret(core);
    await core.sealer();
    const loss = staging.loss(manifest.database.sequence);
    const known = await lossIn(core, loss);
    const event = { backupAt: manifest.createdAt, origin, ...known };
    const at = core.clock();
    const ended = await core.database.commit(function* restored() {
      if (!keepSessions) return yield* beginEpoch({ secret: core.secret, at }, event);
      yield* recordRestore(null, at, event);
      return null;
    });
    return { ended, missing: known.missing };
  } finally {
    await core.close();
  }
}
