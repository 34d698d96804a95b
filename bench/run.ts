/** The entry point of `npm run bench`: see docs/explanation/performance.md. */
import { Field } from './field.ts';
import type { Result } from './measure.ts';
import { readOptions } from './options.ts';
import { profiles } from './profile.ts';
import { keepRecording, recordingOf } from './recording.ts';
import { report } from './report.ts';
import { starts } from './start.ts';
import { beside, code, coldUserInfo, memory, memoryOf, refresh, signIn, sizes, userInfo } from './works.ts';

const options = readOptions(process.argv.slice(2));
if (options !== undefined) {
  const { only } = options;
  const began = performance.now();
  await using field = new Field();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void field[Symbol.asyncDispose]().finally(() => process.exit(1)));
  }
  const started = only.has('start') ? await starts(field, options) : [];
  const subjects = await field.subjects(options.against, options.people);
  const setting = { field, subjects, options };
  const held = new Map(subjects.map((subject) => [subject, memoryOf(subject)]));

  const results: Result[] = [];
  if (only.has('userinfo')) results.push(...(await userInfo(setting)), ...(await coldUserInfo(setting)));
  if (only.has('refresh')) results.push(...(await refresh(setting)));
  if (only.has('code')) results.push(...(await code(setting)));
  if (only.has('sign-in')) results.push(...(await signIn(setting)));
  if (only.has('beside')) results.push(...(await beside(setting, results)));
  const looked = only.has('memory') ? await memory(setting, held) : [];
  const profiled = only.has('profile') ? await profiles(field, options) : [];
  const bySize = only.has('sizes') ? await sizes(setting) : [];

  const minutes = (performance.now() - began) / 60_000;
  const recording = recordingOf(options, {
    results,
    bySize,
    starts: started,
    memory: looked,
    profiles: profiled,
    minutes,
  });
  keepRecording(recording, options);
  process.stdout.write(`${report(recording)}\n`);
}
