import { existsSync } from 'node:fs';
import { Command } from 'commander';
import { databaseFile, inspectDatabase, migrateDatabase } from '../core.ts';
import { timeline } from '../migrations/timeline.ts';
import { ConfigError } from '../platform/config/config-error.ts';
import { migrationState, type UnfinishedMigration } from '../platform/database/migrations/position.ts';
import { type Config, readConfig } from '../settings/config.ts';
import { examples, type GetCommandContext } from './context.ts';
import { environment, reportAdvance, reportWaiting, tellNewDatabase } from './session.ts';

export function migrateCommand(getContext: GetCommandContext): Command {
  return examples(new Command('migrate'), 'tessera migrate --dry-run', 'tessera migrate')
    .description('migrate the database to the schema of this version, as starting the server does')
    .option('--dry-run', 'list the pending migrations and change nothing')
    .action(async ({ dryRun = false }: { dryRun?: boolean }, command: Command) => {
      const { flags, out } = getContext(command);
      const config = readConfig(environment(flags));
      if (dryRun) {
        const { pending, unfinished } = await pendingOf(config);
        const begun = (name: string) =>
          name === unfinished?.name ? `  (begun: ${unfinished.rowsDone.toLocaleString('en')} rows are done)` : '';
        const list = pending
          .map((name, index) => `${index + 1} of ${pending.length}  ${name}${begun(name)}\n`)
          .join('');
        return out.say(pending.length === 0 ? UP_TO_DATE : `${list}Pending. Nothing was changed.`, { pending });
      }
      const path = databaseFile(config);
      const made = path !== undefined && !existsSync(path);
      // By name: what is rolled back for a lock runs again.
      const ran = new Map<string, number>();
      const findings: string[] = [];
      const say = flags.json ? () => {} : (text: string) => void process.stdout.write(text);
      let unfinished = '';
      try {
        await migrateDatabase(config, {
          progress: {
            ...reportWaiting,
            advanced: reportAdvance((_step, text) => say(`\n        ${text}`)),
            retrying(attempt, of) {
              say(unfinished);
              unfinished = '';
              reportWaiting.retrying?.(attempt, of);
            },
            began({ name, number, of }) {
              say(`${number} of ${of}  ${name}`);
              unfinished = '\n';
            },
            found: (_step, text) => void findings.push(text),
            ran({ name }, milliseconds) {
              say(`  ${milliseconds.toFixed(0)} ms\n`);
              unfinished = '';
              ran.set(name, Math.round(milliseconds));
            },
          },
        });
      } finally {
        say(unfinished);
        if (made && existsSync(path)) tellNewDatabase(path);
      }
      const done = ran.size === 0 ? UP_TO_DATE : 'The database is up to date.';
      out.say([done, ...findings.map((text) => `\nTo decide: ${text}`)].join('\n'), {
        ran: Array.from(ran, ([name, milliseconds]) => ({ name, milliseconds })),
        findings,
      });
    });
}

const UP_TO_DATE = 'Nothing to do: the database is up to date.';

interface Pending {
  readonly pending: readonly string[];
  readonly unfinished: UnfinishedMigration | undefined;
}

async function pendingOf(config: Config): Promise<Pending> {
  const inspection = await inspectDatabase(config, Date.now);
  await inspection?.close();
  const { pending, obstacle } = migrationState(inspection?.applied ?? [], timeline);
  // The same message as from a server that does not start.
  if (obstacle !== undefined) throw new ConfigError([obstacle.message]);
  return { pending, unfinished: inspection?.unfinished };
}
