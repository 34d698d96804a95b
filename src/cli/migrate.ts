import { existsSync } from 'node:fs';
import { Command } from 'commander';
import { databaseFile, inspectDatabase, migrateDatabase } from '../core.ts';
import { type Config, ConfigError, readConfig } from '../platform/config/config.ts';
import { migrationState } from '../platform/database/migrations/position.ts';
import { timeline } from '../platform/database/migrations/timeline.ts';
import { type ContextOf, examples } from './context.ts';
import { environment, sayWaiting } from './session.ts';

export function migrateCommand(contextOf: ContextOf): Command {
  return examples(new Command('migrate'), 'tessera migrate --dry-run', 'tessera migrate')
    .description('bring the database to the schema of this version, as a start of the server does too')
    .option('--dry-run', 'list what is pending, and change nothing')
    .action(async ({ dryRun = false }: { dryRun?: boolean }, command: Command) => {
      const { flags, out } = contextOf(command);
      const config = readConfig(environment(flags));
      if (dryRun) {
        const pending = await pendingOf(config);
        const list = pending.map((name, index) => `${index + 1} of ${pending.length}  ${name}\n`).join('');
        return out.say(pending.length === 0 ? UP_TO_DATE : `${list}Pending. Nothing was changed.`, { pending });
      }
      const path = databaseFile(config);
      const made = path !== undefined && !existsSync(path);
      const ran: { name: string; milliseconds: number }[] = [];
      const say = flags.json ? () => {} : (text: string) => void process.stdout.write(text);
      let unfinished = '';
      try {
        await migrateDatabase(config, {
          progress: {
            ...sayWaiting,
            began({ name, number, of }) {
              say(`${number} of ${of}  ${name}`);
              unfinished = '\n';
            },
            ran({ name }, milliseconds) {
              say(`  ${milliseconds.toFixed(0)} ms\n`);
              unfinished = '';
              ran.push({ name, milliseconds: Math.round(milliseconds) });
            },
          },
        });
      } finally {
        say(unfinished);
        if (made && existsSync(path)) process.stderr.write(`Made a new database: ${path}\n`);
      }
      out.say(ran.length === 0 ? UP_TO_DATE : 'The database has the schema of this version.', { ran });
    });
}

const UP_TO_DATE = 'Nothing is pending: the database has the schema of this version.';

async function pendingOf(config: Config): Promise<readonly string[]> {
  const inspection = await inspectDatabase(config, Date.now);
  await inspection?.close();
  const { pending, obstacle } = migrationState(inspection?.applied ?? [], timeline);
  // The words of a start that is refused.
  if (obstacle !== undefined) throw new ConfigError([obstacle.message]);
  return pending;
}
