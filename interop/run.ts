/*
 * `npm run interop`: takes clients of other projects through the whole protocol against this service, as their users would set
 * them up, and prints what worked.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Client, clients } from './clients.ts';
import { startIssuer } from './issuer.ts';
import { groupsOf, page, type Result, table } from './page.ts';
import { Missing, report, stopAll } from './processes.ts';
import { type Step, steps, walkThrough } from './steps.ts';

const USAGE = `npm run interop -- [options]

  --only <client>   one client; may be given several times: ${clients.map(({ name }) => name).join(', ')}
  --record          write the results into docs/reference/interop.md
  --help            show this`;

function readOptions() {
  const options = {
    only: { type: 'string', multiple: true },
    record: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  } as const;
  try {
    return parseArgs({ options }).values;
  } catch (error) {
    report(`${error instanceof Error ? error.message : error}\n\n${USAGE}`);
    process.exit(2);
  }
}

const values = readOptions();
if (values.help) {
  process.stdout.write(`${USAGE}\n`);
  process.exit(0);
}
const unknown = (values.only ?? []).filter((name) => !clients.some((client) => client.name === name));
if (unknown.length > 0) {
  report(`Unknown client ${unknown.join(', ')}. Known: ${clients.map(({ name }) => name).join(', ')}`);
  process.exit(2);
}

const cache = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'tessera-interop');
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => void stopAll().finally(() => process.exit(130)));
}

async function result(client: Client): Promise<Result> {
  const folder = join(cache, client.name.replaceAll(/[^\w.-]+/g, '-'));
  mkdirSync(folder, { recursive: true });
  report(`${client.name}: installing from ${client.registry} (the first time may take minutes)`);
  let version = client.version;
  try {
    const prepared = await client.prepare(folder, client.version);
    version = prepared.version;
    report(`${client.name} ${version}: running`);
    // A new service for each client, so that no client depends on what an earlier one did.
    const issuer = await startIssuer();
    try {
      const row = await walkThrough(client, prepared, issuer);
      for (const [step, { result, detail }] of Object.entries(row))
        report(`  ${steps[step as Step]}: ${result}${detail && ` (${detail})`}`);
      return { client, version, row };
    } finally {
      await issuer.close();
    }
  } catch (error) {
    const reason = error instanceof Missing ? error.message : String(error);
    report(`${client.name}: skipped: ${reason}`);
    return { client, version, skipped: reason };
  }
}

let code = 1;
try {
  const results: Result[] = [];
  for (const client of clients) {
    if (values.only === undefined || values.only.includes(client.name)) results.push(await result(client));
  }
  process.stdout.write(`${table(results)}\n`);
  const ran = results.filter((one) => 'row' in one);
  const whole = ran.length === clients.length;
  if (values.record && whole) {
    const record = new URL('../docs/reference/interop.md', import.meta.url);
    // npm run interop:groups writes that part.
    writeFileSync(record, `${page(ran, new Date())}${groupsOf(readFileSync(record, 'utf8'))}`);
    report('Recorded in docs/reference/interop.md');
  } else if (values.record) {
    report('Not recorded: that takes a run of all clients, none of them skipped');
  }
  const works = ({ result }: { readonly result: string }) => result === 'passed' || result === 'not offered';
  const green = ran.length === results.length && ran.every(({ row }) => Object.values(row).every(works));
  code = green && (whole || !values.record) ? 0 : 1;
} finally {
  await stopAll();
}
process.exit(code);
