/** `npm run history -- --operations 1000000 --nodes 4 [--seed <n>] [--minutes <n>] [--one-service [--kill]] [--store SQLite]`: see README.md beside this file. */
import { randomInt } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startCluster } from './cluster.ts';
import { explain, summarize } from './report.ts';
import { run } from './run.ts';

const { values } = parseArgs({
  options: {
    operations: { type: 'string', default: '10000' },
    nodes: { type: 'string', default: '4' },
    seed: { type: 'string', default: String(randomInt(2 ** 31)) },
    minutes: { type: 'string', default: 'Infinity' },
    'one-service': { type: 'boolean', default: false },
    kill: { type: 'boolean', default: false },
    store: { type: 'string', default: 'PostgreSQL' },
  },
});
const [operations, nodes, seed, minutes] = [values.operations, values.nodes, values.seed, values.minutes].map(
  Number,
) as [number, number, number, number];
if (![operations, nodes, seed, minutes].every((number) => number >= 0)) throw new Error('the options are numbers');

const say = (text: string): void => void process.stderr.write(`${text}\n`);
say(`${operations} operations on ${nodes} nodes, seed ${seed}`);
const { store, kill, 'one-service': isOneService } = values;
if (store !== 'PostgreSQL' && store !== 'SQLite') throw new Error('--store is PostgreSQL or SQLite');
if (kill && !isOneService) throw new Error('--kill is for --one-service');
const cluster = await startCluster(nodes, { store, isOneService, isKilled: kill });
let stopping = false;
process.on('SIGINT', () => {
  stopping = true;
});
try {
  let said = 0;
  const summary = await run(cluster, {
    operations,
    seed,
    kills: kill,
    enough: ({ seconds }) => stopping || seconds >= minutes * 60,
    progress({ operations: done, seconds, violations }) {
      if (seconds - said < 5) return;
      said = seconds;
      say(`${done} operations, ${Math.round(done / seconds)} a second, ${violations.length} violations`);
    },
  });
  process.stdout.write(`${summarize(summary)}\n`);
  if (summary.violations.length > 0) {
    const file = join(mkdtempSync(join(tmpdir(), 'tessera-history-')), 'violations.txt');
    writeFileSync(file, `seed ${seed}\n\n${explain(summary, 50)}\n\n${cluster.log()}\n`);
    say(`the operations around each violation: ${file}`);
    process.exitCode = 1;
  }
} finally {
  await cluster.close();
}
