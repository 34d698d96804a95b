// A node that is not as others; in everything else `tessera serve`. TEST_CLOCK_SHIFT: its clock differs from the machine's by so
// many milliseconds. TEST_HURRY: what it does each minute, it does each second. TEST_NEXT: it knows a migration more.

import { start } from '../../src/app.ts';
import { timeline } from '../../src/migrations/timeline.ts';
import { readConfig } from '../../src/settings/config.ts';
import { NEXT_STEP } from './next-step.ts';

const { TEST_CLOCK_SHIFT = '0', TEST_HURRY, TEST_NEXT } = process.env;
const shift = Number(TEST_CLOCK_SHIFT);
const interval = globalThis.setInterval;
if (TEST_HURRY !== undefined) {
  Object.assign(globalThis, {
    setInterval: (work: () => void, milliseconds: number) =>
      interval(work, milliseconds === 60_000 ? 1000 : milliseconds),
  });
}
const steps = TEST_NEXT === undefined ? timeline : { ...timeline, ...NEXT_STEP };
await start(readConfig(process.env), () => Date.now() + shift, { migration: { steps } });
process.stdout.write('{}\n');
