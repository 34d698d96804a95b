import { setFlagsFromString } from 'node:v8';
import type { Tessera } from '../app.ts';
import { isLoopback } from '../platform/config/loopback.ts';
import { reserveHashingThreads } from '../platform/config/threads.ts';
import { unreadSettings } from '../platform/config/variable.ts';
import { withoutPassword } from '../platform/database/server-address.ts';
import { watchWaiting } from '../platform/http/waiting.ts';
import { VERSION } from '../platform/version.ts';
import { type Config, readConfig } from '../settings/config.ts';
import { findSecret } from '../settings/secret-file.ts';
import { mailboxKey, mailboxLink } from '../web/mailbox/key.ts';
import { databaseFlags, developerTerminal } from './developer-terminal.ts';
import { type Logs, openLogs } from './logs.ts';
import { environment, type GlobalFlags, reportLong } from './session.ts';
import { stopOnSignals } from './stop.ts';

/**
 * Collects garbage when the heap has grown by 60 % over the live objects. By default it grows to a multiple of that under load,
 * because objects of requests that wait for a commit are promoted to the old generation. See lab/bench/performance.md.
 */
const HEAP_GROWTH = '--heap-growing-percent=60';

/** Runs the server until it is told to stop. */
export async function serve(flags: GlobalFlags & { host?: string; port?: string; processes?: string }): Promise<void> {
  const config = readConfig(environment(flags));
  const logs = openLogs(config.logLevel);
  if (config.processes > 1) {
    const { default: cluster } = await import('node:cluster');
    if (cluster.isPrimary) return serveBySeveral(config, logs, flags);
  }
  setFlagsFromString(HEAP_GROWTH);
  reserveHashingThreads(config.hashingConcurrency);
  if (config.processes > 1) return (await import('./processes/worker.ts')).serveAsWorker(config, logs);
  const { start } = await import('../app.ts');
  const tessera = await start(config, Date.now, {
    migration: { progress: reportLong },
    warn: (text) => logs.err.write(`Warning: ${text}\n`),
    log: logs.out,
    developerTerminal: developerTerminal(config, logs),
    waiting: watchWaiting(),
  });
  stopOnSignals(config, tessera, logs);
  greet(config, logs, tessera, flags);
}

async function serveBySeveral(config: Config, logs: Logs, flags: GlobalFlags): Promise<void> {
  const { supervise } = await import('./processes/supervisor.ts');
  const service = await supervise(config, logs);
  stopOnSignals(config, service, logs);
  await service.complete;
  greet(config, logs, service, flags);
}

/** A base URL on this machine whose port is not the one that is listened on leads nowhere, unless a proxy stands between them. */
function otherPort({ host, port }: Config, baseUrl: string): readonly string[] {
  const { hostname, port: named, protocol } = new URL(baseUrl);
  const expected = named === '' ? (protocol === 'https:' ? 443 : 80) : Number(named);
  if (port === 0 || expected === port || !isLoopback(hostname)) return [];
  return [
    `The base URL ${baseUrl} has the port ${expected}, and the server listens on ${host}:${port}. Without a proxy between them, no link works: correct TESSERA_BASE_URL or TESSERA_PORT.`,
  ];
}

/** What a server that has started tells the operator. */
type Started = Pick<Tessera, 'baseUrl' | 'setupAddress'>;

function greet(config: Config, logs: Logs, { baseUrl, setupAddress }: Started, flags: GlobalFlags): void {
  for (const text of [...unreadSettings(environment(flags)), ...otherPort(config, baseUrl)]) {
    logs.err.write(`Warning: ${text}\n`);
  }
  const seconds = (performance.now() / 1000).toFixed(2);
  const secret = findSecret(config);
  const mailbox =
    config.mail.mailbox && secret !== undefined ? mailboxLink(baseUrl, mailboxKey(config, secret)) : undefined;
  const facts = {
    baseUrl,
    databaseUrl: withoutPassword(config.databaseUrl),
    dataDir: config.dataDir,
    version: VERSION,
    ...(mailbox !== undefined && { mailbox }),
    ...(setupAddress !== undefined && { setup: setupAddress }),
  };
  // Standard output alone: neither the log nor telemetry may have the two links.
  logs.out.write(
    flags.json ? `${JSON.stringify(facts)}\n` : welcome(config, { baseUrl, setupAddress }, seconds, mailbox),
  );
}

function welcome(
  config: Config,
  { baseUrl, setupAddress }: Started,
  seconds: string,
  mailbox: string | undefined,
): string {
  return [
    `Tessera ${VERSION} is ready after ${seconds} s.`,
    `  Address   ${baseUrl}`,
    `  Data      ${withoutPassword(config.databaseUrl)}`,
    ...(config.processes > 1 ? [`  Processes ${config.processes}`] : []),
    ...(mailbox === undefined
      ? []
      : ['', 'Mail is not sent, but shown to those who have this link. Keep it to yourself:', `  ${mailbox}`]),
    ...(setupAddress === undefined
      ? []
      : [
          '',
          'Open this link within an hour to create your account, which then owns the installation:',
          `  ${setupAddress}`,
        ]),
    ...(config.playground ? ['', `Walk through the flow in a browser: ${baseUrl}/playground`] : []),
    '',
    'Register an app from another terminal, in this folder:',
    `  npx tessera client create --name "My app" --redirect-uri http://localhost:8080/callback${databaseFlags(config)}`,
    '',
  ].join('\n');
}
