import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import { Command } from 'commander';
import { inspectDatabase } from '../core.ts';
import { countDead } from '../mail/store.ts';
import { timeline } from '../migrations/timeline.ts';
import { openArchive, readDatabase } from '../operations/backup/archive.ts';
import { type Check, type Finding, problem, warning } from '../operations/doctor/finding.ts';
import { findSecretMatch } from '../operations/doctor/fit.ts';
import { lookOnline } from '../operations/doctor/online.ts';
import { probeKey } from '../operations/doctor/probe.ts';
import { judgeAddress } from '../operations/doctor/rules/address.ts';
import { answersLive } from '../operations/doctor/rules/answers.ts';
import { type BackupSight, judgeBackup } from '../operations/doctor/rules/backup.ts';
import { judgeClocks } from '../operations/doctor/rules/clock.ts';
import { judgeConfiguration, judgeRefusals } from '../operations/doctor/rules/configuration.ts';
import { judgeCookies } from '../operations/doctor/rules/cookies.ts';
import { type DatabaseSight, judgeDatabase, judgeMigrations } from '../operations/doctor/rules/database.ts';
import { judgeJournal } from '../operations/doctor/rules/journal.ts';
import { judgeLog } from '../operations/doctor/rules/log.ts';
import { judgeMail } from '../operations/doctor/rules/mail.ts';
import { judgeNodeNumbers } from '../operations/doctor/rules/node-numbers.ts';
import { judgeProxies } from '../operations/doctor/rules/proxy.ts';
import { judgeSecret, type SecretMatch, type SecretSight } from '../operations/doctor/rules/secret.ts';
import { judgeProviders, judgeUpstreams } from '../operations/doctor/rules/upstreams.ts';
import { judgeVersion } from '../operations/doctor/rules/version.ts';
import { ConfigError } from '../platform/config/config-error.ts';
import type { Inspection } from '../platform/database/inspection.ts';
import { migrationState } from '../platform/database/migrations/position.ts';
import { describeServers } from '../platform/database/server-address.ts';
import { countLeases } from '../platform/ids/lease-store.ts';
import { baseUrlOf, type Config, readConfig } from '../settings/config.ts';
import { findSecret, previousSecrets, secretFile } from '../settings/secret-file.ts';
import { listActiveUpstreams } from '../upstreams/store.ts';
import { cookieStyle } from '../web/browser/browser.ts';
import { askProviders } from './ask-providers.ts';
import { examples, type GetCommandContext } from './context.ts';
import { printable } from './output.ts';
import { reportProgress } from './progress.ts';
import { requireKnownSchema } from './restore-file.ts';
import { environment } from './session.ts';

/** @param serverOptions adds the options of `serve` that the checks depend on */
export function doctorCommand(getContext: GetCommandContext, serverOptions: (command: Command) => Command): Command {
  return examples(serverOptions(new Command('doctor')), 'tessera doctor', 'tessera doctor --json')
    .description('check the settings, the data and the running server, and say how to fix what is wrong')
    .option('--backup <file>', 'also check that a backup of the embedded database is whole and can be restored')
    .addHelpText('after', '\nChanges nothing. Exit status: 0 if there is no problem, 1 otherwise.')
    .action(async ({ backup }: { backup?: string }, command: Command) => {
      const { out } = getContext(command);
      const settings = environment(command.optsWithGlobals());
      const findings = await examine(settings, backup, Date.now).catch((error: unknown) => [
        notMade('configuration', error),
      ]);
      out.say(report(findings), { findings });
      if (findings.some(({ level }) => level === 'problem')) process.exitCode = 1;
    });
}

