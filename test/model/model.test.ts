// store: SQLite, PostgreSQL
/**
 * Random runs of the service beside a small model of the decisions.
 *
 * Every run has its own server and seed. A failure prints the shortest run that it could be shrunk to, and its seed:
 *   TESSERA_MODEL_SEED=<seed> TESSERA_MODEL_RUNS=1 node --test test/model/model.test.ts
 * TESSERA_MODEL_SHRINK=off reports it as it was found, at once.
 * By itself the test makes the same few runs every time. With TESSERA_MODEL_SECONDS it goes on for so long, from a random seed
 * unless TESSERA_MODEL_SEED names one.
 */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { WHOLE } from '../support/whole.ts';
import { accessSteps } from './access.ts';
import { accountSteps, clientSteps } from './events.ts';
import { ownAccountSteps } from './own-account.ts';
import { pageSteps } from './pages.ts';
import { peopleSteps } from './people.ts';
import { type Definition, Step } from './step.ts';
import { growOld, timeSteps } from './time.ts';
import { refresh, tokenSteps } from './tokens.ts';
import { newWorld, observe } from './world.ts';

const { TESSERA_MODEL_SEED, TESSERA_MODEL_RUNS, TESSERA_MODEL_SECONDS, TESSERA_MODEL_SHRINK } = process.env;
const SAMPLE = process.env['TESSERA_TEST_POSTGRES'] === undefined ? 30 : 6;
const seconds = Number(TESSERA_MODEL_SECONDS ?? Number.POSITIVE_INFINITY);
const runs = Number(
  TESSERA_MODEL_RUNS ?? (TESSERA_MODEL_SECONDS === undefined ? (WHOLE ? 40 : SAMPLE) : Number.POSITIVE_INFINITY),
);
const firstSeed = Number(TESSERA_MODEL_SEED ?? (TESSERA_MODEL_SECONDS === undefined ? 1 : randomInt(2 ** 31)));
/** How long a failure may be shrunk. */
const SHRINKING_MS = 60_000;

const weighted = <A>([name, definition]: [string, Definition<A>]) => ({
  weight: definition.weight * 10,
  arbitrary: definition.argument.map((argument) => new Step(name, argument, definition)),
});
const definitions = {
  ...accessSteps,
  ...pageSteps,
  ...tokenSteps,
  ...accountSteps,
  ...peopleSteps,
  ...ownAccountSteps,
  ...clientSteps,
  ...timeSteps,
};
// The arguments differ from step to step; each is generated and used by its own definition alone.
const steps = fc.oneof(...Object.entries(definitions).map((entry) => weighted(entry as [string, Definition<unknown>])));

/** How a run goes on to the end of a family, if one is alive: to the millisecond before it, or to the end itself. */
const endings = fc.constantFrom('at once', 'at once', 'before the end', 'at the end');
const commands = fc.commands([steps], { maxCommands: 60, size: 'max' });

const property = fc.asyncProperty(commands, endings, async (run, ending) => {
  const { model, real } = await newWorld();
  try {
    await fc.asyncModelRun(() => ({ model, real }), run);
    // What was spared by every look is used at last.
    for (const { leaf } of model.families) {
      if (leaf !== undefined) await refresh(model, real, leaf);
    }
    await observe(model, real);
    const alive = model.families.find(({ dead, rotated }) => !dead && rotated === model.now);
    if (alive !== undefined && ending !== 'at once') await growOld(model, real, alive, ending === 'at the end');
  } finally {
    real.wire.close();
    await real.server.close();
  }
});

test('the service answers as the model of the decisions says, whatever happens in whatever order', async (t) => {
  const started = performance.now();
  let done = 0;
  for (; done < runs && performance.now() - started < seconds * 1000; done++) {
    const seed = (firstSeed + done) % 2 ** 31;
    const options = {
      seed,
      numRuns: 1,
      unbiased: true,
      interruptAfterTimeLimit: SHRINKING_MS,
      markInterruptAsFailure: false,
      endOnFailure: TESSERA_MODEL_SHRINK === 'off',
    };
    const details = await fc.check(property, options);
    if (!details.failed) continue;
    assert.fail(
      `TESSERA_MODEL_SEED=${seed} TESSERA_MODEL_RUNS=1 fails after:\n${String(details.counterexample)}\n${details.errorInstance}`,
    );
  }
  t.diagnostic(`${done} runs from seed ${firstSeed}`);
  assert.ok(done > 0);
});
