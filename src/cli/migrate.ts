import { existsSync } from 'node:fs';
import { Command } from 'commander';
import { databaseFile, inspectDatabase, migrateDatabase } from '../core.ts';
import { type Config, ConfigError, readConfig } from '../platform/config/config.ts';
import { migrationState } from '../platform/database/migrations/position.ts';
import { timeline } from '../platform/database/migrations/timeline.ts';
import { examples, type GetCommandContext } from './context.ts';
import { environment, reportWaiting } from './session.ts';

export function migrateCommand(getContext: GetCommandContext): Command {
  return examples(new Command('migrate'), 'tessera migrate --dry-run', 'tessera migrate')
    .description('migrate the database to the schema of this version, as starting the server does')
    .option('--dry-run', 'list the pending migrations and change nothing')
    .action(async ({ dryRun = false }: { dryRun?: boolean }, command: Command) => {
      const { flags, out } = getContext(command);
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
            ...reportWaiting,
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
        if (made && existsSync(path)) process.stderr.write(`Created a new database: ${path}\n`);
      }
      out.say(ran.length === 0 ? UP_TO_DATE : 'The database is up to date.', { ran });
    });
}

const UP_TO_DATE = 'Nothing to do: the database is up to date.';

async function pendingOf(config: Config): Promise<readonly string[]> {
  const inspection = await inspectDatabase(config, Date.now);
  await inspection?.close();
  const { pending, obstacle } = migrationState(inspection?.applied ?? [], timeline);
  // The same message as from a server that does not start.
  if (obstacle !== undefined) throw new ConfigError([obstacle.message]);
  return pending;
}