async function examine(
  settings: ReturnType<typeof environment>,
  backup: string | undefined,
  clock: () => number,
): Promise<Finding[]> {
  let config: Config;
  try {
    config = readConfig(settings);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const rest = warning('configuration', 'The other checks were skipped.', 'Correct the settings first.');
    return [...judgeVersion(undefined), ...judgeRefusals(error.problems), rest];
  }
  const baseUrl = baseUrlOf(config, config.port);
  const { secret, sight: secretSight } = lookAtSecret(config);
  const { sight, inspection } = await lookAtDatabase(config, clock);
  const position = inspection && migrationState(inspection.applied, timeline);
  const current = position?.obstacle === undefined && position?.pending.length === 0;
  const empty = sight.kind === 'none' || inspection?.applied.length === 0;
  const roots = { current: secret, previous: previousSecrets(config) };
  const failed: Finding[] = [];
  const read = async <T>(check: Check, look: (inspection: Inspection) => Promise<T>): Promise<T | undefined> =>
    inspection !== undefined && current ? attempt(check, () => look(inspection), failed) : undefined;
  const heldNumbers = await read('node-numbers', (source) => source.read(() => countLeases(clock())));
  const deadMails = await read('mail', (source) => source.read(() => countDead({})));
  const upstreams = await read('upstreams', (source) => source.read(() => listActiveUpstreams({})));
  const fit: SecretMatch = (await read('secret', (source) => findSecretMatch(source, roots, clock))) ?? {
    kind: empty ? 'no keys' : 'not checked',
  };
  const opens = secret !== undefined && (fit.kind === 'current' || fit.kind === 'no keys');
  const asked = await read('upstreams', async (source) =>
    opens && upstreams?.length ? askProviders(source, upstreams, { config, baseUrl, secret, clock }) : undefined,
  );
  await inspection?.close();
  const findings = [
    ...failed,
    ...judgeConfiguration(config, baseUrl),
    ...judgeDatabase(sight),
    ...judgeMigrations(sight, position, inspection?.unfinished),
    ...judgeNodeNumbers(heldNumbers),
    ...judgeSecret(secretSight, fit),
    ...judgeBackup(backup === undefined ? undefined : await lookAtBackup(backup, roots)),
    ...judgeMail(config, baseUrl, deadMails),
    ...judgeUpstreams(upstreams, clock()),
    ...judgeProviders(asked),
  ];
  if (config.baseUrl === undefined && config.port === 0) {
    const found = 'TESSERA_PORT is 0, so the address of the server is not known.';
    const remedy = 'Give the address that the server printed: tessera doctor --base-url http://localhost:<port>';
    return [...judgeVersion(undefined), ...findings, warning('base-url', found, remedy)];
  }
  const style = cookieStyle(baseUrl);
  const online = await attempt(
    'base-url',
    () => lookOnline(baseUrl, secret && probeKey(secret), style.browser, clock),
    findings,
  );
  if (online === undefined) return [...judgeVersion(undefined), ...findings];
  const databaseAhead = sight.kind === 'there' && sight.facts.kind === 'postgres' ? sight.facts.clockAhead : undefined;
  const clocks = [
    ...(online.ahead === undefined ? [] : [{ whose: 'the running service', ahead: online.ahead }]),
    ...(databaseAhead === undefined ? [] : [{ whose: 'the database', ahead: databaseAhead }]),
  ];
  return [
    ...judgeVersion(online.seen),
    ...findings,
    ...judgeJournal(sight, answersLive(online.live)),
    ...judgeAddress(online, clock()),
    ...judgeLog(online.seen),
    ...judgeProxies(config, baseUrl, online.seen, online.signIn !== undefined && answersLive(online.live)),
    ...judgeCookies(online, style),
    ...judgeClocks(clocks),
  ];
}

/** Makes one check. An error that it does not expect is a finding, and the other checks go on. */
async function attempt<T>(check: Check, look: () => Promise<T>, failed: Finding[]): Promise<T | undefined> {
  try {
    return await look();
  } catch (error) {
    failed.push(notMade(check, error));
    return undefined;
  }
}

/** Of a check that ended in an error. */
const notMade = (check: Check, error: unknown): Finding =>
  problem(
    check,
    `This check ended in an error: ${error instanceof Error ? error.message : error}`,
    'If the server starts and is ready, this is an error of Tessera: report it with the output of tessera doctor --json',
  );

function lookAtSecret(config: Config): { secret: Buffer | undefined; sight: SecretSight } {
  const problems: string[] = [];
  let secret: Buffer | undefined;
  try {
    secret = findSecret(config);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    problems.push(...error.problems);
  }
  const path = secretFile(config);
  const file =
    secret === undefined || path === undefined
      ? undefined
      : { path, mode: statSync(path).mode & 0o777, folderMode: statSync(dirname(path)).mode & 0o777 };
  const missing = secret === undefined && problems.length === 0;
  return { secret, sight: { problems, file, missing, previousIsSet: config.previousSecret !== undefined } };
}

/** Reads a whole backup. */
async function lookAtBackup(
  path: string,
  { current, previous }: { readonly current: Buffer | undefined; readonly previous: readonly Buffer[] },
): Promise<BackupSight> {
  try {
    const { manifest, isOf } = await openArchive(path);
    requireKnownSchema(path, manifest.database.applied);
    await readDatabase(path, manifest, reportProgress('Checking'));
    const { createdAt, version, secret } = manifest;
    const isOfSecret = [current, ...previous].some((root) => root !== undefined && isOf(root));
    return { kind: 'whole', path, createdAt, version, isOfSecret, hasSecret: secret !== null };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { kind: 'unusable', problems: error.problems };
  }
}

async function lookAtDatabase(
  config: Config,
  clock: () => number,
): Promise<{ sight: DatabaseSight; inspection?: Inspection }> {
  try {
    const inspection = await inspectDatabase(config, clock);
    const place = config.databaseUrl.replace(/^sqlite:/, '');
    if (inspection === undefined) return { sight: { kind: 'none', place } };
    return { sight: { kind: 'there', facts: inspection.facts }, inspection };
  } catch (error) {
    // Any error here would also keep the server from starting.
    const problems =
      error instanceof ConfigError ? error.problems : [`${error instanceof Error ? error.message : error}.`];
    const place = config.databaseUrl.startsWith('sqlite:') ? undefined : describeServers(config.databaseUrl);
    return { sight: { kind: 'unusable', problems, place } };
  }
}

const LABELS = { ok: 'ok', warning: 'WARNING', problem: 'PROBLEM' } as const;

function report(findings: readonly Finding[]): string {
  const lines = findings.flatMap(({ check, level, found, remedy }) => {
    const line = `${LABELS[level].padEnd(9)}${check.padEnd(15)}${printable(found)}`;
    return remedy === null ? [line] : [line, `${' '.repeat(24)}→ ${printable(remedy)}`];
  });
  const count = (level: Finding['level']): number => findings.filter((finding) => finding.level === level).length;
  const counted = (number: number, name: string): string =>
    `${number === 0 ? 'no' : number} ${name}${number === 1 ? '' : 's'}`;
  const summary = `${counted(count('problem'), 'problem')}, ${counted(count('warning'), 'warning')}.`;
  return [...lines, '', summary.replace(/^n/, 'N')].join('\n');
}
