// store: SQLite
/**
 * What operators do most often, walked in a real Chromium with the script and without, and some by keyboard alone. With
 * TESSERA_TASKS_RECORD the ways are written to that file: `npm run console-tasks`.
 */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { type RunningChromium, startChromium } from './chromium.ts';
import { openConsoleStage } from './console-pages.ts';
import type { Stage } from './stage.ts';
import type { Way } from './tasks/hands.ts';
import { recordOf, type WalkedTask } from './tasks/record.ts';
import { TASKS, walkTask } from './tasks/tasks.ts';

/** More steps than any of them takes. */
const MOST_STEPS = 10;

let chromium: RunningChromium | undefined;
let stage: Stage | undefined;
const walked: WalkedTask[] = [];

before(async () => {
  chromium = await startChromium();
  stage = await openConsoleStage(chromium.browser);
});
after(async () => {
  await stage?.close();
  await chromium?.close();
  const file = process.env['TESSERA_TASKS_RECORD'];
  if (file !== undefined) writeFileSync(file, recordOf(walked));
});

test('there are forty, ten of them by keyboard alone', () => {
  assert.ok(TASKS.length >= 40);
  assert.ok(TASKS.filter(({ keys }) => keys).length >= 10);
  assert.equal(TASKS.filter(({ gate }) => gate).length, 6);
});

for (const task of TASKS) {
  const ways: readonly Way[] = ['with script', 'without script', ...(task.keys ? (['by keyboard'] as const) : [])];
  for (const way of ways) {
    test(`${task.name}, ${way}`, async () => {
      assert.ok(stage !== undefined);
      const { steps, pages } = await walkTask(stage, task, way);
      walked.push({ name: task.name, way, steps, pages });
      assert.ok(steps.length <= MOST_STEPS, `too many steps: ${steps.join(', ')}`);
      // After an act the page of its object is shown again; otherwise nobody goes back.
      const shown = pages.map(({ path }) => path).filter((path) => path.startsWith('GET') && !path.endsWith(':id'));
      assert.equal(new Set(shown).size, shown.length, shown.join(', '));
    });
  }
}
