/**
 * Breaks the decisive lines of the service one at a time, each in a copy of the sources, and tells whether the model
 * test notices: `node test/model/mutations.ts [part of a name]`. What no run of the model can reach is left to the
 * test that the list names for it. TESSERA_MODEL_RUNS (200) is how many runs each copy is given.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { guardedMutants } from './guarded-mutants.ts';
import { type Mutant, mutants } from './mutants.ts';

const root = join(import.meta.dirname, '..', '..');
const { TESSERA_MODEL_SEED = '1', TESSERA_MODEL_RUNS = '200' } = process.env;

/** Whether a test fails in this folder; the run is reproducible by its seed. */
function fails(folder: string, test: string): boolean {
  const { status, signal } = spawnSync(process.execPath, ['--test', test], {
    cwd: folder,
    env: { ...process.env, TESSERA_MODEL_SEED, TESSERA_MODEL_RUNS, TESSERA_MODEL_SHRINK: 'off' },
    stdio: 'ignore',
  });
  if (signal !== null) throw new Error(`${test} was ended by ${signal}`);
  return status !== 0;
}

/** The source of a mutant. @throws {Error} where its line is no longer there: the list must follow the code. */
function broken(mutant: Mutant, folder: string): string {
  const parts = readFileSync(join(folder, mutant.file), 'utf8').split(mutant.line);
  if (parts.length === 2) return parts.join(mutant.broken);
  throw new Error(`"${mutant.name}": its line occurs ${parts.length - 1} times in ${mutant.file}`);
}

function withCopy<T>(work: (folder: string) => T): T {
  const folder = mkdtempSync(join(tmpdir(), 'tessera-mutant-'));
  try {
    for (const name of ['src', 'test', 'lab', 'package.json'])
      cpSync(join(root, name), join(folder, name), { recursive: true });
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
    return work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const MODEL_TEST = 'test/model/model.test.ts';
const wanted = [...mutants, ...guardedMutants].filter(({ name }) => name.includes(process.argv[2] ?? ''));

for (const mutant of wanted) broken(mutant, root);
withCopy((folder) => {
  const tests = new Set(wanted.map(({ guardedBy = MODEL_TEST }) => guardedBy));
  for (const test of tests) if (fails(folder, test)) throw new Error(`${test} fails with nothing broken`);
});
let missed = 0;
console.log('| Broken | In | Noticed by | After |\n| --- | --- | --- | --- |');
for (const mutant of wanted) {
  const started = performance.now();
  const noticedBy = withCopy((folder) => {
    writeFileSync(join(folder, mutant.file), broken(mutant, folder));
    const test = mutant.guardedBy ?? MODEL_TEST;
    return fails(folder, test) ? test : undefined;
  });
  const seconds = ((performance.now() - started) / 1000).toFixed(0);
  if (noticedBy === undefined) missed++;
  console.log(`| ${mutant.name} | ${mutant.file} | ${noticedBy ?? '**nothing**'} | ${seconds} s |`);
}
console.log(`\n${wanted.length - missed} of ${wanted.length} noticed.`);
process.exitCode = missed === 0 ? 0 : 1;
