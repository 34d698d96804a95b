import { Command } from 'commander';
import { notFound } from '../platform/failure.ts';
import { isSnowflake } from '../platform/ids/ids.ts';
import type { ListedStep } from '../traces/read-trace.ts';
import { stepLine } from '../traces/rules/step-line.ts';
import { withApi } from './api.ts';
import { examples, type GetCommandContext } from './context.ts';
import { explainCommandLine } from './developer-terminal.ts';
import { follow } from './follow.ts';
import { wholeNumber } from './option-parsers.ts';

const MAX_STEPS = 1000;

interface Flags {
  readonly client?: string;
  readonly limit: number;
  readonly follow?: boolean;
}

export function tracesCommand(getContext: GetCommandContext): Command {
  return examples(
    new Command('traces'),
    'tessera traces --follow',
    'tessera traces --follow --client 384104438412873728',
    'tessera traces --limit 20 --json',
  )
    .description('show the newest steps of authorizations, one line each: what was refused, and what to do')
    .option('--client <clientId>', 'of this app')
    .option('--limit <count>', `number of steps, at most ${MAX_STEPS}`, wholeNumber(1, MAX_STEPS), 50)
    .option('--follow', 'keep running and print new steps')
    .addHelpText('after', '\nWith --json, prints one object per line. A new step takes up to a second to appear.')
    .action(async ({ client, limit, follow: isFollowing }: Flags, command: Command) => {
      const { flags } = getContext(command);
      if (client !== undefined && !isSnowflake(client)) throw notFound(`There is no app with the ID ${client}.`);
      await withApi(flags, async (api) => {
        const steps = '/trace-steps';
        const newest = async () =>
          BigInt((await api.list<ListedStep>(steps, { limit: 1 }, { order: 'desc' }))[0]?.id ?? '0');
        const list = (after: string, most: number) =>
          api.list<ListedStep>(steps, { after, limit: most }, { clientId: client, order: 'asc' });
        const show = (step: ListedStep) =>
          void process.stdout.write(`${flags.json ? JSON.stringify(step) : stepLine(step, explainCommandLine)}\n`);
        const start = await newest();
        const shown = await api.list<ListedStep>(steps, { limit }, { clientId: client, order: 'desc' });
        shown.toReversed().forEach(show);
        if (isFollowing) await follow(start, { newest, list, show });
      });
    });
}
