import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { migrateDatabase } from '../../src/core.ts';
import { timeline } from '../../src/migrations/timeline.ts';
import { readConfig } from '../../src/settings/config.ts';
import { NEXT, NEXT_AT } from './next.ts';
import type { Place } from './places.ts';

const COMMAND = fileURLToPath(new URL('./next-command.ts', import.meta.url));

/** When a migration is killed: once it has printed a text, or some time after that. */
export interface Moment {
  readonly printed: string;
  readonly milliseconds?: number;
}

/** What a killed migration had come to. */
export const STAGES = ['before', 'rows', 'indexes', 'after'] as const;
export type Stage = (typeof STAGES)[number];

/** The stages before it is complete, and what `tessera migrate` prints when each begins. */
export const PHASES = { before: '1 of ', rows: '9002-rows', indexes: '9003-indexes' } as const;
export type Phase = keyof typeof PHASES;
/** What it has printed when the last of them ends. */
const ENDED = new RegExp(`${PHASES.indexes}[^]* ms\n`);

const INDEXES = ['token_family_by_next', 'browser_session_by_next'];
const steps = { ...timeline, ...NEXT };

/** What a killed migration left behind. */
export interface Remains {
  readonly stage: Stage;
  /** What is wrong; empty if the next run completed it and nothing is lost. */
  readonly problems: readonly string[];
}

/** Kills `tessera migrate` on the database of a release, looks at what is left, and migrates again. */
export async function killMigration(place: Place, moment: Moment): Promise<Remains> {
  const tables = await place.columns();
  const rows = await place.rows(tables);
  await killed(place, moment);
  await place.settled();
  const problems: string[] = [];
  const check = async (problem: string, found: Promise<number>) => {
    const count = await found;
    if (count > 0) problems.push(`${problem}: ${count}`);
  };
  const left = await place.columns();
  const stage = isDeepStrictEqual(left, tables) ? 'before' : await stageOf(place);
  if (!isDeepStrictEqual(await place.rows(tables), rows)) problems.push('rows are lost or changed by what was killed');
  // The ids of the rows that it has gone through.
  let last = '0';
  if (stage !== 'before') {
    last = await place.value(
      stage === 'rows'
        ? 'SELECT coalesce(max(last_id), 0) FROM migration_progress'
        : 'SELECT max(id) FROM token_family',
    );
    await check('left out before it', place.count(`token_family WHERE id <= ${last} AND next_at <> ${NEXT_AT}`));
    await check('changed after it', place.count(`token_family WHERE id > ${last} AND next_at <> 0`));
    // What would be changed a second time if these were not left alone now.
    await place.execute(`UPDATE token_family SET next_at = 0 WHERE id <= ${last}`);
  }
  const config = readConfig(place.environment);
  await migrateDatabase(config, { steps }).catch((error: unknown) =>
    problems.push(`the next run failed: ${String(error)}`),
  );
  if (!isDeepStrictEqual(await place.rows(tables), rows)) problems.push('rows are lost or changed by the next run');
  if (stage !== 'before' && !isDeepStrictEqual(await place.columns(), left))
    problems.push('half of the schema was there');
  await check('repeated by the next run', place.count(`token_family WHERE id <= ${last} AND next_at <> 0`));
  await check('left out', place.count(`token_family WHERE id > ${last} AND next_at <> ${NEXT_AT}`));
  await check('progress of what is complete', place.count('migration_progress'));
  const names = INDEXES.map((name) => `'${name}'`).join(', ');
  const missing = INDEXES.length - (await place.count(`${place.usableIndexes} IN (${names})`));
  if (missing > 0) problems.push(`indexes that are missing or not valid: ${missing}`);
  const third = await migrateDatabase(config, { steps });
  if (third.length > 0) problems.push(`the third run had something to do: ${third.join(', ')}`);
  return { stage, problems };
}

async function stageOf(place: Place): Promise<Stage> {
  const isComplete = async (name: string) => (await place.count(`schema_migration WHERE name = '${name}'`)) === 1;
  if (await isComplete('9003-indexes')) return 'after';
  return (await isComplete('9002-rows')) ? 'indexes' : 'rows';
}

/** How many milliseconds each phase of a migration takes. */
export async function timePhases(place: Place): Promise<Readonly<Record<Phase, number>>> {
  const at: number[] = [];
  await run(place, (output) => {
    const reached = [...Object.values(PHASES).map((text) => output.includes(text)), ENDED.test(output)];
    for (const index of reached.keys()) if (reached[index]) at[index] ??= performance.now();
  });
  const [before = Number.NaN, rows = Number.NaN, indexes = Number.NaN, end = Number.NaN] = at;
  return { before: rows - before, rows: indexes - rows, indexes: end - indexes };
}

async function killed(place: Place, { printed, milliseconds = 0 }: Moment): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  let isReached = false;
  await run(place, (output, kill) => {
    if (isReached || !output.includes(printed)) return;
    isReached = true;
    if (milliseconds === 0) kill();
    else timer = setTimeout(kill, milliseconds);
  });
  clearTimeout(timer);
}

/** Runs it to its end, and calls back whenever it has printed something. */
async function run({ environment }: Place, printed: (output: string, kill: () => void) => void): Promise<void> {
  const child = spawn(process.execPath, [COMMAND, 'migrate'], {
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...environment },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const closed = once(child, 'close');
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
    printed(output, () => child.kill('SIGKILL'));
  });
  await closed;
}
