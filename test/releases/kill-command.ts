// Kills `tessera migrate` at random moments: see README.md.

import { tessera } from '../operator/command.ts';
import { startPostgres } from '../support/postgres.ts';
import { multiply, released } from './fixture.ts';
import { killMigration } from './kill.ts';

const times = Number(process.argv[2] ?? 50);
const version = '0.1.0';
const COPIES = 2000;
const server = await startPostgres();
process.env['TESSERA_TEST_POSTGRES'] = server.url;
let wrong = 0;
try {
  for (const kind of ['sqlite', 'postgres'] as const) {
    const place = await released(kind, version);
    await multiply(place, COPIES);
    const began = performance.now();
    const { code, stderr } = await tessera(['migrate'], { env: place.environment });
    if (code !== 0) throw new Error(stderr);
    let whole = performance.now() - began;
    await place.drop();
    const counts = { before: 0, after: 0, late: 0, problems: 0 };
    for (let time = 0; time < times; time++) {
      const one = await released(kind, version);
      await multiply(one, COPIES);
      // Starting takes most of the time, and nothing is changed in it.
      const { late, schema, problems } = await killMigration(one, {
        milliseconds: whole * (0.4 + 0.6 * Math.random()),
      });
      counts[schema]++;
      if (late) {
        counts.late++;
        // The machine is less busy than it was.
        whole *= 0.9;
      }
      if (problems.length > 0) counts.problems++;
      for (const problem of problems) process.stdout.write(`${kind}: ${problem}\n`);
      await one.drop();
    }
    wrong += counts.problems;
    process.stdout.write(
      `${kind}: ${times} kills: ${counts.before} left the schema of ${version}, ` +
        `${counts.after} the new one (${counts.late} had ended), ${counts.problems} lost something or left half\n`,
    );
  }
} finally {
  await server.stop();
}
process.exit(wrong === 0 ? 0 : 1);
