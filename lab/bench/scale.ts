/**
 * Generates databases of very different sizes on PostgreSQL, and measures what each request costs on them, side by side:
 *   npm run scale -- [--people 1000,10000000] [--events 10] [--folder <folder>] [--minutes <n>] [--only <a,b>] [--cold]
 *
 * Generating ten million people takes long. With a folder, the databases stay there, and a run that ended after `--minutes` is continued by
 * the next one with the same options. With `--cold`, the people who send requests did not send any before: empty the cache of the system first.
 */
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { startPostgres } from '../../test/support/postgres.ts';
import { say } from './say.ts';
import { generate } from './scale-data.ts';
import { measureUpkeep, UPKEEP } from './scale-upkeep.ts';
import { measureScale, SCALE_WORKS } from './scale-works.ts';

const { values: options } = parseArgs({
  options: {
    people: { type: 'string', default: '1000,10000000' },
    events: { type: 'string', default: '10' },
    folder: { type: 'string' },
    minutes: { type: 'string' },
    only: { type: 'string', default: [...SCALE_WORKS, ...UPKEEP].join(',') },
    cold: { type: 'boolean', default: false },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '2' },
  },
});
const sizes = options.people.split(',').map(Number);
const until = options.minutes === undefined ? undefined : performance.now() + Number(options.minutes) * 60_000;
const folder = options.folder === undefined ? mkdtempSync(join(tmpdir(), 'tessera-scale-')) : resolve(options.folder);
mkdirSync(folder, { recursive: true });
// PostgreSQL runs as another user if this one is root.
if (options.folder === undefined) chmodSync(folder, 0o755);

const postgres = await startPostgres({
  folder: join(folder, 'postgres'),
  settings: ['shared_buffers=2GB', 'max_wal_size=4GB', 'checkpoint_timeout=15min', 'maintenance_work_mem=1GB'],
});
try {
  const made = [];
  for (const people of sizes) {
    made.push(await generate({ postgres, folder, people, events: people * Number(options.events), until }));
  }
  const whole = made.filter((one) => one !== undefined);
  if (whole.length < sizes.length) say('The time is over: continue with the same command.');
  else {
    const [rounds, seconds] = [Number(options.rounds), Number(options.seconds)];
    const only = new Set(options.only.split(','));
    await measureScale(whole, { folder, rounds, seconds, only, cold: options.cold });
    const largest = whole.at(-1);
    if (largest !== undefined) await measureUpkeep(largest, only);
  }
} finally {
  await postgres.stop();
  if (options.folder === undefined) rmSync(folder, { recursive: true, force: true });
}
