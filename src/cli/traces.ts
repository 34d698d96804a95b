import { Command } from 'commander';
import { notFound } from '../platform/failure.ts';
import { isSnowflake } from '../platform/ids/ids.ts';
import { withApi } from './api.ts';
import { examples, type GetCommandContext } from './context.ts';
import { explainCommandLine } from './developer-terminal.ts';
import { type StepFlags, showSteps, withStepOptions } from './show-steps.ts';

export function tracesCommand(getContext: GetCommandContext): Command {
  const command = new Command('traces')
    .description('show the newest steps of authorizations, one line each: what was refused, and what to do')
    .option('--client <clientId>', 'of this app');
  return examples(
    withStepOptions(command),
    'tessera traces --follow',
    'tessera traces --follow --client 384104438412873728',
    'tessera traces --limit 20 --json',
  ).action(async ({ client, ...steps }: StepFlags & { readonly client?: string }, command: Command) => {
    const { flags } = getContext(command);
    if (client !== undefined && !isSnowflake(client)) throw notFound(`There is no app with the ID ${client}.`);
    const list = { path: '/trace-steps', filter: { clientId: client }, explain: explainCommandLine };
    await withApi(flags, (api) => showSteps(api, list, steps, flags.json ?? false));
  });
}
