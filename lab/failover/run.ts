import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { table } from '../faults/report.ts';
import { findBinaries, startCluster } from './cluster.ts';
import { failOver } from './fail-over.ts';
import { missingPatroni, startPatroni } from './patroni.ts';
import { list, page, section } from './report.ts';

const HELP = `npm run failover -- [options]

  --times <n>      how often the primary is lost (default 20)
  --halted <n>     how many of these times, at the end, it is halted and woken instead of killed (default 0)
  --silent <n>     how many times, before those, it answers nothing until the service is back (default 0)
  --patroni        Patroni promotes and rebuilds, not this script
  --seed <n>       where the random points begin (default 1)
  --people <n>     how many people use the service at a time (default 6)
  --record         writes its part of lab/failover/README.md
`;

const { values } = parseArgs({
  options: {
    times: { type: 'string', default: '20' },
    halted: { type: 'string', default: '0' },
    silent: { type: 'string', default: '0' },
    patroni: { type: 'boolean', default: false },
    seed: { type: 'string', default: '1' },
    people: { type: 'string', default: '6' },
    record: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

async function main(): Promise<number> {
  if (values.help) {
    process.stdout.write(HELP);
    return 0;
  }
  const bin = findBinaries();
  if (bin === undefined || process.getuid?.() !== 0) {
    process.stderr.write(
      'This needs PostgreSQL in /usr/lib/postgresql (apt-get install postgresql), and root to run it as its user.\n',
    );
    return 2;
  }
  const missing = values.patroni ? missingPatroni() : undefined;
  if (missing !== undefined) {
    process.stderr.write(`${missing}\n`);
    return 2;
  }
  const begun = performance.now();
  const cluster = await (values.patroni ? startPatroni(bin) : startCluster(bin));
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.once(name, () => void cluster.stop().finally(() => process.exit(1)));
  }
  try {
    const times = Number(values.times);
    const options = {
      ...{ times, seed: Number(values.seed), people: Number(values.people) },
      progress: (done: number) => void process.stderr.write(`${done}/${times}\n`),
    };
    const { outcome, all } = await failOver(cluster, options, {
      ...{ silent: Number(values.silent), halted: Number(values.halted) },
    });
    process.stdout.write(`\n${table([outcome])}\n\n${list(all)}\n`);
    for (const text of outcome.violations) process.stderr.write(`  ${text}\n`);
    const took = Math.round((performance.now() - begun) / 1000);
    if (values.record) {
      const to = new URL('./README.md', import.meta.url);
      const promoter = values.patroni ? 'by Patroni' : 'by hand';
      const own = section(promoter, outcome, all, { software: cluster.software, seconds: took });
      writeFileSync(to, page(existsSync(to) ? readFileSync(to, 'utf8') : '', promoter, own));
    }
    return outcome.violations.length > 0 || all.length < times ? 1 : 0;
  } finally {
    await cluster.stop();
  }
}

// A trial that was given up may have left something at work.
process.exit(await main());
