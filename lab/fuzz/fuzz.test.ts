// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attempt, corpusOf, Found, inputsOf } from './fuzz.ts';
import { targets } from './targets.ts';

/** The same inputs at each run. `npm run fuzz` tries others. */
const SEED = 20261126;
const INPUTS = 400;

for (const [name, target] of Object.entries(targets)) {
  test(`${name}: what was found before, and ${INPUTS} changed inputs`, async () => {
    const known = target.seeds.length + corpusOf(name).length;
    const inputs = inputsOf(name, target, SEED);
    for (let n = 0; n < known + INPUTS; n++) await attempt(name, target, inputs.next().value);
  });
}

test('a parser that fails is found, with the input', async () => {
  const broken = {
    ...{ seeds: ['{"a":1}'], words: ['null'] },
    run(input: string) {
      if (input.includes('null')) throw new TypeError('it is null');
    },
  };
  const inputs = inputsOf('broken', broken, SEED);
  await assert.rejects(
    async () => {
      for (let n = 0; n < INPUTS; n++) await attempt('broken', broken, inputs.next().value);
    },
    (error) => error instanceof Found && error.input.includes('null'),
  );
});
