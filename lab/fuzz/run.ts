/*
 * `npm run fuzz [-- --seconds 1800] [-- --seed 1]`: changed inputs for every parser of what a stranger sends, in turn, until the time is over. An
 * input that a parser fails for is kept in the corpus, and the exit code is 1.
 */
import { parseArgs } from 'node:util';
import { attempt, Found, inputsOf, keep } from './fuzz.ts';
import { targets } from './targets.ts';

const { values } = parseArgs({ options: { seconds: { type: 'string' }, seed: { type: 'string' } } });
const seconds = Number(values.seconds ?? 1800);
const seed = Number(values.seed ?? Date.now() % 2 ** 32);
const TURN = 2000;

const sources = Object.entries(targets).map(([name, target]) => {
  return { name, target, inputs: inputsOf(name, target, seed), count: 0, failures: 0, slowest: 0 };
});
const end = performance.now() + seconds * 1000;
console.log(`${sources.length} targets, ${seconds} s, seed ${seed}`);
while (performance.now() < end) {
  for (const source of sources) {
    for (let turn = 0; turn < TURN; turn++) {
      const { value } = source.inputs.next();
      const begun = performance.now();
      try {
        await attempt(source.name, source.target, value);
      } catch (error) {
        if (!(error instanceof Found)) throw error;
        source.failures++;
        if (source.failures <= 3)
          console.log(`${error.message}\n  ${error.cause}\n  kept in ${keep(source.name, value)}`);
      }
      source.count++;
      source.slowest = Math.max(source.slowest, performance.now() - begun);
    }
  }
}
console.table(
  Object.fromEntries(
    sources.map(({ name, count, failures, slowest }) => [
      name,
      { inputs: count, failures, 'slowest, ms': Math.round(slowest) },
    ]),
  ),
);
if (sources.some(({ failures }) => failures > 0)) process.exitCode = 1;
