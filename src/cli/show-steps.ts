import type { Command } from 'commander';
import type { ListedStep } from '../traces/read-trace.ts';
import { stepLine } from '../traces/rules/step-line.ts';
import type { Api } from './api.ts';
import { follow } from './follow.ts';
import { wholeNumber } from './option-parsers.ts';

const MAX_STEPS = 1000;

/** The options of commands that print steps of authorizations. */
export interface StepFlags {
  readonly limit: number;
  readonly follow?: boolean;
}

export const withStepOptions = (command: Command): Command =>
  command
    .option('--limit <count>', `number of steps, at most ${MAX_STEPS}`, wholeNumber(1, MAX_STEPS), 50)
    .option('--follow', 'keep running and print new steps')
    .addHelpText('after', '\nWith --json, prints one object per line. A new step takes up to a second to appear.');

interface StepList {
  /** The path of the list, and what it is filtered by. */
  readonly path: string;
  readonly filter: Readonly<Record<string, string | undefined>>;
  /** The command that tells more of a request. */
  readonly explain: (requestId: string) => string;
}

/** Prints the newest steps, the newest last, and then each new one where that is asked for. */
export async function showSteps(
  api: Api,
  { path, filter, explain }: StepList,
  { limit, follow: isFollowing }: StepFlags,
  json: boolean,
): Promise<void> {
  const newestId = async () =>
    BigInt((await api.list<ListedStep>(path, { limit: 1 }, { order: 'desc' }))[0]?.id ?? '0');
  const list = (after: string, most: number) =>
    api.list<ListedStep>(path, { after, limit: most }, { ...filter, order: 'asc' });
  const show = (step: ListedStep) =>
    void process.stdout.write(`${json ? JSON.stringify(step) : stepLine(step, explain)}\n`);
  const start = await newestId();
  const shown = await api.list<ListedStep>(path, { limit }, { ...filter, order: 'desc' });
  // A flow comes with its oldest step first whatever was asked for.
  for (const step of shown.toSorted((a, b) => Number(BigInt(a.id) - BigInt(b.id)))) show(step);
  if (isFollowing) await follow(start, { newest: newestId, list, show });
}
