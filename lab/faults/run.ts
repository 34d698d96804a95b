import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { faults, noBouncer, stopFaults } from './faults.ts';
import { page, table } from './report.ts';
import { runAll } from './schedule.ts';

const all = faults();

const HELP = `npm run faults -- [options]

  --only <fault>   one fault alone; several times for several
  --times <n>      how often each fault happens, instead of its own number
  --seed <n>       where the random points begin (default 1)
  --people <n>     how many people use each service at a time (default 6)
  --lanes <n>      how many services run side by side (default: processors + 1)
  --processes <n>  how many processes each node has (default 1)
  --pooled         nodes reach PostgreSQL through PgBouncer in transaction mode; only faults that may have it in between
  --json           the results as JSON
  --record         writes lab/faults/README.md, from all faults; with --processes or --pooled, its section about that

Faults: ${Object.keys(all).join(', ')}
`;

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    times: { type: 'string' },
    seed: { type: 'string', default: '1' },
    people: { type: 'string', default: '6' },
    lanes: { type: 'string', default: String(availableParallelism() + 1) },
    processes: { type: 'string' },
    pooled: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    record: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

const begun = performance.now();
const say = (text: string): void => {
  const seconds = Math.floor((performance.now() - begun) / 1000);
  process.stderr.write(`[${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}] ${text}\n`);
};

/** How many of the violations of a fault are printed: one brings others with it. */
const SHOWN = 10;

/** How often the progress is told, in milliseconds. */
const EVERY = 10_000;

async function main(): Promise<number> {
  const names = values.only ?? Object.keys(all);
  const unknown = names.filter((name) => !Object.hasOwn(all, name));
  // What the page shows comes from one whole run; only its other sections may be of some faults.
  if (
    values.help ||
    unknown.length > 0 ||
    (values.record && values.only !== undefined && values.processes === undefined && !values.pooled)
  ) {
    process.stdout.write(HELP);
    return values.help ? 0 : 2;
  }
  if (values.pooled && noBouncer !== undefined) throw new Error(`--pooled: ${noBouncer}`);
  const leftOut: string[] = [];
  const several = values.processes !== undefined;
  const wanted = names.flatMap((name) => {
    const fault = all[name];
    if (fault === undefined) return [];
    if (values.pooled && fault.isPoolable !== true) return [];
    const missing = fault.missing ?? (several && fault.isForOne === true ? 'it is about one process' : undefined);
    const times = Number(values.times ?? fault.times);
    if (missing === undefined) return [{ name, fault, times }];
    leftOut.push(`${name} is left out: ${missing}.`);
    return [];
  });
  for (const text of leftOut) say(text);
  const running = new Map<string, string>();
  const timer = setInterval(() => running.size > 0 && say([...running.values()].join(', ')), EVERY);
  const common = {
    ...{ seed: Number(values.seed), people: Number(values.people), pooled: values.pooled },
    ...(several && { processes: Number(values.processes) }),
  };
  const outcomes = await runAll(wanted, common, Number(values.lanes), {
    progress(name, done) {
      const times = wanted.find((one) => one.name === name)?.times;
      running.set(name, `${name} ${done}/${times}`);
    },
    finished(name, { times, violations }) {
      running.delete(name);
      say(`${name} ${times}/${times}: ${violations.length === 0 ? 'nothing lost' : 'NOT AS IT MUST BE'}`);
      for (const text of violations.slice(0, SHOWN)) process.stderr.write(`  ${text}\n`);
      if (violations.length > SHOWN) process.stderr.write(`  and ${violations.length - SHOWN} more\n`);
    },
  }).finally(() => clearInterval(timer));
  const seconds = Math.round((performance.now() - begun) / 1000);
  process.stdout.write(values.json ? `${JSON.stringify(outcomes, undefined, 2)}\n` : `\n${table(outcomes)}\n`);
  if (values.record) {
    const how = [
      ...(several ? [`with ${values.processes} processes in each node`] : []),
      ...(values.pooled ? ['through PgBouncer'] : []),
    ];
    const file = new URL('./README.md', import.meta.url);
    writeFileSync(file, page(readFileSync(file, 'utf8'), { outcomes, seconds, leftOut, how: how.join(', ') }));
  }
  return outcomes.some(({ violations }) => violations.length > 0) ? 1 : 0;
}

let status: number;
try {
  status = await main();
} finally {
  await stopFaults();
}
// A trial that was given up may have left something at work.
process.exit(status);
