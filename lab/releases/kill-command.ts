// Kills `tessera migrate` at random moments of each of its phases: see README.md.

import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { startPostgres } from '../../test/support/postgres.ts';
import { RELEASES, releasedLarge } from './fixture.ts';
import { killMigration, PHASES, type Phase, STAGES, type Stage, timePhases } from './kill.ts';
import { type Kills, killSection, withKillSection } from './kill-report.ts';

const { values } = parseArgs({
  options: { times: { type: 'string', default: '50' }, record: { type: 'boolean', default: false } },
});
const PAGE = new URL('../upgrade/results.md', import.meta.url);
const version = RELEASES.at(-1) ?? '';
/** SQLite builds an index in the time that a signal takes if there are fewer. */
const COPIES = { sqlite: 5000, postgres: 2500 };
/** How often the phases are timed. The first time, the files are not in memory yet. */
const TIMINGS = 5;

/** The median time that each phase takes. */
async function timedPhases(kind: 'sqlite' | 'postgres'): Promise<Record<Phase, number>> {
  const timings: Awaited<ReturnType<typeof timePhases>>[] = [];
  while (timings.length < TIMINGS) {
    const place = await releasedLarge(kind, version, COPIES[kind]);
    timings.push(await timePhases(place));
    await place.drop();
  }
  const median = (phase: Phase) =>
    timings.map((times) => times[phase]).sort((a, b) => a - b)[Math.floor(TIMINGS / 2)] ?? 0;
  return { before: median('before'), rows: median('rows'), indexes: median('indexes') };
}

// One after the other: what else is busy would change how long a phase takes.
async function killOften(kind: 'sqlite' | 'postgres', times: number): Promise<Kills> {
  const phases = Object.keys(PHASES) as Phase[];
  const spans = await timedPhases(kind);
  for (const phase of phases) process.stdout.write(`${kind}: ${phase} takes ${spans[phase].toFixed(0)} ms\n`);
  const stages: Record<Stage, number> = { before: 0, rows: 0, indexes: 0, after: 0 };
  const problems: string[] = [];
  for (let time = 1; time <= times; time++) {
    const place = await releasedLarge(kind, version, COPIES[kind]);
    const aim = phases[time % phases.length] ?? 'rows';
    const milliseconds = spans[aim] * Math.random();
    const remains = await killMigration(place, { printed: PHASES[aim], milliseconds });
    stages[remains.stage]++;
    // The machine may be less busy than it was.
    if (STAGES.indexOf(remains.stage) > STAGES.indexOf(aim)) spans[aim] *= 0.8;
    if (remains.problems.length > 0) problems.push(`${kind}, kill ${time}: ${remains.problems.join('; ')}`);
    process.stdout.write(
      `${kind}: kill ${time} of ${times}: aimed at ${aim} + ${milliseconds.toFixed(0)} ms, hit ${remains.stage}\n`,
    );
    await place.drop();
  }
  return { database: kind === 'sqlite' ? 'SQLite' : 'PostgreSQL', times, stages, problems };
}

const server = await startPostgres();
process.env['TESSERA_TEST_POSTGRES'] = server.url;
try {
  const times = Number(values.times);
  const all = [await killOften('sqlite', times), await killOften('postgres', times)];
  for (const problem of all.flatMap(({ problems }) => problems)) process.stdout.write(`${problem}\n`);
  const section = killSection(version, all);
  process.stdout.write(`\n${section}`);
  if (values.record) writeFileSync(PAGE, withKillSection(readFileSync(PAGE, 'utf8'), section));
  process.exitCode = all.every(({ problems }) => problems.length === 0) ? 0 : 1;
} finally {
  await server.stop();
}
