/** `npm run endings -- --endings 10000 --nodes 2 [--seed <n>] [--one-service] [--store SQLite]`: see README.md beside this file. */
import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { startCluster } from './cluster.ts';
import { runEndings, summarizeEndings } from './endings.ts';

const { values } = parseArgs({
  options: {
    endings: { type: 'string', default: '10000' },
    nodes: { type: 'string', default: '2' },
    seed: { type: 'string', default: String(randomInt(2 ** 31)) },
    'one-service': { type: 'boolean', default: false },
    store: { type: 'string', default: 'PostgreSQL' },
  },
});
const [endings, nodes, seed] = [values.endings, values.nodes, values.seed].map(Number) as [number, number, number];
if (![endings, nodes, seed].every((number) => number >= 0)) throw new Error('the options are numbers');
const { store, 'one-service': isOneService } = values;
if (store !== 'PostgreSQL' && store !== 'SQLite') throw new Error('--store is PostgreSQL or SQLite');

const say = (text: string): void => void process.stderr.write(`${text}\n`);
say(`${endings} endings on ${nodes} nodes, seed ${seed}`);
const cluster = await startCluster(nodes, { store, isOneService });
try {
  let said = 0;
  const summary = await runEndings(cluster, {
    endings,
    seed,
    progress({ endings: done, seconds, faults }) {
      if (seconds - said < 10) return;
      said = seconds;
      say(`${done} endings in ${Math.round(seconds)} s, ${faults.length} faults`);
    },
  });
  process.stdout.write(`${summarizeEndings(summary)}\n`);
  if (summary.faults.length > 0) {
    say(cluster.log());
    process.exitCode = 1;
  }
} finally {
  await cluster.close();
}
