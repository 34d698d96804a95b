import { start } from '../app.ts';
import { readConfig } from '../config/config.ts';
import { environment, type GlobalFlags } from './session.ts';

/** Runs the server until it is told to stop. */
export async function serve(flags: GlobalFlags & { host?: string; port?: string; baseUrl?: string }): Promise<void> {
  const config = readConfig(environment(flags));
  const tessera = await start(config);
  const seconds = (performance.now() / 1000).toFixed(2);
  process.stdout.write(
    [
      `Tessera is ready after ${seconds} s.`,
      `  Address   ${tessera.baseUrl}`,
      `  Data      ${config.databaseUrl}`,
      '',
      'Make a first user and a first client, in another terminal:',
      '  npx tessera user create --username ada --display-name "Ada Lovelace" --email ada@example.com --password-stdin',
      '  npx tessera client create --name "My app" --redirect-uri http://localhost:8080/callback',
      '',
    ].join('\n'),
  );
  let stopping = false;
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      // A second signal does not wait for slow requests.
      if (stopping) process.exit(1);
      stopping = true;
      tessera.close().then(
        () => process.exit(0),
        (error: unknown) => {
          process.stderr.write(`${String(error)}\n`);
          process.exit(1);
        },
      );
    });
  }
}
