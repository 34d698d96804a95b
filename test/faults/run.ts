import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { faults, runFault, stopFaults } from './faults.ts';
import { page, table } from './report.ts';
import type { Outcome } from './trial.ts';

const HELP = `npm run faults -- [options]

  --only <fault>   one fault alone; several times for several
  --times <n>      how often: the kills of a node, or the faults that --only names
  --seed <n>       where the random points begin (default 1)
  --people <n>     how many people use the service at a time (default 6)
  --json           the results as JSON
  --record         writes docs/reference/faults.md

Faults: ${Object.keys(faults()).join(', ')}
`;

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    times: { type: 'string' },
    seed: { type: 'string', default: '1' },
    people: { type: 'string', default: '6' },
    json: { type: 'boolean', default: false },
    record: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

function timesOf(name: string, usual: number): number {
  const told = values.only !== undefined || name.startsWith('node-');
  return told && values.times !== undefined ? Number(values.times) : usual;
}

async function main(): Promise<number> {
  const all = faults();
  const names = values.only ?? Object.keys(all);
  const unknown = names.filter((name) => !Object.hasOwn(all, name));
  if (values.help || unknown.length > 0) {
    process.stdout.write(HELP);
    return values.help ? 0 : 2;
  }
  const begun = performance.now();
  const outcomes: Outcome[] = [];
  for (const name of names) {
    const fault = all[name];
    if (fault === undefined) continue;
    const times = timesOf(name, fault.times);
    const progress = (count: number) => process.stderr.write(`\r${name} ${count}/${times}`);
    const options = { times, seed: Number(values.seed), people: Number(values.people), progress };
    process.stderr.write(name);
    const outcome = await runFault(fault, options);
    const { violations } = outcome;
    process.stderr.write(
      `\r${name} ${times}/${times}: ${violations.length === 0 ? 'nothing lost' : 'NOT AS IT MUST BE'}\n`,
    );
    for (const text of violations) process.stderr.write(`  ${text}\n`);
    outcomes.push(outcome);
  }
  const seconds = Math.round((performance.now() - begun) / 1000);
  process.stdout.write(values.json ? `${JSON.stringify(outcomes, undefined, 2)}\n` : `\n${table(outcomes)}\n`);
  if (values.record) writeFileSync(new URL('../../docs/reference/faults.md', import.meta.url), page(outcomes, seconds));
  return outcomes.some(({ violations }) => violations.length > 0) ? 1 : 0;
}

try {
  process.exitCode = await main();
} finally {
  await stopFaults();
}
