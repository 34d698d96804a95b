/** The entry point of `npm run bench`: see lab/bench/performance.md. */
import { Field } from './field.ts';
import { readOptions, type Work } from './options.ts';
import { OtherError, openOther } from './other.ts';
import { openParts } from './parts.ts';
import { profiles } from './profile.ts';
import { keepRecording, recordingOf } from './recording.ts';
import { report } from './report.ts';
import { signatures } from './signatures.ts';
import { starts } from './start.ts';
import { beside, code, coldUserInfo, memory, memoryOf, refresh, signIn, sizes, userInfo } from './works.ts';

/** The works that share the servers with users. */
const OF_SUBJECTS: readonly Work[] = ['userinfo', 'refresh', 'code', 'sign-in', 'beside', 'memory', 'sizes'];

const options = readOptions(process.argv.slice(2));
if (options !== undefined) {
  const parts = openParts(options);
  const other = options.other && (await openOther(options.other).catch(explain));
  await using field = new Field();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void field[Symbol.asyncDispose]().finally(() => process.exit(1)));
  }
  const started = await parts.measure('start', () => starts(field, options));
  const subjects = OF_SUBJECTS.some(parts.isDue) ? await field.subjects(options.against, options.people) : [];
  const setting = { field, subjects, other, options };
  const held = new Map(subjects.map((subject) => [subject, memoryOf(subject)]));

  const userInfos = await parts.measure('userinfo', async () => [
    ...(await userInfo(setting)),
    ...(await coldUserInfo(setting)),
  ]);
  const results = [
    ...userInfos,
    ...(await parts.measure('refresh', () => refresh(setting))),
    ...(await parts.measure('code', () => code(setting))),
    ...(await parts.measure('sign-in', () => signIn(setting))),
    ...(await parts.measure('beside', () => beside(setting, userInfos))),
    ...(await parts.measure('signatures', () => signatures(field, options))),
  ];
  const looked = await parts.measure('memory', () => memory(setting, held));
  const profiled = await parts.measure('profile', () => profiles(field, options));
  const bySize = await parts.measure('sizes', () => sizes(setting));

  const recording = recordingOf(options, {
    results,
    bySize,
    starts: started,
    memory: looked,
    profiles: profiled,
    minutes: parts.minutes(),
  });
  keepRecording(recording, options);
  parts.complete();
  process.stdout.write(`${report(recording)}\n`);
}

/** A wrong option or an unexpected answer is explained without a stack. */
function explain(error: unknown): never {
  if (!(error instanceof OtherError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
}
