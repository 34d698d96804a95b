import { resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { start } from '../app.ts';
import { SECOND } from '../platform/clock.ts';
import { type Config, readConfig } from '../platform/config/config.ts';
import { reserveHashingThreads } from '../platform/config/threads.ts';
import { shellWord } from '../platform/shell.ts';
import { environment, type GlobalFlags, sayWaiting } from './session.ts';

/**
 * The heap is collected when it has grown by so many hundredths of what lives. The runtime's own measure lets it grow to a
 * multiple under load, since what a request leaves while it waits for a commit counts as old; the figures are in
 * docs/explanation/performance.md.
 */
const HEAP_GROWTH = '--heap-growing-percent=60';

/** Runs the server until it is told to stop. */
export async function serve(flags: GlobalFlags & { host?: string; port?: string }): Promise<void> {
  const config = readConfig(environment(flags));
  setFlagsFromString(HEAP_GROWTH);
  reserveHashingThreads(config.hashingConcurrency);
  const warn = (text: string): void => void process.stderr.write(`Warning: ${text}\n`);
  const tessera = await start(config, Date.now, { migration: { progress: sayWaiting }, warn });
  // Before anything is said: whoever reads that the server is ready may stop it in the same moment.
  let stoppingSince: number | undefined;
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      // A second signal does not wait for slow requests. One right behind the first is the same: npm passes on what a supervisor
      // has sent to both.
      if (stoppingSince !== undefined) {
        if (performance.now() - stoppingSince > SECOND) process.exit(1);
        return;
      }
      stoppingSince = performance.now();
      tessera.drain();
      // Only a supervisor has somebody to tell; whoever presses Ctrl+C waits for nothing.
      const patience = signal === 'SIGTERM' ? config.drainSeconds * SECOND : 0;
      wait(patience)
        .then(() => tessera.close(signal === 'SIGTERM'))
        .then(
          () => process.exit(0),
          (error: unknown) => {
            process.stderr.write(`${String(error)}\n`);
            process.exit(1);
          },
        );
    });
  }
  const seconds = (performance.now() / 1000).toFixed(2);
  const facts = { baseUrl: tessera.baseUrl, databaseUrl: withoutPassword(config.databaseUrl), dataDir: config.dataDir };
  process.stdout.write(flags.json ? `${JSON.stringify(facts)}\n` : welcome(config, tessera.baseUrl, seconds));
}

function welcome(config: Config, baseUrl: string, seconds: string): string {
  // Another terminal has neither this one's folder nor its variables.
  const where = [
    config.dataDir === resolve('data') ? '' : ` --data-dir ${quoted(config.dataDir)}`,
    config.databaseUrl === `sqlite:${resolve(config.dataDir, 'tessera.db')}` ||
    !config.databaseUrl.startsWith('sqlite:')
      ? ''
      : ` --database-url ${quoted(config.databaseUrl)}`,
  ].join('');
  return [
    `Tessera is ready after ${seconds} s.`,
    `  Address   ${baseUrl}`,
    `  Data      ${withoutPassword(config.databaseUrl)}`,
    ...(config.playground ? ['', `Walk through the flow in a browser: ${baseUrl}/playground`] : []),
    '',
    'Make a first user and a first client, in another terminal in this folder:',
    `  npx tessera user create --username ada --display-name "Ada Lovelace" --email ada@example.com --password-stdin${where}`,
    `  npx tessera client create --name "My app" --redirect-uri http://localhost:8080/callback${where}`,
    '',
  ].join('\n');
}

/** The address of a database server may hold a password, which is not for the screen. */
function withoutPassword(databaseUrl: string): string {
  if (databaseUrl.startsWith('sqlite:') || !URL.canParse(databaseUrl)) return databaseUrl;
  const url = new URL(databaseUrl);
  url.password = '';
  url.searchParams.delete('password');
  return url.href;
}

const quoted = (text: string): string => (/^[\w./:@+-]+$/.test(text) ? text : shellWord(text));
