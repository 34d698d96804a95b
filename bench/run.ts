/** What `npm run bench` runs: see docs/explanation/performance.md. */
import { Field } from './field.ts';
import type { Result } from './measure.ts';
import { readOptions } from './options.ts';
import { code, refresh, userInfo } from './works.ts';

const options = readOptions(process.argv.slice(2));
if (options !== undefined) {
  await using field = new Field();
  const results: Result[] = [];
  const subjects = await field.subjects(options.against, options.people);
  const setting = { field, subjects, options };
  if (options.only.has('userinfo')) results.push(...(await userInfo(setting)));
  if (options.only.has('refresh')) results.push(...(await refresh(setting)));
  if (options.only.has('code')) results.push(...(await code(setting)));
  console.table(
    results.map(({ summary, ...r }) => ({
      ...r,
      perSecond: Math.round(summary.perSecond.median),
      spread: `${Math.round(summary.perSecond.lowest)}–${Math.round(summary.perSecond.highest)}`,
      p50: summary.p50.median.toFixed(2),
      p99: summary.p99.median.toFixed(2),
      p999: summary.p999.median.toFixed(2),
      user: summary.userMicros.median.toFixed(0),
      system: summary.systemMicros.median.toFixed(0),
      db: summary.databaseMicros.median.toFixed(0),
      bytes: Math.round(summary.answerBytes.median),
      generator: summary.generatorShare.median.toFixed(2),
    })),
  );
}
