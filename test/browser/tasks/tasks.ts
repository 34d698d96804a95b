import assert from 'node:assert/strict';
import type { BrowserContextOptions } from 'playwright-core';
import { makeOperator, signInOperator } from '../console-pages.ts';
import { type Stage, visit } from '../stage.ts';
import { type Hands, handsAt, type ShownPage, type Way } from './hands.ts';
import { appTasks, groupTasks, serviceTasks } from './objects.ts';
import { personTasks } from './people.ts';
import type { Task } from './task.ts';

/** The tasks of lab/console-tasks.md, those about people first. */
export const TASKS: readonly Task[] = [...personTasks, ...appTasks, ...groupTasks, ...serviceTasks];

export interface Walked {
  readonly steps: readonly string[];
  readonly pages: readonly ShownPage[];
}

/** The owner of each stage: a list of operators has one more row for each. */
const owners = new WeakMap<Stage, ReturnType<typeof makeOperator>>();

function ownerOf(stage: Stage): ReturnType<typeof makeOperator> {
  const owner = owners.get(stage) ?? makeOperator(stage, 'owner');
  owners.set(stage, owner);
  return owner;
}

/** Walks a task as an owner who has just signed in. */
export async function walkTask(stage: Stage, task: Task, way: Way): Promise<Walked> {
  const { user, factor } = await ownerOf(stage);
  const options: BrowserContextOptions = way === 'without script' ? { javaScriptEnabled: false } : {};
  let hands: Hands | undefined;
  await visit(stage, options, async (page) => {
    await signInOperator({ stage, page }, user, factor);
    await page.goto(`${stage.server.baseUrl}/console/overview`);
    hands = handsAt(stage, page, way);
    await task.walk(hands);
  });
  assert.ok(hands !== undefined);
  return hands;
}
